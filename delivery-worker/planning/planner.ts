import type { ClientBase, Pool } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { InTransaction } from '#infra/consumers/consumer-type.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Capabilities } from '../capability.ts'
import { forgetStandings } from '../endpoints/endpoints.ts'
import { forgottenSubjects, plannedFrom, type SetUpRecord } from './knowledge.ts'
import { readAgain, readSetUp, readSubjects, remember } from './stored-knowledge.ts'
import { partitionsFor } from '../recovery/partitions.ts'
import { makePlan, type SetUp } from './plan.ts'
import { fromLog, isPlanned, planningFrom, untilDecided, type Source } from './planning.ts'
import { isSetUp, setUpFrom } from './set-up.ts'
import { cancel, enqueue } from '../sending/queue.ts'

export type PlannerParts = ConsumerParts & {
  readonly capabilities: Capabilities
  /** Called when the operator must choose from where to send, and when that was done. */
  readonly onWaiting: (isWaiting: boolean) => void
  /** Called when there is something to send. */
  readonly onPlanned: () => void
  /** Waits until deliveries are planned from the source of this planner. */
  readonly untilOwn: () => Promise<void>
}

type Planning = {
  readonly pool: Pool
  readonly eventLog: Pick<EventLog, 'read'>
  readonly capabilities: Capabilities
  readonly source: Source
  readonly onPlanned: () => void
  readonly setUpOf: (db: ClientBase, events: readonly RecordedEvent[], knownUpTo: string) => Promise<SetUp>
  /** Further writes in the transaction of a batch. */
  readonly alsoWrite?: (db: ClientBase, events: readonly RecordedEvent[]) => Promise<void>
}

export const planner = { name: 'deliveries', version: 1 }

/**
 * Plans deliveries from the log. What was planned, what was learned and how far it came are written together, so that a
 * planner that is killed neither loses a delivery nor plans one twice.
 */
export const startPlanner = ({ capabilities, onPlanned, onWaiting, untilOwn, ...parts }: PlannerParts): Consuming =>
  consume({
    ...parts,
    ...planner,
    ...plannedFrom(capabilities),
    restMs: 200,
    prepare: async () => {
      await untilDecided({ ...parts, capabilities, onWaiting })
      await untilOwn()
    },
    prepareFor: planningOf({
      ...parts,
      capabilities,
      onPlanned,
      source: fromLog,
      setUpOf: async (db, events, knownUpTo) => {
        const [first] = events
        return first && first.position <= knownUpTo
          ? setUpFrom(db, events)
          : { known: await readSetUp(db, capabilities, events), changes: [] }
      },
    }),
  })

/** Plans a batch: what is read for it before its transaction, and what is done in it. */
export const planningOf = (parts: Planning): Extract<InTransaction, { prepareFor: unknown }>['prepareFor'] => {
  const { pool, eventLog, capabilities, source, onPlanned, setUpOf, alsoWrite } = parts
  const ensurePartitions = partitionsFor(pool)
  const setsUp = isSetUp(capabilities)
  // Reading the log may take long, and while a transaction has written, no reader of the log sees newer events.
  return async (events) => {
    const known = await readSubjects(pool, capabilities, forgottenSubjects(capabilities, [], events))
    const again = await readAgain(eventLog, capabilities, known, events)
    return async (_events, db, last) => {
      const planning = await planningFrom(db, source)
      if (!planning) throw new OwnError('It is no longer decided from where deliveries are planned.')
      const knownUpTo = planning.set_up_to ?? ''
      const setUp = await setUpOf(db, events, knownUpTo)
      const known = [...again, ...setUp.known, ...(await readSubjects(db, capabilities, events))]
      const own = events.filter((event) => event.position > knownUpTo || !setsUp(event))
      const plan = makePlan(capabilities, known, own, setUp.changes)
      const deliveries = plan.deliveries.filter((each) => isPlanned(planning, each))
      await ensurePartitions(deliveries.map(({ recorded_at }) => recorded_at))
      for (const cancellation of plan.cancellations) await cancel(db, cancellation)
      await enqueue(db, deliveries)
      await remember(last, plan.learned)
      await forgetStandings(db, idsOf('connection', plan.learned))
      await alsoWrite?.(db, events)
      return deliveries.length > 0 ? onPlanned : undefined
    }
  }
}

const idsOf = (kind: SetUpRecord['kind'], known: readonly SetUpRecord[]): string[] =>
  known.filter((each) => each.kind === kind).map(({ id }) => id)
