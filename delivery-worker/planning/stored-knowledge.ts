import type { ClientBase, Pool } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import type { Sender } from '#infra/consumers/consumer-type.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { jsons, texts, uuids } from '#infra/postgres/arrays.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Capabilities } from '../capability.ts'
import { neededFor, forgottenSubjects, type SetUpRecord } from './knowledge.ts'
import { recalling } from './plan.ts'

/** The facts remembered of the subjects of a batch. */
export const readSubjects = async (
  db: Pool | ClientBase,
  capabilities: Capabilities,
  events: readonly RecordedEvent[],
): Promise<readonly SetUpRecord[]> => {
  const { subjects } = neededFor(capabilities, events)
  if (subjects.length === 0) return []
  // One after the other through the index, whichever size the planner assumes of the table.
  const { rows } = await db.query<SetUpRecord>(sql`
    select found.* from unnest(${subjects}::uuid[]) as wanted (id) cross join lateral (
      select kind, type, id, organisation_id, facts, stream, revision from delivery_known as known
      where known.kind = 'subject' and known.id = wanted.id limit 1) as found`)
  return rows
}

/** The set-up of a batch's organisations. */
export const readSetUp = async (
  db: Pool | ClientBase,
  capabilities: Capabilities,
  events: readonly RecordedEvent[],
): Promise<readonly SetUpRecord[]> => {
  const { rows } = await db.query<SetUpRecord>(sql`
    select kind, type, id, organisation_id, facts from delivery_known
    where kind <> 'subject' and organisation_id = any (${neededFor(capabilities, events).organisations}::uuid[])`)
  return rows
}

const pageSize = 200

/**
 * Facts forgotten of subjects about which nothing happened for long are read from the log again: each stream once, page by
 * page.
 */
export const readAgain = async (
  eventLog: Pick<EventLog, 'read'>,
  capabilities: Capabilities,
  known: readonly SetUpRecord[],
  events: readonly RecordedEvent[],
): Promise<readonly SetUpRecord[]> => {
  const found: SetUpRecord[] = []
  const byStream = Map.groupBy(forgottenSubjects(capabilities, known, events), ({ stream }) => stream)
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

export const remember = async (db: Sender, learned: readonly SetUpRecord[]): Promise<void> => {
  if (learned.length === 0) return
  const last = (each: SetUpRecord) => (each.kind === 'subject' ? each : undefined)
  await db.query({
    name: 'delivery-remember',
    text: `
      insert into delivery_known (kind, type, id, organisation_id, facts, stream, revision)
      select kind, type, id, organisation_id, facts, stream, revision::integer
      from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::json[], $6::text[], $7::text[])
        as learned (kind, type, id, organisation_id, facts, stream, revision)
      on conflict (kind, id) do update set
        facts = excluded.facts, stream = excluded.stream, revision = excluded.revision, learned_at = now()`,
    values: [
      texts(learned.map(({ kind }) => kind)),
      texts(learned.map(({ type }) => type)),
      uuids(learned.map(({ id }) => id)),
      uuids(learned.map(({ organisation_id }) => organisation_id)),
      jsons(learned.map(({ facts }) => JSON.stringify(facts))),
      texts(learned.map((each) => last(each)?.stream ?? null)),
      texts(learned.map((each) => last(each)?.revision?.toString() ?? null)),
    ],
  })
}
