import { setTimeout as pause } from 'node:timers/promises'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { fromStored } from '#domain/event.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { postgresLog } from '#infra/event-log-postgres.ts'
import { makeLeases } from '#infra/lease.ts'
import { makeLog } from '#infra/log.ts'
import { createPool } from '#infra/postgres.ts'
import { applications } from '../projections/applications/projection.ts'
import { rebuild } from '../projections/rebuild.ts'
import { runProjection } from '../projections/runner.ts'
import { tableOf } from '../projections/table.ts'
import { median } from './figure.ts'

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
const eventLog = postgresLog({ url })
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
  await pool.query('drop table if exists applications; drop table if exists consumer_checkpoint')
  const startedAt = performance.now()
  const arrived = Promise.withResolvers<undefined>()
  const passed = (_name: string, _categories: readonly string[], position: Position | undefined) => {
    if (position !== undefined && position >= head) arrived.resolve(undefined)
  }
  const running = runProjection(applications, { ...parts, progress: { passed } })
  await arrived.promise
  const seconds = (performance.now() - startedAt) / 1_000
  ending.abort()
  await running.finished
  return seconds
}

/** Anew beside the table in use, as the operator asks for it. */
const rebuildBeside = async (): Promise<number> => {
  const startedAt = performance.now()
  await rebuild(applications, parts)
  return (performance.now() - startedAt) / 1_000
}

/** The rows that the replay of each page of events leaves, written by nothing but an upsert. Only the writing counts. */
const upsert = async (): Promise<number> => {
  const { columns, key } = applications.table
  const names = Object.keys(columns)
  await pool.query('drop table if exists applications; drop table if exists consumer_checkpoint')
  const { create, createIndexes } = tableOf(applications)
  await pool.query(`${create}; ${createIndexes}`)
  const others = names.filter((name) => !key.some((part) => part === name))
  const text = `
    insert into applications (${names.join(', ')})
    select * from unnest(${Object.values(columns)
      .map((type, index) => `$${index + 1}::${type}[]`)
      .join(', ')})
    on conflict (${key.join(', ')}) do update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`

  type Row = NonNullable<ReturnType<typeof applications.project>>
  const rows = new Map<string, Row>()
  const write = async (page: readonly Row[]): Promise<number> => {
    const startedAt = performance.now()
    const values = names.map((name) =>
      page.map((row) => (name === 'document' ? JSON.stringify(row.document) : row[name as keyof Row])),
    )
    await pool.query({ name: 'upsert', text, values })
    return performance.now() - startedAt
  }

  let milliseconds = 0
  let beyond: Position | undefined
  for (;;) {
    const events: readonly RecordedEvent[] = await eventLog.readAll({ limit: 1_000, ...(beyond && { beyond }) })
    if (events.length === 0) return milliseconds / 1_000
    const touched = new Set<string>()
    for (const recorded of events) {
      const event = fromStored(applicationStreamEvents, recorded)
      for (const each of applications.keys(event, recorded)) {
        const row = applications.project(rows.get(each.id), event, recorded, each)
        if (row) rows.set(each.id, row)
        touched.add(each.id)
      }
    }
    milliseconds += await write([...touched].map((id) => rows.get(id)).filter((row) => row !== undefined))
    beyond = events.at(-1)?.position
  }
}

const megabytes = (bytes: number): number => bytes / 2 ** 20

/** Memory when everything that can be let go of was let go of. */
const settled = async () => {
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.()
    await pause(50)
  }
  const { rss, heapUsed } = process.memoryUsage()
  return { rss: megabytes(rss), heap: megabytes(heapUsed) }
}

const works: Readonly<Record<string, () => Promise<number>>> = { replay, rebuild: rebuildBeside, upsert }

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
