import type { ClientBase } from 'pg'
import { organisationOf, type RecordedEvent } from '#domain/event.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { OwnError } from '#domain/own-error.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { kindOf, type Capabilities } from './capability.ts'

type Remembered = {
  readonly type: string
  readonly id: string
  readonly organisation_id: string
  readonly facts: object
}

/**
 * Keeps the feed of lifecycle events: every event that is or would be sent, whether an action asks for it or not, in the order
 * of the log and from its beginning. What a page shows is complete up to its last entry, since rows and checkpoint are
 * written together and in that order.
 */
type Subjects = Capabilities['subjects']

export const startLifecycleFeed = (subjects: Subjects, parts: ConsumerParts): Consuming => {
  return consume({
    ...parts,
    name: 'lifecycle feed',
    version: 1,
    restMs: 250,
    categories: [...new Set(subjects.flatMap(({ categories }) => categories))],
    types: [...new Set(subjects.flatMap(({ events }) => events))],
    handle: async (events, db) => {
      const own = events.filter((event) => kindOf(subjects, event))
      const known = new Map((await recall(db, subjects, own)).map((each) => [keyOf(each), each]))
      const learned = new Map<string, Remembered>()
      const entries = own.flatMap((event) => {
        const { after, entry } = entryOf(subjects, known, event)
        known.set(keyOf(after), after)
        learned.set(keyOf(after), after)
        return entry ? [entry] : []
      })
      await write(db, entries, [...learned.values()])
    },
  })
}

const keyOf = ({ type, id }: Pick<Remembered, 'type' | 'id'>): string => `${type} ${id}`

const entryOf = (subjects: Subjects, known: ReadonlyMap<string, Remembered>, recorded: RecordedEvent) => {
  const kind = kindOf(subjects, recorded)
  if (!kind) throw new OwnError(`The lifecycle feed does not know ${recorded.type}.`)
  const [type, id, organisation_id] = [kind.type, kind.idOf(recorded), organisationOf(recorded)]
  const facts = kind.remember(known.get(keyOf({ type, id }))?.facts as Readonly<Record<string, unknown>>, recorded)
  if (!facts) throw new OwnError(`${recorded.type} ${recorded.id}: its ${type} never began.`)
  const happening = kind.happening(facts, recorded)
  const after: Remembered = { type, id, organisation_id, facts }
  if (!happening) return { after, entry: undefined }
  const { type: published, payload, aggregate = { type, id } } = happening
  const product_id = facts['product_id'] ?? null
  return {
    after,
    entry: {
      organisation_id,
      position: recorded.position,
      event_id: recorded.id,
      type: published,
      product_id,
      recorded_at: recorded.recorded_at.toISOString(),
      document: JSON.stringify({
        id: recorded.id,
        type: published,
        occurred_at: recorded.metadata.occurred_at,
        recorded_at: recorded.recorded_at.toISOString(),
        sequence: recorded.revision,
        aggregate,
        payload,
        product_id,
        organization_id: organisation_id,
      }),
    },
  }
}

/** What is remembered of the subjects of these events. One whose stream begins here has nothing to be remembered. */
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

const write = async (db: ClientBase, entries: readonly object[], learned: readonly Remembered[]): Promise<void> => {
  await db.query(sql`
    insert into lifecycle_event (organisation_id, position, event_id, type, product_id, recorded_at, document)
    select organisation_id, position, event_id, type, product_id, recorded_at, document::json
    from json_to_recordset(${JSON.stringify(entries)}) as entry (organisation_id uuid, position text, event_id uuid,
      type text, product_id uuid, recorded_at timestamptz, document text)
    on conflict do nothing`)
  const rows = learned.map((each) => ({ ...each, facts: JSON.stringify(each.facts) }))
  await db.query(sql`
    insert into lifecycle_subject (type, id, organisation_id, facts)
    select type, id, organisation_id, facts::json
    from json_to_recordset(${JSON.stringify(rows)}) as learned (type text, id uuid, organisation_id uuid, facts text)
    on conflict (type, id) do update set facts = excluded.facts`)
}
