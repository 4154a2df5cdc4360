import type { Pool } from 'pg'
import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import type { KnownRows } from '#infra/consumers/consumer-type.ts'
import { bisect } from '#infra/consumers/failures.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { texts } from '#infra/postgres/arrays.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { applyEvents } from '../fold.ts'
import { defaultLagMs, history } from '../history.ts'
import type { SomeProjection } from '../projection.ts'
import { tableOf } from '../table.ts'
import { holdReplay, type Run } from './replay-schemas.ts'

/** A moment of the past: a place in the log, or a time by which events had been recorded. */
export type ReplayMoment =
  | { readonly position: Position; readonly known_at?: undefined }
  | { readonly known_at: Date; readonly position?: undefined }

type Replaying = {
  readonly projections: readonly SomeProjection[]
  readonly run: Run
  readonly moment: ReplayMoment
  /** Only events of this organisation; null: all. */
  readonly organisation_id: string | null
  readonly eventLog: EventLog
  readonly pool: Pool
  readonly signal: AbortSignal
  readonly report?: (progress: { readonly done: number; readonly total: number }) => void
}

export type Replayed = {
  readonly events: number
  readonly rows: number
  /** Records that are shown as the events before one that cannot be folded have left them, by read model. */
  readonly setAside: number
}

/** Fills the schema of a replay with all read models as they were at the moment. */
export const replay = async (replaying: Replaying): Promise<Replayed> => {
  const { projections, run, moment, organisation_id, eventLog, pool, signal, report } = replaying
  const told = { moment: `"${run.name}".replay_moment`, setAside: `"${run.name}".replay_set_aside` }
  const filled = projections.map((projection) => fillingIn(projection, run, pool))
  await transaction(pool, async (db) => {
    await holdReplay(db, run)
    await db.query(filled.map(({ table }) => table.create).join(';'))
    await db.query(`create table ${told.moment} (position text, known_at timestamptz, organisation_id uuid);
      create table ${told.setAside} (read_model text, stream text)`)
  })
  const isKnown = (event: RecordedEvent): boolean =>
    (organisation_id === null || event.metadata.organisation_id === organisation_id) &&
    (moment.known_at === undefined || event.recorded_at <= moment.known_at)
  const head = await eventLog.head()
  const upTo = moment.position !== undefined && head !== undefined && moment.position < head ? moment.position : head
  const measured = await meter(eventLog, upTo)
  const all = {
    categories: [...new Set(projections.flatMap(({ categories }) => categories))],
    events: Object.assign({}, ...projections.map(({ events }) => events)) as SomeProjection['events'],
  }
  let events = 0
  if (upTo !== undefined)
    for await (const batch of history(eventLog, all, { upTo, lagMs: defaultLagMs, signal })) {
      const known = batch.events.filter(isKnown)
      events += known.length
      await Promise.all(filled.map((each) => each.apply(known, batch.position)))
      report?.(measured(batch.position))
    }
  await transaction(pool, async (db) => {
    await holdReplay(db, run)
    for (const { table } of filled) if (table.createIndexes !== '') await db.query(table.createIndexes)
    await db.query({
      text: `insert into ${told.moment} values ($1, $2, $3)`,
      values: [moment.position ?? null, moment.known_at ?? null, organisation_id],
    })
    for (const { name, setAside } of filled)
      await db.query({
        text: `insert into ${told.setAside} select $1, unnest($2::text[])`,
        values: [name, texts([...setAside])],
      })
  })
  let rows = 0
  for (const { table } of filled) {
    await pool.query(`analyze ${table.name}`)
    const counted = await pool.query<{ count: string }>(`select count(*) from ${table.name}`)
    rows += Number(counted.rows[0]?.count)
  }
  return { events, rows, setAside: filled.reduce((sum, each) => sum + each.setAside.size, 0) }
}

/** Fills one read model. A record with an event that cannot be folded stays as it was before that event. */
const fillingIn = (projection: SomeProjection, run: Run, pool: Pool) => {
  const table = tableOf(projection, '', run.name)
  const setAside = new Set<string>()
  const isOwn = ({ stream, type }: RecordedEvent): boolean =>
    Object.hasOwn(projection.events, type) &&
    projection.categories.includes(categoryOf(stream)) &&
    !setAside.has(stream)
  // Those of the last batch: a record often goes on in the next.
  let known: KnownRows = new Map()
  const store = async (some: readonly RecordedEvent[]): Promise<void> => {
    const failed: string[] = []
    known = await transaction(
      pool,
      async (db) => {
        await holdReplay(db, run)
        return applyEvents(db, projection, table, some.filter(isOwn), {
          setEventAside: ({ stream }) => failed.push(stream),
          known,
        })
      },
      { isRepeatable: true },
    )
    for (const stream of failed) setAside.add(stream)
  }
  return {
    name: projection.name,
    table,
    setAside,
    apply: async (events: readonly RecordedEvent[], position: Position): Promise<void> => {
      const own = events.filter(isOwn)
      if (own.length === 0) return
      await bisect(own, position, store, async ({ stream }) => {
        setAside.add(stream)
      })
    },
  }
}

/** Progress in parts of the log from its first event to where the replay ends. */
const meter = async (eventLog: EventLog, upTo: Position | undefined) => {
  const [first] = await eventLog.readAll({ limit: 1 })
  const start = first ? eventLog.measure(first.position) : 0
  const partOf = (position: Position | undefined) => (position ? eventLog.measure(position) - start + 1 : 0)
  const total = partOf(upTo)
  return (position: Position) => ({ done: Math.min(partOf(position), total), total })
}
