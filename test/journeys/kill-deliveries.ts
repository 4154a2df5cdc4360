import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { readOptions } from '#infra/command-line.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { fillDeliveries } from '../../bench/filled-deliveries.ts'
import { kafkaClasspath } from '../kafka/jars.ts'
import { prepareBroker } from '../kafka/own-broker.ts'
import { planHappenings } from './planned-happenings.ts'

/**
 * Kills the only delivery worker again and again while it sends, and looks for what got lost, came too often or waited for too
 * long. With `--kafka` everything is planned from a topic meanwhile, by two workers, of which one is killed each time, and the
 * broker too.
 */

export type KillOptions = {
  readonly deliveries: number
  readonly kills: number
  readonly postgresRestarts: number
  readonly kafka?: boolean
  readonly say?: (line: string) => void
}

export type KillReport = {
  readonly received: number
  readonly repeats: number
  /** Requests that were under way, or answered and not yet recorded, when their worker was killed. */
  readonly lostAttempts: number
  /** From a kill until the longest-waiting delivery of the dead worker was sent again, after PostgreSQL was last restarted. */
  readonly recoverySeconds: number
  readonly faults: readonly string[]
}

const concurrency = 32
const brokerRestarts = 2
/** What was being sent when its worker was killed is sent again within so long. */
const recoveryTarget = 25
const masterKey = Buffer.alloc(32, 7).toString('base64')
const worker = join(import.meta.dirname, '..', 'delivery', 'worker-process.ts')

/** Counts requests by their Idempotency-Key, and when each came. */
const startCounter = async () => {
  const seen = new Map<string, number[]>()
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key'])
    seen.set(key, [...(seen.get(key) ?? []), performance.now()])
    request.resume().on('end', () => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a TCP server
  return { seen, url: `http://127.0.0.1:${port}/`, close: () => server.close().closeAllConnections() }
}

export const killDuringDeliveries = async (options: KillOptions): Promise<KillReport> => {
  const { deliveries, kills, postgresRestarts, kafka = false, say = () => undefined } = options
  await using leftovers = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-kill-deliveries-'))
  leftovers.defer(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const dataDir = join(directory, 'postgres')
  let postgres = await startEmbeddedPostgres({ dataDir })
  leftovers.defer(() => postgres.stop())
  const { url } = postgres
  const counter = await startCounter()
  leftovers.defer(counter.close)

  const filling = createPool(url)
  await migrate(filling)
  await prepareLog(filling)
  const broker = kafka ? await startBroker(directory) : undefined
  leftovers.defer(() => {
    broker?.kill()
  })
  const keys = deriveKeys(masterKey)
  const happenings = kafka
    ? await planHappenings({ databaseUrl: url, pool: filling, keys, to: counter.url })
    : undefined
  leftovers.defer(() => happenings?.close())
  const filled = happenings
    ? undefined
    : await fillDeliveries(filling, { deriving: keys, url: counter.url, count: deliveries })
  await filling.end()

  const children: ChildProcess[] = []
  const endedByItself: string[] = []
  const start = () => {
    const child = fork(worker, {
      env: {
        ...process.env,
        ...broker?.environment,
        DATABASE_URL: url,
        MASTER_KEY: masterKey,
        DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
        DELIVERY_ALLOW_HTTP: 'true',
        DELIVERY_CONCURRENCY: String(concurrency),
      },
    })
    children.push(child)
    child.once('exit', (code) => {
      if (code !== null) endedByItself.push(`a worker ended by itself with the code ${code}`)
    })
  }
  const killOldest = async () => {
    const child = children.shift()
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  leftovers.defer(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const killedAt: number[] = []
  let lastOutage = new Date(0)
  start()
  if (kafka) start()
  const happening = happenings?.happen(deliveries)
  for (let kill = 1; kill <= kills; kill++) {
    const share = Math.floor((deliveries * kill) / (kills + 2))
    await untilReceived(counter.seen, share)
    await pause(Math.random() * 50)
    await killOldest()
    killedAt.push(performance.now())
    if (kill <= Math.min(brokerRestarts, kills / 2)) await broker?.restart()
    if (kill <= postgresRestarts) {
      await postgres.stop()
      postgres = await startEmbeddedPostgres({ dataDir, port: Number(new URL(url).port) })
      lastOutage = new Date()
    }
    start()
    say(`${kill} of ${kills} kills; ${counter.seen.size} of ${deliveries} arrived`)
  }
  await untilReceived(counter.seen, deliveries).catch(() => undefined)
  const pool = createPool(url)
  leftovers.defer(() => pool.end())
  await untilFinished(pool).catch(() => undefined)
  const report = await judge(filled ?? (await happening) ?? new Set(), counter.seen, killedAt, { pool, lastOutage })
  while (children.length > 0) await killOldest()
  return { ...report, faults: [...report.faults, ...endedByItself] }
}

/** A Kafka of our own; `restart` ends it as a crash would. */
const startBroker = async (directory: string) => {
  const data = join(directory, 'kafka')
  await mkdir(data)
  const { ports, start } = await prepareBroker(await kafkaClasspath(), data)
  let pid = await start()
  const kill = () => process.kill(pid, 'SIGKILL')
  return {
    environment: {
      KAFKA_BROKERS: `127.0.0.1:${ports.plain}`,
      KAFKA_TOPIC: 'kill.deliveries',
      KAFKA_PARTITIONS: '4',
      KAFKA_SESSION_TIMEOUT_SECONDS: '2',
    },
    kill,
    restart: async () => {
      kill()
      pid = await start()
    },
  }
}

const judge = async (
  ids: ReadonlySet<string>,
  seen: ReadonlyMap<string, readonly number[]>,
  killedAt: readonly number[],
  { pool, lastOutage }: { readonly pool: Pool; readonly lastOutage: Date },
): Promise<KillReport> => {
  // While PostgreSQL is away nobody sends anything.
  const { rows } = await pool.query<{ pending: number; lost: number; waits: number | null }>(sql`
    select (select count(*) from delivery where state <> 'delivered')::integer as pending,
      (select count(*) from delivery_attempt where outcome = 'lost')::integer as lost,
      (select max(extract(epoch from next.started_at - lost.started_at)) from delivery_attempt as lost
        join delivery_attempt as next on next.delivery_id = lost.delivery_id and next.number = lost.number + 1
        where lost.outcome = 'lost' and lost.started_at > ${lastOutage})::float as waits`)
  const { pending = 0, lost = 0, waits = 0 } = rows[0] ?? {}
  const missing = [...ids].filter((id) => !seen.has(id))
  const unknown = [...seen.keys()].filter((id) => !ids.has(id))
  const repeats = [...seen.values()].reduce((sum, times) => sum + times.length - 1, 0)
  const inFlight = killedAt.length * 2 * concurrency
  return {
    received: seen.size,
    repeats,
    lostAttempts: lost,
    recoverySeconds: Number(waits ?? 0),
    faults: [
      ...(missing.length === 0 ? [] : [`${missing.length} deliveries never arrived, for example ${missing[0]}`]),
      ...(unknown.length === 0 ? [] : [`${unknown.length} arrived with an Idempotency-Key that was never planned`]),
      ...(pending === 0 ? [] : [`${pending} deliveries are not recorded as delivered`]),
      ...(repeats <= inFlight ? [] : [`${repeats} repeats where at most ${inFlight} were in flight`]),
      ...(Number(waits) <= recoveryTarget ? [] : [`what was lost waited for ${waits} s`]),
      ...(repeats <= lost ? [] : [`${repeats} repeats, but only ${lost} attempts were lost`]),
    ],
  }
}

const patienceMs = 300_000

const untilReceived = async (seen: ReadonlyMap<string, unknown>, count: number): Promise<void> =>
  until(async () => seen.size >= count, `${count} deliveries arrived`)

const untilFinished = (pool: Pool): Promise<void> =>
  until(async () => (await pool.query('select from delivery_queue limit 1')).rowCount === 0, 'all is recorded')

const until = async (isSo: () => Promise<boolean>, what: string): Promise<void> => {
  const deadline = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${patienceMs / 1000} s.`)
    await pause(10)
  }
}

const usage = `Usage: npm run kill:deliveries -- [--deliveries 20000] [--kills 50] [--postgres-restarts 2] [--kafka]

Kills the only delivery worker again and again while it sends, and looks for what got lost, came too often or waited for too long.

  --kafka  plans from a topic meanwhile, by two workers, of which one is killed each time, and the broker too
`

const main = async (): Promise<number> => {
  const { values } = readOptions(usage, {
    options: {
      deliveries: { type: 'string', default: '20000' },
      kills: { type: 'string', default: '50' },
      'postgres-restarts': { type: 'string', default: '2' },
      kafka: { type: 'boolean', default: false },
    },
  })
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
  }
  const { faults, ...counts } = await killDuringDeliveries({
    deliveries: Number(values.deliveries),
    kills: Number(values.kills),
    postgresRestarts: Number(values['postgres-restarts']),
    kafka: values.kafka,
    say,
  })
  for (const [name, count] of Object.entries(counts)) say(`${name}: ${count}`)
  for (const fault of faults) say(`✘ ${fault}`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main())
