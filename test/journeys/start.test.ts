import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { demoApplication } from '../../demo/demo.ts'
import { makeCaller } from './load.ts'
import { withOwnReceiver } from './own-receiver.ts'
import { playJourney } from './play-journey.ts'
import { alive, freePort, startServiceProcess, untilGone, type ServiceProcess } from './service-process.ts'

/** A place for the data of a service that was never started. */
const newPlace = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-start-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const options = { dataDir: join(directory, 'data'), port: await freePort() }
  await withOwnReceiver(options.dataDir)
  const started: ServiceProcess[] = []
  return {
    dataDir: options.dataDir,
    origin: `http://localhost:${options.port}`,
    start: async (environment: Readonly<Record<string, string>> = {}) => {
      const service = startServiceProcess({ ...options, environment })
      started.push(service)
      await service.ready
      return service
    },
    [Symbol.asyncDispose]: async () => {
      for (const service of started) await service.kill('family')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Ctrl-C; resolves when the service has ended. What it has started and left behind. */
const interrupt = async (service: ServiceProcess) => {
  const family = await service.family()
  service.interrupt()
  const { code } = await service.ended
  await untilGone(family).catch(() => undefined)
  return { code, processes: family.length, left: await alive(family) }
}

const printed = (output: string, name: string): string => {
  const [, value] = new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(output) ?? []
  if (value === undefined) throw new Error(`No ${name} was printed:\n${output}`)
  return value
}

const northlight = 'd3e00000-0000-4000-8000-000000000000'
const Premiums = z.object({ data: z.array(z.object({ status: z.string() })) })

const premiumStatuses = async (
  origin: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const answer = await fetch(`${origin}/admin/v1/premiums?organisation_id=${northlight}&limit=200`, { headers })
  return Premiums.parse(await answer.json()).data.map(({ status }) => status)
}

test(
  'a new installation comes up by itself, plays the whole journey, leaves nothing running, finds its data again and never starts in production',
  { timeout: 400_000 },
  async () => {
    await using place = await newPlace()

    const service = await place.start()
    const output = service.output()
    expect(output).toContain(`ready at ${place.origin}`)
    expect(output).toContain(`curl -s ${place.origin}/api/v1/products`)
    expect(output).toContain(`BASE_URL=${place.origin} DATA_DIR='${place.dataDir}' npm run demo`)

    const client = { client_id: printed(output, 'client_id'), client_secret: printed(output, 'client_secret') }
    const { send } = makeCaller(place.origin, client)
    const asked = { product_slug: 'term-life', journey_slug: 'standard' }
    const application = await send('POST', '/applications', asked)
    const operator = { authorization: `Bearer ${printed(output, 'operator key')}` }
    expect((await fetch(`${place.origin}/admin/v1/organisations`, { headers: operator })).status).toBe(200)

    await playJourney(place.origin, place.dataDir)

    const first = await interrupt(service)
    // Itself, PostgreSQL and what watches over it.
    expect(first.processes).toBeGreaterThan(2)
    expect(first).toMatchObject({ code: 0, left: [] })

    const again = await place.start()
    expect(await send('GET', `/applications/${application.id}`)).toEqual(application)
    // Whoever bought before pays after it: the stand-in of the payment provider knows them. The first collection of whoever
    // buys on the 28th or later is up to 38 days ahead: on the first bank day of the month after next.
    const before = await premiumStatuses(place.origin, operator)
    await fetch(`${place.origin}/admin/v1/clock`, {
      method: 'POST',
      headers: { ...operator, 'content-type': 'application/json' },
      body: JSON.stringify({ forward_seconds: 40 * 86_400 }),
    })
    await vi.waitFor(
      async () => {
        const statuses = await premiumStatuses(place.origin, operator)
        expect(statuses.length).toBeGreaterThan(before.length)
        expect(new Set(statuses)).toEqual(new Set(['collected']))
      },
      { timeout: 90_000, interval: 500 },
    )
    expect(await interrupt(again)).toMatchObject({ code: 0, left: [] })

    await expect(place.start({ ENVIRONMENT: 'production' })).rejects.toThrow('whose secret is published')
  },
)

test(
  'in production there is no demo firm, no stand-in and no printed key; when PostgreSQL ends it is started again, and when it ends once more the service says so and ends',
  { timeout: 180_000 },
  async () => {
    await using place = await newPlace()
    const { client_id, client_secret } = await demoApplication()
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'read' }

    const service = await place.start({ ENVIRONMENT: 'production' })
    const resource = `${place.origin}/api/v1`
    const token = await fetch(`${place.origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, resource }),
    })
    const { OPERATOR_KEY } = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8')) as {
      readonly OPERATOR_KEY: string
    }
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
    const organisations = await fetch(`${place.origin}/admin/v1/organisations`, { headers })

    expect(token.status).toBe(401)
    expect(await organisations.json()).toMatchObject({ data: [] })
    for (const secret of [client_secret, OPERATOR_KEY]) expect(service.output()).not.toContain(secret)

    const killPostgres = async () => {
      const pid = Number((await readFile(join(place.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
      process.kill(pid, 'SIGKILL')
      return pid
    }
    const killed = await killPostgres()
    await vi.waitFor(
      async () => {
        expect(await alive([killed])).toEqual([])
        expect((await fetch(`${place.origin}/health/ready`)).status).toBe(200)
        expect((await fetch(`${place.origin}/admin/v1/organisations`, { headers })).status).toBe(200)
      },
      { timeout: 60_000, interval: 100 },
    )
    const family = await service.family()
    await killPostgres()
    expect((await service.ended).code).toBe(1)
    expect(service.output()).toContain('Coverstream failed: Error: PostgreSQL ended by itself')
    await untilGone(family)
  },
)
