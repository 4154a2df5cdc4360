import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { v7 as uuidv7 } from 'uuid'
import { inTurns, rated, type Figure } from './figure.ts'
import { memoryOf } from './memory.ts'
import { costMeters } from './processor-time.ts'
import type { Pace } from './throughput.ts'
import { fillIn, startRoles, startService, type Roles, type Service } from './service.ts'
import type { Environment } from './environment.ts'

const few = 32
const many = 100
const applications = 100

type Options = Pick<autocannon.Options, 'url' | 'headers' | 'requests'> & { readonly connections: number }

/** Answers a second to requests made one after the other on every connection. */
export const load = async (seconds: number, options: Options): Promise<number> => {
  const { requests, duration, non2xx, errors, timeouts } = await autocannon({ ...options, duration: seconds })
  if (non2xx + errors + timeouts > 0)
    throw new Error(`${non2xx + errors + timeouts} requests to ${options.url} failed.`)
  return requests.total / duration
}

type Bench = {
  readonly service: Omit<Service, 'child' | 'database' | 'operatorKey' | 'restart'>
  readonly bare: Bare
  readonly topology: string
  /** Of the service, where it is one process. */
  readonly meters?: Awaited<ReturnType<typeof costMeters>>
}

const measureGet = async ({ service, bare, topology }: Bench, { rounds, seconds }: Pace): Promise<Figure> => {
  const filled = await Promise.all(Array.from({ length: applications }, async (_, number) => fillIn(service, number)))
  for (const application of filled)
    await fetch(`${bare.url}/rows`, { method: 'POST', headers: bare.headers, body: JSON.stringify(application) })
  const pathsUnder = (prefix: string) => filled.map(({ id }) => ({ path: `${prefix}/${id}` }))
  const { reads: url, headers } = service
  const floor = () => load(seconds, { ...bare, connections: few, requests: pathsUnder('/rows') })
  const ours = () => load(seconds, { url, headers, connections: few, requests: pathsUnder('/api/v1/applications') })

  const measured = await afterWarmUp(rounds, floor, ours)
  return rated(`GET application, ${few} connections, ${topology}`, measured, { target: { ratio: 1 } })
}

const asked = { product_slug: 'term-life', journey_slug: 'standard' }

export const posting = (path: string, body: () => object): autocannon.Request => ({
  method: 'POST',
  path,
  setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }),
})

export const starting = (path = '/api/v1/applications') =>
  posting(path, () => ({ ...asked, idempotency_key: uuidv7() }))

/** A row inserted and nothing else: what the targets of writes are ratios to. */
export const insertedRow = () => posting('/rows', () => ({ ...asked, id: uuidv7() }))

const measurePost = async (
  { service, bare, topology, meters }: Bench,
  { rounds, seconds }: Pace,
  connections: number,
  target?: { readonly ratio: number },
): Promise<Figure> => {
  const { origin: url, headers } = service
  const request = target ? insertedRow() : starting('/applications')
  const floor = () => load(seconds, { ...bare, connections, requests: [request] })
  const ours = () => load(seconds, { url, connections, headers, requests: [starting()] })

  const measured = meters
    ? await afterWarmUp(rounds, meters.floor(seconds, floor), meters.ours(seconds, ours))
    : await afterWarmUp(rounds, floor, ours)
  const of = target ? '' : ', to the same by hand'
  return rated(`POST application, ${connections} connections, ${topology}${of}`, measured, {
    ...(target && { target }),
    ...(meters && { details: meters.details(rounds) }),
  })
}

/** The same load on one command-api, and on two that share it. */
const measureSecond = async ({ origin, headers, startAnother }: Roles, { rounds, seconds }: Pace): Promise<Figure> => {
  const another = await startAnother()
  const onOne = () => load(seconds, { url: origin, connections: many, headers, requests: [starting()] })
  const onBoth = async () => {
    const half = (url: string) => load(seconds, { url, connections: many / 2, headers, requests: [starting()] })
    const [first, second] = await Promise.all([half(origin), half(another)])
    return first + second
  }
  const measured = await afterWarmUp(rounds, onOne, onBoth)
  return rated(`POST application, ${many} connections, a second command-api to one`, measured, { target: { ratio: 1 } })
}

type Load = () => Promise<number>

/** Just-in-time compilation goes on for tens of seconds: what is measured sooner says how a start is, not a service. */
export const afterWarmUp = async (rounds: number, floor: Load, ours: Load) => {
  await untilSteady(floor)
  await untilSteady(ours)
  return inTurns(rounds, floor, ours)
}

const gain = 1.03
const mostLoads = 15

/** Loads again and again, until the best of the last three was hardly better than the best before them. */
const untilSteady = async (load: Load): Promise<void> => {
  const rates: number[] = []
  while (rates.length < mostLoads) {
    rates.push(await load())
    const former = Math.max(...rates.slice(0, -3))
    if (rates.length > 3 && Math.max(...rates.slice(-3)) < former * gain) return
  }
}

/** Where the floor is, and what every request to it carries. */
export type Bare = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** A few routes of bare Express on an empty database, whose answers are as long as those of the service. */
export const startBare = async (environment: Environment, service: Service) => {
  const sample = join(environment.directory, 'application.json')
  await writeFile(sample, JSON.stringify(await service.send('POST', '/api/v1/applications', asked)))
  const program = [`${import.meta.dirname}/bare-express.ts`, await environment.database('bare'), sample]
  const child = environment.run(process.execPath, program)
  const [, url = '', token = ''] = await child.says(/listens at (\S+) for the token (\S+)/)
  const bare: Bare = { url, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
  return { bare, child }
}

/**
 * Requests to the whole service, against those of bare Express (`bare-express.ts`): all on the same PostgreSQL, each in a
 * process of its own, with requests and answers of the same length.
 */
export const measureApi = async (environment: Environment, pace: Pace): Promise<readonly Figure[]> => {
  const service = await startService(environment)
  const { bare, child } = await startBare(environment, service)
  const allOf = async (bench: Bench): Promise<readonly Figure[]> => [
    await measureGet(bench, pace),
    await measurePost(bench, pace, few, { ratio: 0.6 }),
    await measurePost(bench, pace, many, { ratio: 0.8 }),
    await measurePost(bench, pace, few),
    await measurePost(bench, pace, many),
  ]

  const atRest = await memoryOf(service.child.pid)
  const meters = await costMeters(environment, { floor: child.pid, ours: service.child.pid })
  const inOne = await allOf({ service, bare, topology: 'one process', meters })
  const afterwards = await memoryOf(service.child.pid)
  await service.child.stop()
  const roles = await startRoles(environment)
  const apart = await allOf({ service: roles, bare, topology: 'a process for each role' })
  const second = await measureSecond(roles, pace)
  await roles.stop()
  await child.stop()
  return [
    ...inOne,
    { name: 'memory of the service, at rest', unit: 'MB', value: atRest },
    { name: 'memory of the service, after the load', unit: 'MB', value: afterwards },
    ...apart,
    second,
  ]
}
