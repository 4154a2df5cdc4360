import type { Json, RecordedEvent } from '#domain/event.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import { derivedId } from '#infra/ids.ts'
import { lifecycleOf, makeKnowledge, organisationOf, type Known, type KnownAction, type Knowledge } from './known.ts'
import type { Facts } from './lifecycle/lifecycle.ts'

/** What is settled about a webhook when its event happened. The snapshot is added whenever it is sent. */
export type Message = {
  readonly id: string
  readonly type: LifecycleEventType
  readonly occurred_at: string
  readonly aggregate: { readonly type: string; readonly id: string }
  readonly payload: Json
  readonly product_id: string
  readonly organization_id: string
}

export type CancelReason = 'action_removed' | 'action_inactive' | 'connection_removed' | 'organisation_inactive'

export type PlannedDelivery = {
  /** Also the Idempotency-Key: one event and one action make one delivery, however often they are planned. */
  readonly id: string
  readonly organisation_id: string
  readonly event_id: string
  readonly action_id: string
  readonly connection_id: string
  readonly type: LifecycleEventType
  readonly position: string
  readonly application_id: string
  readonly quote_id: string | null
  readonly message: Message
  /** Why it will not be sent after all. */
  readonly cancelled: CancelReason | null
}

/** Whatever waits for an action, over a connection or for an organisation is not sent. */
export type Cancellation = {
  readonly of: 'action' | 'connection' | 'organisation'
  readonly id: string
  readonly organisation_id: string
  readonly reason: CancelReason
}

export type Plan = {
  readonly deliveries: readonly PlannedDelivery[]
  /** Of what was planned in earlier batches. */
  readonly cancellations: readonly Cancellation[]
  readonly learnt: readonly Known[]
}

/** What follows from a batch of events, in their order: an action is for the events after it, and for no earlier one. */
export const makePlan = (known: readonly Known[], batch: readonly RecordedEvent[]): Plan => {
  const knowledge = makeKnowledge(known)
  const cancellations: Cancellation[] = []
  let actions = knowledge.actions()
  let deliveries: PlannedDelivery[] = []

  for (const recorded of batch) {
    const lesson = knowledge.learn(recorded)
    if (lesson.kind === 'subject') {
      deliveries.push(...deliveriesOf(recorded, lesson.fact, actions, knowledge))
      continue
    }
    actions = knowledge.actions()
    const cancellation = cancellationBy(lesson)
    if (!cancellation) continue
    cancellations.push(cancellation)
    deliveries = deliveries.map((each) =>
      concerns(cancellation, each) ? { ...each, cancelled: each.cancelled ?? cancellation.reason } : each,
    )
  }
  return { deliveries, cancellations, learnt: knowledge.learnt() }
}

const cancellationBy = ({ kind, id, organisation_id, fact }: Known): Cancellation | undefined => {
  switch (kind) {
    case 'organisation':
      return fact.active ? undefined : { of: kind, id, organisation_id, reason: 'organisation_inactive' }
    case 'connection':
      return fact.removed ? { of: kind, id, organisation_id, reason: 'connection_removed' } : undefined
    case 'action':
      if (fact.removed) return { of: kind, id, organisation_id, reason: 'action_removed' }
      return fact.active ? undefined : { of: kind, id, organisation_id, reason: 'action_inactive' }
    case 'subject':
      return undefined
  }
}

const concerns = ({ of, id }: Cancellation, { action_id, connection_id, organisation_id }: PlannedDelivery): boolean =>
  id === { action: action_id, connection: connection_id, organisation: organisation_id }[of]

/** The deliveries of one event: one for each action that asks for it. */
const deliveriesOf = (
  recorded: RecordedEvent,
  facts: Facts,
  actions: readonly KnownAction[],
  knowledge: Knowledge,
): PlannedDelivery[] => {
  const lifecycle = lifecycleOf(recorded)
  if (!lifecycle) return []
  const organisation_id = organisationOf(recorded)
  const aggregate = { type: lifecycle.aggregate, id: lifecycle.idOf(recorded) }
  const { application_id, product_id } = facts
  const { type, payload } = lifecycle.tell(facts, recorded)
  const { occurred_at } = recorded.metadata
  const message = {
    id: recorded.id,
    type,
    occurred_at,
    aggregate,
    payload,
    product_id,
    organization_id: organisation_id,
  }

  return actions
    .filter((action) => action.organisation_id === organisation_id && asksFor(action.fact, message))
    .map(({ id: action_id, fact: { endpoint_connection_id: connection_id } }) => ({
      id: derivedId('delivery', organisation_id, recorded.id, action_id),
      organisation_id,
      event_id: recorded.id,
      action_id,
      connection_id,
      type,
      position: recorded.position,
      application_id,
      quote_id: aggregate.type === 'quote' ? aggregate.id : null,
      message,
      cancelled: whyNot(knowledge, organisation_id, connection_id),
    }))
}

const asksFor = ({ active, removed, product_id, event_types }: KnownAction['fact'], message: Message): boolean =>
  active && !removed && event_types.includes(message.type) && (product_id === null || product_id === message.product_id)

const whyNot = ({ find }: Knowledge, organisation_id: string, connection_id: string): CancelReason | null => {
  if (find('organisation', organisation_id)?.fact.active === false) return 'organisation_inactive'
  const connection = find('connection', connection_id)
  return !connection || connection.fact.removed ? 'connection_removed' : null
}
