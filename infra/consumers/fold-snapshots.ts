import type { Pool } from 'pg'
import { z } from 'zod'
import type { Position } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { sql } from '../postgres/postgres.ts'

/** What a fold keeps: a map, or several by name. Their values are JSON, so that a snapshot holds all there is. */
export type FoldState = Map<string, unknown> | { readonly [name: string]: Map<string, unknown> }

/** The last event that a fold has applied. */
export type LastEvent = { readonly stream: string; readonly revision: number; readonly id: string }

type Key = { readonly name: string; readonly version: number }

export type Snapshot = {
  readonly position: Position
  readonly lastEvent: LastEvent
  readonly restore: (state: FoldState) => void
}

// Read and parsed at each start, and written by a process that serves requests meanwhile.
const maximumBytes = 16_000_000

const Entries = z.array(z.tuple([z.string(), z.unknown()]))
const Saved = z.union([Entries, z.record(z.string(), Entries)])

type Row = {
  readonly position: Position
  readonly last_stream: string
  readonly last_revision: string
  readonly last_event_id: string
  readonly state: string
}

/**
 * The snapshot of a fold of this version. One that does not fit this log, such as one of a log that was replaced or
 * restored from a backup since, is removed: it is beyond the end of the log, or the log does not have its last event.
 */
export const findSnapshot = async (
  pool: Pool,
  log: Pick<EventLog, 'head' | 'read' | 'measure'>,
  { name, version }: Key,
): Promise<Snapshot | undefined> => {
  const { rows } = await pool.query<Row>(sql`
    select position, last_stream, last_revision, last_event_id, state
    from live_fold_snapshot where name = ${name} and version = ${version}`)
  const [row] = rows
  if (!row) return undefined
  const lastEvent = { stream: row.last_stream, revision: Number(row.last_revision), id: row.last_event_id }
  if (await isOfLog(log, row.position, lastEvent)) {
    const saved = Saved.parse(JSON.parse(row.state))
    return { position: row.position, lastEvent, restore: (state) => fill(state, saved) }
  }
  await pool.query(sql`
    delete from live_fold_snapshot where name = ${name} and version = ${version} and position = ${row.position}`)
  return undefined
}

const isOfLog = async (
  { head, read, measure }: Pick<EventLog, 'head' | 'read' | 'measure'>,
  position: Position,
  { stream, revision, id }: LastEvent,
): Promise<boolean> => {
  const end = await head()
  if (end === undefined || position > end) return false
  try {
    measure(position)
  } catch (error) {
    // The position of another kind of log.
    if (error instanceof RangeError) return false
    throw error
  }
  const [event] = await read(stream, { from: revision, limit: 1 })
  return event?.id === id
}

const fill = (state: FoldState, saved: z.output<typeof Saved>): void => {
  const [maps, entries] = [mapsOf(state), Array.isArray(saved) ? { '': saved } : saved]
  for (const [name, map] of Object.entries(maps)) for (const [key, value] of entries[name] ?? []) map.set(key, value)
}

const mapsOf = (state: FoldState): Readonly<Record<string, Map<string, unknown>>> =>
  state instanceof Map ? { '': state } : state

/** A state as JSON, or undefined when it is too large: no more of it is written than it takes to see this. */
const written = (state: FoldState): string | undefined => {
  const parts: string[] = []
  let bytes = 0
  for (const [name, map] of Object.entries(mapsOf(state))) {
    const entries: string[] = []
    for (const entry of map) {
      const text = JSON.stringify(entry)
      bytes += Buffer.byteLength(text)
      if (bytes > maximumBytes) return undefined
      entries.push(text)
    }
    parts.push(state instanceof Map ? `[${entries.join()}]` : `${JSON.stringify(name)}:[${entries.join()}]`)
  }
  return state instanceof Map ? parts.join() : `{${parts.join()}}`
}

export type Folded = {
  readonly position: Position
  readonly lastEvent: LastEvent
  /** Left out when nothing has changed but the position. */
  readonly state?: FoldState
}

/**
 * Saves a snapshot unless one that is as far, or younger than a minute, is there: all processes of a role save the same.
 * Those of other versions are removed when no process has used them for a week.
 */
export const saveSnapshot = async (
  pool: Pool,
  { name, version }: Key,
  current: () => Folded | undefined,
): Promise<'saved' | 'not now' | 'too large'> => {
  const before = current()
  if (!before) return 'not now'
  const { rows } = await pool.query<{ is_due: boolean }>(sql`
    select position < ${before.position} and saved_at < now() - interval '1 minute' as is_due
    from live_fold_snapshot where name = ${name} and version = ${version}`)
  if (rows[0]?.is_due === false) return 'not now'
  // The fold goes on during every statement: its position and its state are taken at one moment.
  const { position, lastEvent, state } = current() ?? before
  if (!state) {
    await pool.query(sql`
      update live_fold_snapshot set position = ${position}, saved_at = now()
      where name = ${name} and version = ${version} and position < ${position} and last_event_id = ${lastEvent.id}`)
    return 'saved'
  }
  const text = written(state)
  if (text === undefined) return 'too large'
  await pool.query(sql`
    insert into live_fold_snapshot as stored
      (name, version, position, last_stream, last_revision, last_event_id, state)
    values (${name}, ${version}, ${position}, ${lastEvent.stream}, ${lastEvent.revision}, ${lastEvent.id}, ${text})
    on conflict (name, version) do update set position = excluded.position, last_stream = excluded.last_stream,
      last_revision = excluded.last_revision, last_event_id = excluded.last_event_id, state = excluded.state,
      saved_at = now()
    where stored.position < excluded.position`)
  await pool.query(sql`
    delete from live_fold_snapshot
    where name = ${name} and version <> ${version} and saved_at < now() - interval '7 days'`)
  return 'saved'
}
