import type { ClientBase, Pool } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'

/** An event that could not be handled, and why; without a reason, one that waits because its record is set aside. */
export type Unhandled = { readonly event: RecordedEvent; readonly record: string; readonly reason?: string }

/** A stream whose events wait from a revision on, since a record is set aside. */
export type SetAside = {
  readonly consumer: string
  readonly record: string
  readonly stream: string
  readonly revision: number
  readonly event_id: string
  readonly type: string
  readonly reason: string | null
  readonly set_aside_at: Date
}

type Db = Pool | ClientBase

/** Those of these records that are set aside. */
export const setAsideOf = async (db: Db, consumer: string, records: readonly string[]): Promise<Set<string>> => {
  const { rows } = await db.query<{ record: string }>({
    name: 'consumer-set-aside-of',
    text: 'select distinct record from consumer_set_aside where consumer = $1 and record = any ($2)',
    values: [consumer, [...new Set(records)]],
  })
  return new Set(rows.map(({ record }) => record))
}

/** The events of records that are not set aside. */
export const withoutWaiting = async (
  db: Db,
  consumer: string,
  events: readonly RecordedEvent[],
): Promise<readonly RecordedEvent[]> => {
  const waiting = await setAsideOf(
    db,
    consumer,
    events.map(({ stream }) => stream),
  )
  return waiting.size === 0 ? events : events.filter(({ stream }) => !waiting.has(stream))
}

/** Sets records aside. Of a stream that waits for a record already, the first event stays the one that it waits from. */
export const setAside = async (db: Db, consumer: string, unhandled: readonly Unhandled[]): Promise<void> => {
  if (unhandled.length === 0) return
  const rows = unhandled.map(({ event: { stream, revision, id, type, metadata }, record, reason = null }) => ({
    consumer,
    record,
    stream,
    revision,
    event_id: id,
    type,
    reason: reason === null ? null : storable(reason),
    organisation_id: metadata.organisation_id,
  }))
  await db.query(sql`
    insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason, organisation_id)
    select distinct on (record, stream) consumer, record, stream, revision, event_id, type, reason, organisation_id
    from json_to_recordset(${JSON.stringify(rows)}) as unhandled (
      consumer text, record text, stream text, revision bigint, event_id uuid, type text, reason text,
      organisation_id text)
    order by record, stream, revision
    on conflict (consumer, record, stream) do nothing`)
}

/** PostgreSQL can hold neither U+0000 nor half of a surrogate pair, and a reason may quote what somebody has sent. */
const storable = (reason: string): string => reason.replaceAll('\0', '\uFFFD').toWellFormed()

/** Saves how far a record was resumed: its streams wait from these revisions on. */
export const waitFrom = async (
  db: Db,
  consumer: string,
  record: string,
  revisions: ReadonlyMap<string, number>,
): Promise<void> => {
  for (const [stream, revision] of revisions)
    await db.query(sql`
      update consumer_set_aside set revision = ${revision}
      where consumer = ${consumer} and record = ${record} and stream = ${stream}`)
}

/** A record that was resumed stays set aside, now because of this event. Its streams wait from these revisions on. */
export const setAsideAgain = async (
  db: Db,
  consumer: string,
  record: string,
  waitsFrom: ReadonlyMap<string, number>,
  { event, reason }: { readonly event: RecordedEvent; readonly reason: string },
): Promise<void> => {
  await db.query(sql`
    update consumer_set_aside set resume_requested_at = null, reason = null
    where consumer = ${consumer} and record = ${record}`)
  await waitFrom(db, consumer, record, waitsFrom)
  await db.query(sql`
    insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason, organisation_id)
    values (
      ${consumer}, ${record}, ${event.stream}, ${event.revision}, ${event.id}, ${event.type}, ${storable(reason)},
      ${event.metadata.organisation_id})
    on conflict (consumer, record, stream) do update set
      revision = excluded.revision, event_id = excluded.event_id, type = excluded.type, reason = excluded.reason`)
}

export const putBack = async (db: Db, consumer: string, record: string): Promise<void> => {
  await db.query(sql`delete from consumer_set_aside where consumer = ${consumer} and record = ${record}`)
}

/** The number of records of a consumer that are set aside. */
export const countSetAside = async (db: Db, consumer: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    sql`select count(distinct record)::integer as count from consumer_set_aside where consumer = ${consumer}`,
  )
  return rows[0]?.count ?? 0
}

/** The streams that wait, those with a reason first, at most so many. */
export const listSetAside = async (db: Db, consumer: string, limit: number): Promise<readonly SetAside[]> => {
  const { rows } = await db.query<Omit<SetAside, 'revision'> & { revision: string }>(sql`
    select consumer, record, stream, revision, event_id, type, reason, set_aside_at from consumer_set_aside
    where consumer = ${consumer} order by reason is null, set_aside_at, record, stream limit ${limit}`)
  return rows.map((row) => ({ ...row, revision: Number(row.revision) }))
}

/** A page of the streams that wait, in the order of records, beyond a place. */
export const pageOfSetAside = async (
  db: Pick<Database, 'query'>,
  consumer: string,
  { after, limit }: { readonly after: readonly [record: string, stream: string] | undefined; readonly limit: number },
): Promise<readonly (Omit<SetAside, 'consumer'> & { readonly resume_requested_at: Date | null })[]> => {
  const [record, stream] = after ?? ['', '']
  const { rows } = await db.query<
    Omit<SetAside, 'revision'> & { revision: string; resume_requested_at: Date | null }
  >(sql`
    select record, stream, revision, event_id, type, reason, set_aside_at, resume_requested_at from consumer_set_aside
    where consumer = ${consumer} and (record, stream) > (${record}, ${stream}) order by record, stream limit ${limit}`)
  return rows.map((row) => ({ ...row, revision: Number(row.revision) }))
}

/** The last event that each of these consumers could not handle, of those whose record waits still. */
export const lastFaults = async (
  db: Pick<Database, 'query'>,
  consumers: readonly string[],
): Promise<ReadonlyMap<string, Pick<SetAside, 'event_id' | 'type' | 'set_aside_at'> & { readonly reason: string }>> => {
  const { rows } = await db.query<SetAside & { reason: string }>(sql`
    select distinct on (consumer) consumer, event_id, type, reason, set_aside_at from consumer_set_aside
    where consumer = any (${consumers}) and reason is not null order by consumer, set_aside_at desc`)
  return new Map(rows.map((row) => [row.consumer, row]))
}

/** Lets a consumer, in whichever process it runs, handle the waiting events of a record, or of all. How many there are. */
export const requestResume = async (db: Db, consumer: string, record?: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(sql`
    with requested as (
      update consumer_set_aside set resume_requested_at = now()
      where consumer = ${consumer} and record = coalesce(${record}, record)
      returning record)
    select count(distinct record)::integer as count from requested`)
  return rows[0]?.count ?? 0
}

/** A record that is to be resumed, and the streams whose events wait for it. */
export const nextToResume = async (db: Db, consumer: string): Promise<readonly SetAside[]> => {
  const { rows } = await db.query<Omit<SetAside, 'revision'> & { revision: string }>(sql`
    select consumer, record, stream, revision, event_id, type, reason, set_aside_at from consumer_set_aside
    where consumer = ${consumer} and record = (
      select record from consumer_set_aside
      where consumer = ${consumer} and resume_requested_at is not null order by resume_requested_at, record limit 1)`)
  return rows.map((row) => ({ ...row, revision: Number(row.revision) }))
}

export const forgetSetAside = async (db: Db, consumer: string): Promise<void> => {
  await db.query(sql`delete from consumer_set_aside where consumer = ${consumer}`)
}

/** Moves what one consumer has set aside to another: a rebuilt read model replaces the former one. */
export const replaceSetAside = async (db: Db, consumer: string, by: string): Promise<void> => {
  await forgetSetAside(db, consumer)
  await db.query(sql`update consumer_set_aside set consumer = ${consumer} where consumer = ${by}`)
}

const pageSize = 200

type Waiting = {
  readonly events: readonly RecordedEvent[]
  /** The revision at which each stream goes on. */
  readonly next: ReadonlyMap<string, number>
}

/** The events of some streams, from a revision of each up to a position of the log, in the order of the log. */
export const waitingEvents = async function* (
  eventLog: Pick<EventLog, 'read'>,
  streams: readonly Pick<SetAside, 'stream' | 'revision'>[],
  upTo: Position,
): AsyncGenerator<Waiting> {
  const next = new Map(streams.map(({ stream, revision }) => [stream, revision]))
  for (;;) {
    let bound = upTo
    const found: RecordedEvent[] = []
    for (const [stream, from] of next) {
      const page = await eventLog.read(stream, { from, limit: pageSize })
      found.push(...page)
      // Of a stream with more than this page, nothing is known behind the page.
      const end = page.length === pageSize ? page.at(-1)?.position : undefined
      if (end && end < bound) bound = end
    }
    const events = found
      .filter(({ position }) => position <= bound)
      .sort((one, other) => (one.position < other.position ? -1 : 1))
    for (const { stream, revision } of events) next.set(stream, revision + 1)
    yield { events, next: new Map(next) }
    if (bound === upTo) return
  }
}

const shown = 10

/** Says in the log which records were set aside; of very many, the first. */
export const logSetAside = (log: Log, consumer: string, unhandled: readonly Unhandled[]): void => {
  const failed = unhandled.filter(({ reason }) => reason !== undefined)
  for (const { event, record, reason } of failed.slice(0, shown))
    log.error(
      {
        consumer,
        record,
        stream: event.stream,
        revision: event.revision,
        event_id: event.id,
        type: event.type,
        reason,
      },
      'record set aside: an event cannot be handled',
    )
  if (failed.length > shown) log.error({ consumer, more: failed.length - shown }, 'more records were set aside')
}
