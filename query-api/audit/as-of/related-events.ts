import type { RecordedEvent } from '#domain/event.ts'
import { categoryOf } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { texts } from '#infra/postgres/arrays.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Source = { readonly db: Database; readonly eventLog: Pick<EventLog, 'read'> }

type Wanted = {
  readonly organisation_id: string
  /** Records whose ids these are, whatever they are. */
  readonly ids: readonly string[]
  /** All records that have begun with one of these events. */
  readonly types: readonly string[]
  /** The categories that are read. */
  readonly categories: readonly string[]
  readonly isKnown: (event: RecordedEvent) => boolean
}

const mostEvents = 10_000
/** Of what they say, as JSON. */
const mostBytes = 64 * 2 ** 20
const mostNames = 2_000
const streamsAtOnce = 8
const pageSize = 1_000
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Thrown where an answer would be made of some events alone. */
export class TooManyEvents extends Problem {
  constructor() {
    super(
      'invalid_parameter',
      'Too many events belong to this to be looked at in one request. Ask for a part of it, or read the history of its records.',
    )
  }
}

const tooMany = () => new TooManyEvents()

/** At most so many, or it is refused: an answer made of some of them would be wrong. */
const allOf = (rows: readonly { readonly stream: string }[]): readonly string[] => {
  if (rows.length > mostEvents) throw tooMany()
  return [...new Set(rows.map(({ stream }) => stream))]
}

/** The streams of records that stand on those of others, which read models name; of an outreach stream, those of its members. */
const streamsOfParts = async (db: Database, { organisation_id, ids }: Wanted): Promise<readonly string[]> => {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ stream: string }>(sql`
    with wanted as (select unnest(${[...ids]}::uuid[]) as id)
    select 'application-' || application_id as stream from quotes join wanted using (id) where organisation_id = ${organisation_id}
    union select 'application-' || application_id from payments join wanted using (id) where organisation_id = ${organisation_id}
    union select 'policy-' || policy_id from premiums join wanted using (id) where organisation_id = ${organisation_id}
    union select 'policy-' || policy_id from claims join wanted using (id) where organisation_id = ${organisation_id}
    union (
      select 'outreach_person-' || contact_id from outreach_members join wanted on stream_id = wanted.id
      where organisation_id = ${organisation_id} limit ${mostEvents + 1})`)
  return allOf(rows)
}

const streamsNamed = async (
  db: Database,
  { organisation_id, categories }: Wanted,
  ids: readonly string[],
): Promise<readonly string[]> => {
  if (ids.length > mostNames) throw tooMany()
  const named = categories.flatMap((category) => ids.map((id) => `${category}-${id}`))
  const { rows } = await db.query<{ stream: string }>(sql`
    select stream from recorded_events
    where organisation_id = ${organisation_id} and stream = any(${texts(named)}) and revision = 0`)
  return allOf(rows)
}

const streamsAbout = async (db: Database, { organisation_id, categories, ids }: Wanted): Promise<readonly string[]> => {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ stream: string }>(sql`
    select stream from recorded_events
    where organisation_id = ${organisation_id} and person_id = any(${[...ids]}::uuid[])
    union all
    select stream from recorded_events
    where organisation_id = ${organisation_id} and second_person_id = any(${[...ids]}::uuid[])
    limit ${mostEvents + 1}`)
  return allOf(rows).filter((stream) => categories.includes(categoryOf(stream)))
}

const streamsBegunBy = async (
  db: Database,
  { organisation_id }: Wanted,
  types: readonly string[],
): Promise<readonly string[]> => {
  if (types.length === 0) return []
  const { rows } = await db.query<{ stream: string }>(sql`
    select stream from recorded_events
    where organisation_id = ${organisation_id} and kind = any(${texts(types)}) limit ${mostEvents + 1}`)
  return allOf(rows)
}

/**
 * The events of an organisation that say how records stand: their own, and those of the records that they name, as far as they are
 * known at a moment; in the order of the log.
 */
export const relatedEvents = async ({ db, eventLog }: Source, wanted: Wanted): Promise<readonly RecordedEvent[]> => {
  const { organisation_id, ids, types, isKnown } = wanted
  const events: RecordedEvent[] = []
  const read = new Set<string>()
  let bytes = 0
  const take = async (streams: readonly string[]): Promise<readonly string[]> => {
    const fresh = [...new Set(streams)].filter((stream) => !read.has(stream))
    const named = new Set<string>()
    for (let from = 0; from < fresh.length; from += streamsAtOnce) {
      const some = fresh.slice(from, from + streamsAtOnce)
      for (const stream of some) read.add(stream)
      for (const event of (await Promise.all(some.map(async (stream) => readWhole(eventLog, stream)))).flat()) {
        if (event.metadata.organisation_id !== organisation_id || !isKnown(event)) continue
        const said = JSON.stringify(event.data)
        bytes += said.length
        if (events.length >= mostEvents || bytes > mostBytes) throw tooMany()
        events.push(event)
        for (const id of said.match(uuid) ?? []) named.add(id)
      }
    }
    return [...named]
  }
  // What is set up names much that it does not show.
  await take(await streamsBegunBy(db, wanted, types))
  const found = await Promise.all([
    streamsNamed(db, wanted, [...ids, organisation_id]),
    streamsOfParts(db, wanted),
    streamsAbout(db, wanted),
  ])
  await take(await streamsNamed(db, wanted, await take(found.flat())))
  return events.toSorted((one, other) => (one.position < other.position ? -1 : 1))
}

/** The rest of the bytes, as JSON, that may be read together. */
export const budget = () => ({ bytes: mostBytes })

/** All events of a stream; refused where there are more than can be looked at, alone or together with others. */
export const readWhole = async (
  eventLog: Pick<EventLog, 'read'>,
  stream: string,
  left = budget(),
): Promise<readonly RecordedEvent[]> => {
  const all: RecordedEvent[] = []
  for (;;) {
    const page = await eventLog.read(stream, { from: all.length, limit: pageSize })
    for (const { data } of page) left.bytes -= JSON.stringify(data).length
    if (left.bytes < 0) throw tooMany()
    all.push(...page)
    if (page.length < pageSize) return all
    if (all.length > mostEvents) throw tooMany()
  }
}
