import type { Pool, PoolClient } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { EventLog } from './event-log/event-log.ts'
import { sql } from './postgres/postgres.ts'

/** Of which live fold or stream, and by which version of what folds it: what other versions have saved is not used. */
export type SnapshotKey = { readonly name: string; readonly version: number }

/** The last event that was folded. */
export type LastEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id'>

/** Up to where the log was folded: at its last event, or behind it where nothing more was wanted. */
export type Reached = { readonly position: Position; readonly lastEvent: LastEvent }

/** A saved state, as JSON. */
export type Snapshot = Reached & { readonly state: string }

type Row = {
  readonly position: Position
  readonly last_stream: string
  readonly last_revision: string
  readonly last_event_id: string
  readonly state: string
}

/**
 * The snapshot of this version. One that does not fit this log, such as one of a log that was replaced or restored from a
 * backup since, is removed: it is beyond the end of the log, or the log does not have its last event.
 */
export const findSnapshot = async (
  pool: Pool,
  log: Pick<EventLog, 'head' | 'read' | 'measure'>,
  { name, version }: SnapshotKey,
): Promise<Snapshot | undefined> => {
  const { rows } = await pool.query<Row>({
    name: 'snapshot',
    ...sql`select position, last_stream, last_revision, last_event_id, state
      from fold_snapshot where name = ${name} and version = ${version}`,
  })
  const [row] = rows
  if (!row) return undefined
  const { position, state } = row
  const lastEvent = { stream: row.last_stream, revision: Number(row.last_revision), id: row.last_event_id }
  if (await isOfLog(log, { position, lastEvent })) return { position, lastEvent, state }
  await pool.query(sql`
    delete from fold_snapshot where name = ${name} and version = ${version} and position = ${position}`)
  return undefined
}

const isOfLog = async (
  { head, read, measure }: Pick<EventLog, 'head' | 'read' | 'measure'>,
  { position, lastEvent: { stream, revision, id } }: Reached,
): Promise<boolean> => {
  const [event] = await read(stream, { from: revision, limit: 1 })
  if (event?.id !== id) return false
  if (event.position === position) return true
  try {
    measure(position)
  } catch (error) {
    // The position of another kind of log.
    if (error instanceof RangeError) return false
    throw error
  }
  const end = await head()
  return end !== undefined && position <= end
}

/** True where there is none that is as far, or younger than a minute: all processes of a role save the same. */
export const isSnapshotDue = async (
  pool: Pool,
  { name, version }: SnapshotKey,
  position: Position,
): Promise<boolean> => {
  const { rows } = await pool.query<{ is_due: boolean }>(sql`
    select position < ${position} and saved_at < now() - interval '1 minute' as is_due
    from fold_snapshot where name = ${name} and version = ${version}`)
  return rows[0]?.is_due ?? true
}

/** Nothing has changed but the position. */
export const moveSnapshot = async (
  pool: Pool,
  { name, version }: SnapshotKey,
  { position, lastEvent }: Reached,
): Promise<void> => {
  await pool.query(sql`
    update fold_snapshot set position = ${position}, saved_at = now()
    where name = ${name} and version = ${version} and position < ${position} and last_event_id = ${lastEvent.id}`)
}

/** Those of other versions are removed when no process has saved them for a week. */
export const saveSnapshot = async (
  db: Pool | PoolClient,
  { name, version }: SnapshotKey,
  { position, lastEvent, state }: Snapshot,
): Promise<void> => {
  await db.query(sql`
    insert into fold_snapshot as stored
      (name, version, position, last_stream, last_revision, last_event_id, state)
    values (${name}, ${version}, ${position}, ${lastEvent.stream}, ${lastEvent.revision}, ${lastEvent.id}, ${state})
    on conflict (name, version) do update set position = excluded.position, last_stream = excluded.last_stream,
      last_revision = excluded.last_revision, last_event_id = excluded.last_event_id, state = excluded.state,
      saved_at = now()
    where stored.position < excluded.position`)
  await db.query(sql`
    delete from fold_snapshot
    where name = ${name} and version <> ${version} and saved_at < now() - interval '7 days'`)
}
