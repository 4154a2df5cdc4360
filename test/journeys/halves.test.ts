import { expect, test, vi } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { demoApplication } from '../../demo/demo.ts'
import { testDatabase } from '../database.ts'
import { aMonthLater, startCollecting } from './collecting.ts'
import { makeCaller, type Caller } from './load.ts'
import { startProxy } from './pairs.ts'
import { playJourney } from './play-journey.ts'
import { checksOf, secrets, startRole, waitingIn, type RoleProcess } from './role-process.ts'
import { freePort } from './service-process.ts'

/** The time after which whoever waits for a lease takes it from a process that has fallen silent. */
const leaseTermMs = 15_000
const soon = { timeout: 90_000, interval: 100 }

const halfOf = async ({ healthPort }: RoleProcess): Promise<readonly string[]> => {
  const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text()
  return [...metrics.matchAll(/^coverstream_command_api_half\{half="(\w+)"\} 1$/gm)].map(([, half = '']) => half)
}

const started = { product_slug: 'term-life', journey_slug: 'standard' }

/** Starts applications, so many at once, until it is told that there are enough. */
const startApplications = async ({ send }: Caller, atOnce: number, isEnough: () => boolean) => {
  const tookMs: number[] = []
  const work = async () => {
    while (!isEnough()) {
      const begun = performance.now()
      await send('POST', '/applications', started)
      tookMs.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return tookMs
}

test(
  'a process serves while others work, of which one goes on where the other was killed, and is served while a thousand timers are due',
  { timeout: 600_000 },
  async () => {
    await using database = await testDatabase()
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const environment = {
      BASE_URL: origin,
      DATABASE_URL: database.url,
      ENVIRONMENT: 'test',
      RATE_LIMIT_REQUESTS: '0',
      DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
      DELIVERY_ALLOW_HTTP: 'true',
    }
    const start = async (role: string, ...words: readonly string[]) => {
      const started = await startRole(environment, `${role}/main.ts`, words)
      await started.ready
      return started
    }
    await using _projections = await start('projections')
    await using serving = await start('command-api', '--serve')
    await using first = await start('command-api', '--work')
    await using second = await start('command-api', '--work')
    await using reading = await start('query-api')
    await using _sending = await start('delivery-worker')
    const twice = ({ port: own }: RoleProcess) => [own, own] as const
    const proxy = await startProxy(port, { 'command-api': twice(serving), 'query-api': twice(reading) })
    await using collecting = await startCollecting(origin, secrets.OPERATOR_KEY)
    expect([await halfOf(serving), await halfOf(first)]).toEqual([['serve'], ['work']])

    await vi.waitFor(async () => expect(await waitingIn(first)).toEqual([]), soon)
    await first.kill('process')
    await vi.waitFor(async () => expect(await waitingIn(second)).toEqual([]), { timeout: leaseTermMs, interval: 20 })

    await playJourney(origin, collecting.directory, secrets.OPERATOR_KEY)
    await aMonthLater(origin, secrets.OPERATOR_KEY)
    await vi.waitFor(() => expect(collecting.collected()).not.toEqual([]), soon)
    const { status, checks } = await checksOf(serving)
    expect(status).toBe(200)
    expect(checks).toContainEqual({ name: 'command-api', detail: 'serve' })
    expect(checks.filter(({ name }) => name.startsWith('consumer '))).toEqual([])

    const caller = makeCaller(origin, await demoApplication())
    let begun = 0
    await startApplications(caller, 16, () => ++begun > 1_000)
    await aMonthLater(origin, secrets.OPERATOR_KEY)
    let isOver = false
    const answered = startApplications(caller, 4, () => isOver)
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        sql`select count(*)::integer as count from applications where status = 'abandoned'`,
      )
      expect(rows[0]?.count).toBeGreaterThanOrEqual(1_000)
    }, soon)
    isOver = true
    const tookMs = await answered
    expect(tookMs.length).toBeGreaterThan(20)
    expect(Math.max(...tookMs)).toBeLessThan(5_000)
    expect(caller.unanswered()).toBe(0)

    proxy.closeAllConnections()
    proxy.close()
  },
)
