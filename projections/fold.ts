import type { ClientBase, Pool } from 'pg'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Change, KnownRows, Sender, SetEventAside } from '#infra/consumers/consumer-type.ts'
import { isRetriable } from '#infra/consumers/failures.ts'
import { placed, type PlaceBehind } from './place.ts'
import type { Row, SomeProjection } from './projection.ts'
import type { Table } from './table.ts'

type Keys = (event: unknown, recorded: RecordedEvent) => readonly Row[]
type Before = (key: Row) => Row | undefined
type Project = (
  row: Row | undefined,
  event: unknown,
  recorded: RecordedEvent,
  key: Row,
  before: Before,
) => Row | undefined

type Touched = { readonly key: Row; readonly before: Row | undefined; now: Row | undefined }

/** An event and the rows that it touches, by what identifies them. */
type Touch = { readonly event: unknown; readonly recorded: RecordedEvent; readonly keys: ReadonlyMap<string, Row> }

export type FoldOptions = {
  /** Sends what has changed; by default the connection that also loads the rows. */
  readonly writer?: Sender
  /** Called for an event that cannot be folded: neither it nor later ones of its stream change anything. By default it is thrown. */
  readonly setEventAside?: SetEventAside
}

type ApplyOptions = FoldOptions & {
  /** Rows of the table that need not be loaded. */
  readonly known?: KnownRows
  /** Of a table without rows nothing is loaded. */
  readonly isEmpty?: boolean
}

const refuse: SetEventAside = (_event, error) => {
  throw error
}

/**
 * Applies events to a table, in their order: loads the rows that they touch in one statement, folds in memory, and writes
 * what has changed in one statement, or two if rows disappear. To be called in a transaction, by one writer at a time. Answers
 * the rows as they are now, by what identifies them.
 */
export const applyEvents = async (
  db: ClientBase,
  projection: SomeProjection,
  table: Table,
  events: readonly RecordedEvent[],
  { writer = db, setEventAside = refuse, known, isEmpty = false }: ApplyOptions = {},
): Promise<KnownRows> => {
  const rows = isEmpty
    ? foldedFromNothing(projection, table, events, setEventAside)
    : await folded(db, projection, table, events, setEventAside, known)
  await saveRows(writer, table, rows)
  return new Map([...rows].map(([identity, { now }]) => [identity, now]))
}

/** The change of a table by events, written together with the move of a checkpoint; undefined if they change nothing. */
export const changeOf = async (
  db: Pool | ClientBase,
  projection: SomeProjection,
  table: Table,
  events: readonly RecordedEvent[],
  { setEventAside = refuse, known }: Pick<FoldOptions, 'setEventAside'> & { readonly known?: KnownRows } = {},
): Promise<Change | undefined> => {
  const rows = await folded(db, projection, table, events, setEventAside, known)
  const { saved, removed } = changesOf(rows)
  if (saved.length === 0 && removed.length === 0) return undefined
  return {
    statement: (move) => table.change(move, saved, removed),
    rows: new Map(
      [...rows].filter(([, { before, now }]) => now !== before).map(([identity, { now }]) => [identity, now]),
    ),
  }
}

const foldedFromNothing = (
  projection: SomeProjection,
  table: Table,
  events: readonly RecordedEvent[],
  setEventAside: SetEventAside,
): ReadonlyMap<string, Touched> => {
  const fold = foldOf(projection, table)
  const rows = new Map<string, Touched>()
  fold.project(fold.touchesOf(events), rows, setEventAside)
  return rows
}

const folded = async (
  db: Pool | ClientBase,
  projection: SomeProjection,
  table: Table,
  events: readonly RecordedEvent[],
  setEventAside: SetEventAside,
  known: KnownRows = new Map(),
): Promise<ReadonlyMap<string, Touched>> => {
  const fold = foldOf(projection, table)
  const touches = fold.touchesOf(events)
  const rows = new Map<string, Touched>()
  const seen = new Set<string>()
  const unknown: Row[] = []
  for (const { recorded, keys } of touches.touched)
    for (const [identity, key] of keys) {
      if (seen.has(identity)) continue
      seen.add(identity)
      const row = known.get(identity) as Row | undefined // of the same table
      if (row) rows.set(identity, { key, before: row, now: row })
      // The first event of a stream finds no row that is only its own.
      else if (!known.has(identity) && (recorded.revision > 0 || projection.sharesRows)) unknown.push(key)
    }
  for (const row of await table.load(db, unknown)) rows.set(table.identityOf(row), { key: row, before: row, now: row })
  fold.project(touches, rows, setEventAside)
  return rows
}

/**
 * Folds all events of a record again, as if none of its rows existed, and writes the rows. `behind` places what was not shown
 * before. A long record is read page by page: PostgreSQL ends a transaction that is idle meanwhile.
 */
export const refoldEvents = async (
  db: ClientBase,
  projection: SomeProjection,
  table: Table,
  pages: AsyncIterable<readonly RecordedEvent[]>,
  { writer = db, setEventAside = refuse, behind }: FoldOptions & { readonly behind?: PlaceBehind | undefined } = {},
): Promise<void> => {
  const fold = foldOf(projection, table)
  const rows = new Map<string, Touched>()
  const failed = new Set<RecordedEvent>()
  for await (const events of pages) {
    fold.project(fold.touchesOf(events), rows, (event, error) => {
      failed.add(event)
      setEventAside(event, error)
    })
    if (failed.size > 0) break
    await db.query('select')
  }
  // Rows that were there before, as they were folded then, are replaced or removed.
  const present = await table.load(
    db,
    [...rows.values()].map(({ key }) => key),
  )
  for (const before of present) {
    const row = rows.get(table.identityOf(before))
    if (row) rows.set(table.identityOf(before), { ...row, before })
  }
  for (const row of rows.values()) if (row.now) row.now = placed(projection, row.before, row.now, behind)
  await saveRows(writer, table, rows)
}

const saveRows = async (writer: Sender, table: Table, rows: ReadonlyMap<string, Touched>): Promise<void> => {
  const { saved, removed } = changesOf(rows)
  await table.save(writer, saved)
  await table.remove(writer, removed)
}

const changesOf = (rows: ReadonlyMap<string, Touched>) => {
  const touched = [...rows.values()]
  return {
    saved: touched.flatMap(({ before, now }) => (now && now !== before ? [now] : [])),
    removed: touched.flatMap(({ key, before, now }) => (before && !now ? [key] : [])),
  }
}

type Touches = {
  readonly touched: readonly Touch[]
  /** The first event of a stream whose keys cannot be determined. */
  readonly failed: ReadonlyMap<string, { readonly recorded: RecordedEvent; readonly error: unknown }>
}

const foldOf = (projection: SomeProjection, table: Table) => {
  // That events, rows and keys fit together was checked where the projection was declared.
  const keysOf = projection.keys as Keys
  const projectOne = projection.project as Project
  const names = projection.table.key
  const hasKey = (row: Row, key: Row) => names.every((name) => row[name] === key[name])

  const touchesOf = (events: readonly RecordedEvent[]): Touches => {
    const touched: Touch[] = []
    const failed = new Map<string, { readonly recorded: RecordedEvent; readonly error: unknown }>()
    for (const recorded of events) {
      if (failed.has(recorded.stream)) continue
      try {
        const event = fromStored(projection.events, recorded)
        // An event that names a row twice still counts once for it.
        const keys = new Map(keysOf(event, recorded).map((key) => [table.identityOf(key), key]))
        touched.push({ event, recorded, keys })
      } catch (error) {
        // An event of a newer version is for a newer process to fold: nothing is wrong with its record.
        if (isRetriable(error)) throw error
        failed.set(recorded.stream, { recorded, error })
      }
    }
    return { touched, failed }
  }

  const effectsOf = ({ event, recorded, keys }: Touch, rows: ReadonlyMap<string, Touched>) => {
    const before: Before = (key) => rows.get(table.identityOf(key))?.now
    return [...keys].map(([identity, key]) => {
      const now = projectOne(rows.get(identity)?.now, event, recorded, key, before)
      if (now && !hasKey(now, key) && table.identityOf(now) !== identity)
        throw new OwnError(`${projection.name} made of a row another one, with another key, at ${recorded.type}.`)
      return { identity, key, now }
    })
  }

  /** Folds events over rows. An event changes all of its rows or none. */
  const project = ({ touched, failed }: Touches, rows: Map<string, Touched>, setEventAside: SetEventAside) => {
    const stopped = new Set<string>()
    for (const touch of touched) {
      const { stream } = touch.recorded
      if (stopped.has(stream)) continue
      try {
        for (const { identity, key, now } of effectsOf(touch, rows)) {
          const row = rows.get(identity)
          if (row) row.now = now
          else rows.set(identity, { key, before: undefined, now })
        }
      } catch (error) {
        stopped.add(stream)
        setEventAside(touch.recorded, error)
      }
    }
    for (const [stream, { recorded, error }] of failed) if (!stopped.has(stream)) setEventAside(recorded, error)
  }

  return { touchesOf, project }
}
