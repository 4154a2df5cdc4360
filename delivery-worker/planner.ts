import type { ClientBase } from 'pg'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { concernsOf, plannedFrom, type Known } from './known.ts'
import { makePlan } from './plan.ts'
import { cancel, enqueue } from './queue.ts'

export type PlannerParts = ConsumerParts & {
  readonly now: () => Date
  /** Called when in a moment there will be something to send. */
  readonly onPlanned: () => void
}

/**
 * Plans deliveries from the log. What was planned, what was learnt and how far it came are written together, so that a
 * planner that is killed neither loses a delivery nor plans one twice.
 */
export const startPlanner = ({ now, onPlanned, ...parts }: PlannerParts): Consuming =>
  consume({
    ...parts,
    name: 'deliveries',
    version: 1,
    restMs: 25,
    ...plannedFrom,
    handle: async (events, db) => {
      const { deliveries, cancellations, learnt } = makePlan(await recall(db, concernsOf(events)), events)
      for (const cancellation of cancellations) await cancel(db, cancellation, now())
      await enqueue(db, deliveries, now())
      await remember(db, learnt)
      if (deliveries.length > 0) onPlanned()
    },
  })

const recall = async (
  db: ClientBase,
  { ids, organisations }: ReturnType<typeof concernsOf>,
): Promise<readonly Known[]> => {
  const { rows } = await db.query<Known>(sql`
    select kind, id, organisation_id, fact from delivery_known where kind = 'subject' and id = any (${ids}::uuid[])
    union all
    select kind, id, organisation_id, fact from delivery_known
    where kind <> 'subject' and organisation_id = any (${organisations}::uuid[])`)
  return rows
}

const remember = async (db: ClientBase, learnt: readonly Known[]): Promise<void> => {
  const rows = learnt.map((each) => ({ ...each, fact: JSON.stringify(each.fact) }))
  await db.query(sql`
    insert into delivery_known (kind, id, organisation_id, fact)
    select kind, id, organisation_id, fact::json
    from json_to_recordset(${JSON.stringify(rows)}) as learnt (kind text, id uuid, organisation_id uuid, fact text)
    on conflict (kind, id) do update set fact = excluded.fact`)
}
