import type { ClientBase, Pool } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Capabilities } from './capability.ts'
import { concernsOf, forgottenIn, plannedFrom, type Known } from './known.ts'
import { forgetStandings } from './endpoints.ts'
import { partitionsFor } from './partitions.ts'
import { makePlan, recalling } from './plan.ts'
import { findPlanning, isPlanned, untilDecided } from './planning.ts'
import { cancel, enqueue } from './queue.ts'

export type PlannerParts = ConsumerParts & {
  readonly capabilities: Capabilities
  /** Called when the operator must choose from where to send, and when that was done. */
  readonly onWaiting: (isWaiting: boolean) => void
  /** Called when in a moment there will be something to send. */
  readonly onPlanned: () => void
}

/**
 * Plans deliveries from the log. What was planned, what was learned and how far it came are written together, so that a
 * planner that is killed neither loses a delivery nor plans one twice.
 */
export const startPlanner = ({ capabilities, onPlanned, onWaiting, ...parts }: PlannerParts): Consuming => {
  const { pool, eventLog } = parts
  const ensurePartitions = partitionsFor(pool)
  return consume({
    ...parts,
    name: 'deliveries',
    version: 1,
    restMs: 25,
    ...plannedFrom(capabilities),
    prepare: () => untilDecided({ ...parts, capabilities, onWaiting }),
    // Reading the log may take long, and while a transaction has written, no reader of the log sees newer events.
    prepareFor: async (events) => {
      const again = await readAgain(eventLog, capabilities, await recall(pool, capabilities, events), events)
      return async (_events, db) => {
        const known = await recall(db, capabilities, events)
        const planning = await findPlanning(db)
        if (!planning) throw new OwnError('It is no longer decided from where deliveries are planned.')
        const plan = makePlan(capabilities, [...again, ...known], events)
        const deliveries = plan.deliveries.filter((each) => isPlanned(planning, each))
        await ensurePartitions(deliveries.map(({ recorded_at }) => recorded_at))
        for (const cancellation of plan.cancellations) await cancel(db, cancellation)
        await enqueue(db, deliveries)
        await remember(db, plan.learned)
        await forgetStandings(db, idsOf('connection', plan.learned))
        if (deliveries.length > 0) onPlanned()
      }
    },
  })
}

const idsOf = (kind: Known['kind'], known: readonly Known[]): string[] =>
  known.filter((each) => each.kind === kind).map(({ id }) => id)

const recall = async (
  db: Pool | ClientBase,
  capabilities: Capabilities,
  events: readonly RecordedEvent[],
): Promise<readonly Known[]> => {
  const { subjects, organisations } = concernsOf(capabilities, events)
  const { rows } = await db.query<Known>(sql`
    select kind, type, id, organisation_id, facts from delivery_known
    where kind = 'subject' and id = any (${subjects}::uuid[])
    union all
    select kind, type, id, organisation_id, facts from delivery_known
    where kind <> 'subject' and organisation_id = any (${organisations}::uuid[])`)
  return rows
}

const pageSize = 200

/**
 * What was forgotten of subjects about which nothing happened for long is read from the log again: each stream once, page
 * by page.
 */
const readAgain = async (
  eventLog: EventLog,
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

const remember = async (db: ClientBase, learned: readonly Known[]): Promise<void> => {
  const rows = learned.map((each) => ({ ...each, facts: JSON.stringify(each.facts) }))
  await db.query(sql`
    insert into delivery_known (kind, type, id, organisation_id, facts)
    select kind, type, id, organisation_id, facts::json
    from json_to_recordset(${JSON.stringify(rows)})
      as learned (kind text, type text, id uuid, organisation_id uuid, facts text)
    on conflict (kind, id) do update set facts = excluded.facts, learned_at = now()`)
}
