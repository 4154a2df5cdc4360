import type { ClientBase, Pool } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Capabilities } from './capability.ts'
import { concernsOf, forgottenIn, type Known } from './known.ts'
import { recalling } from './plan.ts'

/** What is remembered of the subjects of a batch. */
export const recallSubjects = async (
  db: Pool | ClientBase,
  capabilities: Capabilities,
  events: readonly RecordedEvent[],
): Promise<readonly Known[]> => {
  const { subjects } = concernsOf(capabilities, events)
  if (subjects.length === 0) return []
  // One after the other through the index, whichever size the planner assumes of the table.
  const { rows } = await db.query<Known>(sql`
    select found.* from unnest(${subjects}::uuid[]) as wanted (id) cross join lateral (
      select kind, type, id, organisation_id, facts, stream, revision from delivery_known as known
      where known.kind = 'subject' and known.id = wanted.id limit 1) as found`)
  return rows
}

/** What the organisations of a batch have set up. */
export const recallSetUp = async (
  db: Pool | ClientBase,
  capabilities: Capabilities,
  events: readonly RecordedEvent[],
): Promise<readonly Known[]> => {
  const { rows } = await db.query<Known>(sql`
    select kind, type, id, organisation_id, facts from delivery_known
    where kind <> 'subject' and organisation_id = any (${concernsOf(capabilities, events).organisations}::uuid[])`)
  return rows
}

const pageSize = 200

/**
 * What was forgotten of subjects about which nothing happened for long is read from the log again: each stream once, page
 * by page.
 */
export const readAgain = async (
  eventLog: Pick<EventLog, 'read'>,
  capabilities: Capabilities,
  known: readonly Known[],
  events: readonly RecordedEvent[],
): Promise<readonly Known[]> => {
  const found: Known[] = []
  const byStream = Map.groupBy(forgottenIn(capabilities, known, events), ({ stream }) => stream)
  for (const [stream, forgotten] of byStream) {
    const subjects = forgotten.map((event) => recalling(capabilities, event))
    const end = Math.max(...forgotten.map(({ revision }) => revision))
    for (let from = 0; from < end; from += pageSize) {
      const page = await eventLog.read(stream, { from, limit: Math.min(pageSize, end - from) })
      for (const recorded of page) for (const subject of subjects) subject.take(recorded)
      if (page.length === 0) break
    }
    found.push(...subjects.flatMap(({ known: recalled }) => recalled() ?? []))
  }
  return found
}

export const remember = async (db: ClientBase, learned: readonly Known[]): Promise<void> => {
  if (learned.length === 0) return
  const rows = learned.map((each) => ({ ...each, facts: JSON.stringify(each.facts) }))
  await db.query(sql`
    insert into delivery_known (kind, type, id, organisation_id, facts, stream, revision)
    select kind, type, id, organisation_id, facts::json, stream, revision
    from json_to_recordset(${JSON.stringify(rows)})
      as learned (kind text, type text, id uuid, organisation_id uuid, facts text, stream text, revision integer)
    on conflict (kind, id) do update set
      facts = excluded.facts, stream = excluded.stream, revision = excluded.revision, learned_at = now()`)
}
