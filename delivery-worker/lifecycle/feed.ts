import type { ClientBase } from 'pg'
import { organisationOf, type Json, type RecordedEvent } from '#domain/event.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import type { Sender } from '#infra/consumers/consumer-type.ts'
import { OwnError } from '#domain/own-error.ts'
import { jsons, texts, uuids } from '#infra/postgres/arrays.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { kindOf, type Capabilities } from '../capability.ts'

type Remembered = {
  readonly type: string
  readonly id: string
  readonly organisation_id: string
  readonly facts: object
}

type Subjects = Capabilities['subjects']

/**
 * Keeps the feed of lifecycle events: every event that is or would be sent, whether an action asks for it or not, in the order
 * of the log and from its beginning. What a page shows is complete up to its last entry, since rows and checkpoint are
 * written together and in that order.
 */
export const startLifecycleFeed = (subjects: Subjects, parts: ConsumerParts): Consuming => {
  return consume({
    ...parts,
    name: 'lifecycle feed',
    version: 1,
    restMs: 250,
    categories: [...new Set(subjects.flatMap(({ categories }) => categories))],
    types: [...new Set(subjects.flatMap(({ events }) => events))],
    handle: async (events, db, last) => {
      const own = events.filter((event) => kindOf(subjects, event))
      const known = new Map((await recall(db, subjects, own)).map((each) => [keyOf(each), each]))
      const learned = new Map<string, Remembered>()
      const entries = own.flatMap((event) => {
        const { after, entry } = entryOf(subjects, known, event)
        // Most events leave the facts as they are.
        if (known.get(keyOf(after))?.facts !== after.facts) learned.set(keyOf(after), after)
        known.set(keyOf(after), after)
        return entry ? [entry] : []
      })
      if (entries.length > 0) await writeEntries(last, entries)
      if (learned.size > 0) await writeLearned(last, [...learned.values()])
    },
  })
}

type Entry = {
  readonly organisation_id: string
  readonly position: string
  readonly event_id: string
  readonly type: string
  readonly product_id: string | null
  readonly recorded_at: string
  /** As it is shown. */
  readonly document: string
}

const productOf = ({ product_id }: Json): string | null => (typeof product_id === 'string' ? product_id : null)

const keyOf = ({ type, id }: Pick<Remembered, 'type' | 'id'>): string => `${type} ${id}`

const entryOf = (subjects: Subjects, known: ReadonlyMap<string, Remembered>, recorded: RecordedEvent) => {
  const kind = kindOf(subjects, recorded)
  if (!kind) throw new OwnError(`The lifecycle feed does not know ${recorded.type}.`)
  const [type, id, organisation_id] = [kind.type, kind.idOf(recorded), organisationOf(recorded)]
  const facts = kind.remember(known.get(keyOf({ type, id }))?.facts as Json, recorded)
  if (!facts) throw new OwnError(`${recorded.type} ${recorded.id}: its ${type} never began.`)
  const happening = kind.happening(facts, recorded)
  const after: Remembered = { type, id, organisation_id, facts }
  if (!happening) return { after, entry: undefined }
  const { type: published, payload, aggregate = { type, id } } = happening
  const product_id = productOf(facts)
  const recorded_at = recorded.recorded_at.toISOString()
  return {
    after,
    entry: {
      organisation_id,
      position: recorded.position,
      event_id: recorded.id,
      type: published,
      product_id,
      recorded_at,
      document: JSON.stringify({
        id: recorded.id,
        type: published,
        occurred_at: recorded.metadata.occurred_at,
        recorded_at,
        sequence: recorded.revision,
        aggregate,
        payload,
        product_id,
        organization_id: organisation_id,
      }),
    },
  }
}

/** Facts remembered of the subjects of these events. One whose stream begins here has none. */
const recall = async (db: ClientBase, subjects: Subjects, events: readonly RecordedEvent[]) => {
  const begun = new Set<string>()
  const wanted = new Map<string, Pick<Remembered, 'type' | 'id'>>()
  for (const event of events) {
    const kind = kindOf(subjects, event)
    if (!kind) continue
    const subject = { type: kind.type, id: kind.idOf(event) }
    if (event.revision === 0) begun.add(keyOf(subject))
    if (!begun.has(keyOf(subject))) wanted.set(keyOf(subject), subject)
  }
  if (wanted.size === 0) return []
  const [types, ids] = [[...wanted.values()].map(({ type }) => type), [...wanted.values()].map(({ id }) => id)]
  const { rows } = await db.query<Remembered>(sql`
    select found.* from unnest(${types}::text[], ${ids}::uuid[]) as wanted (type, id)
    cross join lateral (select type, id, organisation_id, facts from lifecycle_subject as subject
      where subject.type = wanted.type and subject.id = wanted.id limit 1) as found`)
  return rows
}

const writeEntries = async (db: Sender, entries: readonly Entry[]): Promise<void> => {
  await db.query({
    name: 'lifecycle-events',
    text: `
      insert into lifecycle_event (organisation_id, position, event_id, type, product_id, recorded_at, document)
      select organisation_id, position, event_id, type, product_id::uuid, recorded_at::timestamptz, document
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::json[])
        as entry (organisation_id, position, event_id, type, product_id, recorded_at, document)
      on conflict do nothing`,
    values: [
      uuids(entries.map(({ organisation_id }) => organisation_id)),
      texts(entries.map(({ position }) => position)),
      uuids(entries.map(({ event_id }) => event_id)),
      texts(entries.map(({ type }) => type)),
      texts(entries.map(({ product_id }) => product_id)),
      texts(entries.map(({ recorded_at }) => recorded_at)),
      jsons(entries.map(({ document }) => document)),
    ],
  })
}

const writeLearned = async (db: Sender, learned: readonly Remembered[]): Promise<void> => {
  await db.query({
    name: 'lifecycle-subjects',
    text: `
      insert into lifecycle_subject (type, id, organisation_id, facts)
      select * from unnest($1::text[], $2::uuid[], $3::uuid[], $4::json[])
      on conflict (type, id) do update set facts = excluded.facts`,
    values: [
      texts(learned.map(({ type }) => type)),
      uuids(learned.map(({ id }) => id)),
      uuids(learned.map(({ organisation_id }) => organisation_id)),
      jsons(learned.map(({ facts }) => JSON.stringify(facts))),
    ],
  })
}
