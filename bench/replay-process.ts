import { setTimeout as pause } from 'node:timers/promises'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { fromStored } from '#domain/event.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { allProjections } from '../projections/all-projections.ts'
import { applications } from '../projections/applications/projection.ts'
import { beginReplay, dropReplay, finishReplay } from '../projections/audit/replay-schemas.ts'
import { replay as replayTo } from '../projections/audit/replay.ts'
import { eventsAtOnce } from '../projections/history.ts'
import { rebuild } from '../projections/rebuild.ts'
import { runProjection } from '../projections/runner.ts'
import { tableOf } from '../projections/table.ts'
import { median } from './figure.ts'
import { sealed } from './sealed.ts'

/** What a replay reports to the process that asked for it. Memory in MB. */
export type Replayed = {
  readonly seconds: number
  readonly atRest: number
  readonly afterwards: number
  readonly heapAtRest: number
  readonly heapAfterwards: number
  /** Half-way through, and towards the end. */
  readonly secondQuarter: number
  readonly lastQuarter: number
  readonly most: number
}

const [url = '', work] = process.argv.slice(2)
const pool = createPool(url)
// Events that are not sealed pass through.
const eventLog = sealed(postgresLog({ url }), pool)
const ending = new AbortController()
const parts = {
  eventLog,
  pool,
  leases: makeLeases(pool),
  log: makeLog('warn', 'bench'),
  signal: ending.signal,
}

/** From an empty table to the end of the log, as the service itself does it. */
const replay = async (): Promise<number> => {
  const head = await eventLog.head()
  if (!head) throw new Error('There is nothing to replay.')
  await pool.query('drop table if exists applications; truncate consumer_checkpoint')
  const startedAt = performance.now()
  const arrived = Promise.withResolvers<undefined>()
  const passed = (_name: string, _categories: readonly string[], position: Position | undefined) => {
    if (position !== undefined && position >= head) arrived.resolve(undefined)
  }
  const running = runProjection(applications, { ...parts, progress: { passed, forget: () => undefined } })
  await arrived.promise
  const seconds = (performance.now() - startedAt) / 1_000
  ending.abort()
  await running.finished
  return seconds
}

/** A rebuild next to the table in use, as started by the operator. */
const rebuildBeside = async (): Promise<number> => {
  const startedAt = performance.now()
  await rebuild(applications, parts)
  return (performance.now() - startedAt) / 1_000
}

/**
 * The rows that each batch of a replay leaves, written by nothing but the fastest upsert that we know. Only the writing
 * counts: the rows have been folded before.
 */
const upsert = async (): Promise<number> => {
  const table = tableOf(applications)
  await pool.query('drop table if exists applications; truncate consumer_checkpoint')
  await pool.query(`${table.create}; ${table.createIndexes}`)
  const db = await pool.connect()

  type Row = NonNullable<ReturnType<typeof applications.project>>
  const rows = new Map<unknown, Row>()
  let milliseconds = 0
  let beyond: Position | undefined
  for (;;) {
    const events: readonly RecordedEvent[] = await eventLog.readAll({ limit: eventsAtOnce, ...(beyond && { beyond }) })
    if (events.length === 0) break
    const touched = new Set<unknown>()
    for (const recorded of events) {
      const event = fromStored(applicationStreamEvents, recorded)
      for (const each of applications.keys(event, recorded)) {
        const row = applications.project(rows.get(each['id']), event, recorded, each)
        if (row) rows.set(each['id'], row)
        touched.add(each['id'])
      }
    }
    const written = [...touched].map((id) => rows.get(id)).filter((row) => row !== undefined)
    const startedAt = performance.now()
    await table.save(db, written)
    milliseconds += performance.now() - startedAt
    beyond = events.at(-1)?.position
  }
  db.release()
  return milliseconds / 1_000
}

/** Every read model as it was at the end of the log, in a schema of its own. */
const replayAll = async (): Promise<number> => {
  await dropReplay('bench', pool)
  const startedAt = performance.now()
  const asked = { name: 'bench', organisation_id: null, personal: 'opened', reader: null, keepMs: 3_600_000 } as const
  const run = await beginReplay(asked, pool)
  const moment = { known_at: new Date() }
  await replayTo({
    ...parts,
    projections: allProjections,
    run,
    moment,
    organisation_id: null,
  })
  await finishReplay(run, pool)
  return (performance.now() - startedAt) / 1_000
}

const megabytes = (bytes: number): number => bytes / 2 ** 20

/** Memory after garbage collection. */
const settled = async () => {
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.()
    await pause(50)
  }
  const { rss, heapUsed } = process.memoryUsage()
  return { rss: megabytes(rss), heap: megabytes(heapUsed) }
}

const works: Readonly<Record<string, () => Promise<number>>> = {
  replay,
  rebuild: rebuildBeside,
  upsert,
  all: replayAll,
}

const main = async () => {
  const start = works[work ?? '']
  if (!start) throw new Error(`replay-process.ts <database> ${Object.keys(works).join('|')}`)
  await eventLog.head()
  const before = await settled()
  const samples: number[] = []
  const sampling = setInterval(() => samples.push(megabytes(process.memoryUsage.rss())), 20)
  const seconds = await start()
  clearInterval(sampling)
  const after = await settled()
  const quarter = Math.floor(samples.length / 4)
  const replayed: Replayed = {
    seconds,
    atRest: before.rss,
    afterwards: after.rss,
    heapAtRest: before.heap,
    heapAfterwards: after.heap,
    secondQuarter: median(samples.slice(quarter, 2 * quarter)),
    lastQuarter: median(samples.slice(-quarter)),
    most: Math.max(...samples),
  }
  await eventLog.close()
  await pool.end()
  process.stdout.write(`${JSON.stringify(replayed)}\n`)
}

await main()
