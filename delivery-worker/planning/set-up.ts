import type { ClientBase, Pool } from 'pg'
import { organisationOf, type RecordedEvent } from '#domain/event.ts'
import { isRetriable } from '#infra/consumers/failures.ts'
import type { Unhandled } from '#infra/kafka/relay.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import type { Capabilities } from '../capability.ts'
import { forgetStandings } from '../endpoints/endpoints.ts'
import { makeKnowledge, plannedFrom, type SetUpRecord } from './knowledge.ts'
import { cancellationsBy, type SetUp, type SetUpChange } from './plan.ts'
import { planningFrom, type Source } from './planning.ts'
import { cancel } from '../sending/queue.ts'

// Planners share it and whoever changes what is set up has it alone, each until its transaction ends: what is cancelled
// then either finds a delivery in the queue, or is known to whoever plans it.
const lock = 7_236_018_450

export const changingSetUp = async (db: ClientBase): Promise<void> => {
  await db.query(sql`select pg_advisory_xact_lock(${lock})`)
}

type Row = SetUpRecord & { readonly position: string }

const findSetUp = async (db: ClientBase, organisations: readonly string[], before: string): Promise<readonly Row[]> => {
  const { rows } = await db.query<Row>(sql`
    select kind, type, id, organisation_id, facts, position from delivery_set_up as each
    where organisation_id = any (${[...new Set(organisations)]}::uuid[]) and (position >= ${before} or position = (
      select max(position) from delivery_set_up as earlier
      where earlier.organisation_id = each.organisation_id and earlier.kind = each.kind and earlier.id = each.id
        and earlier.position < ${before}))
    order by position`)
  return rows
}

/**
 * The set-up of a batch's organisations before its first event, and their later changes, as far as the relay has come: further
 * than any event that it has published.
 */
export const setUpFrom = async (db: ClientBase, events: readonly RecordedEvent[]): Promise<SetUp> => {
  await db.query(sql`select pg_advisory_xact_lock_shared(${lock})`)
  const [first] = events
  if (!first) return { known: [], changes: [] }
  const found = await findSetUp(db, events.map(organisationOf), first.position)
  return {
    known: found.filter(({ position }) => position < first.position),
    changes: found
      .filter(({ position }) => position >= first.position)
      .map(({ position, ...after }): SetUpChange => ({ position, after })),
  }
}

type Learning = { readonly pool: Pool; readonly capabilities: Capabilities; readonly source: Source }

/** True where an event sets something up that planning must know. */
export const isSetUp = ({ actions, connections }: Capabilities) => {
  const { types } = plannedFrom({ subjects: [], actions, connections })
  return ({ type }: Pick<RecordedEvent, 'type'>): boolean => types.includes(type)
}

/**
 * Learns what these events set up, each from its position on, and cancels what waits because of earlier ones. Repeated, it
 * changes nothing. What it cannot learn it gives back.
 */
export const learnSetUp = async (
  { pool, capabilities, source }: Learning,
  events: readonly RecordedEvent[],
): Promise<readonly Unhandled[]> => {
  const [first] = events
  if (!first) return []
  return transaction(pool, async (db) => {
    await changingSetUp(db)
    await planningFrom(db, source)
    const before = await findSetUp(db, events.map(organisationOf), first.position)
    const knowledge = makeKnowledge(
      capabilities,
      before.filter(({ position }) => position < first.position),
    )
    const unhandled: Unhandled[] = []
    const changes: SetUpChange[] = []
    for (const event of events)
      try {
        changes.push({ position: event.position, after: knowledge.learn(event) })
      } catch (error) {
        if (isRetriable(error)) throw error
        unhandled.push({ event, error })
      }
    await saveChanges(db, changes)
    for (const { position, after } of changes)
      for (const cancellation of cancellationsBy(capabilities, after, position)) await cancel(db, cancellation)
    await forgetStandings(
      db,
      changes.flatMap(({ after }) => (after.kind === 'connection' ? [after.id] : [])),
    )
    return unhandled
  })
}

/** Keeps the changes, and what is set up now for those who send. */
const saveChanges = async (db: ClientBase, changes: readonly SetUpChange[]): Promise<void> => {
  if (changes.length === 0) return
  const rows = changes.map(({ position, after }) => ({ ...after, position, facts: JSON.stringify(after.facts) }))
  await db.query(sql`
    insert into delivery_set_up (organisation_id, kind, id, position, type, facts)
    select organisation_id, kind, id, position, type, facts::json
    from json_to_recordset(${JSON.stringify(rows)})
      as changed (organisation_id uuid, kind text, id uuid, position text, type text, facts text)
    on conflict (organisation_id, kind, id, position) do nothing`)
  const ids = changes.map(({ after }) => after.id)
  const organisations = changes.map(({ after }) => after.organisation_id)
  await db.query(sql`
    insert into delivery_known (kind, type, id, organisation_id, facts)
    select distinct on (kind, id) kind, type, id, organisation_id, facts from delivery_set_up
    where organisation_id = any (${organisations}::uuid[]) and id = any (${ids}::uuid[])
    order by kind, id, position desc
    on conflict (kind, id) do update set facts = excluded.facts, learned_at = now()`)
}
