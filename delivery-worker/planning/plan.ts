import { organisationOf, type Json, type RecordedEvent } from '#domain/event.ts'
import { derivedId } from '#infra/ids.ts'
import { kindNamed, kindOf, type Capabilities, type Happening, type SubjectKind } from '../capability.ts'
import { makeKnowledge, type SetUpRecord, type ActionRecord, type Knowledge } from './knowledge.ts'

export type CancelReason = 'action_removed' | 'action_inactive' | 'connection_removed' | 'organisation_inactive'

export type PlannedDelivery = {
  /** Also the Idempotency-Key: one event and one action make one delivery, however often they are planned. */
  readonly id: string
  /** The time at which the log recorded the event: the same however often it is planned, so that it is part of the unique key. */
  readonly recorded_at: string
  readonly organisation_id: string
  readonly event_id: string
  readonly action_id: string
  readonly connection_id: string
  readonly type: string
  readonly stream: string
  readonly position: string
  /** The revision of the event in its stream: the order of what is sent about one record. */
  readonly sequence: number
  readonly subject_type: string
  readonly subject_id: string
  /** The read models that must have passed the event, and not have set its record aside, before it is sent. */
  readonly waits_for: readonly string[]
  /** The body, to which the snapshot is added whenever it is sent. */
  readonly message: Json
  /** The reason why it will not be sent after all. */
  readonly cancelled: CancelReason | null
}

/** Deliveries that wait for an action, a connection or an organisation, because of earlier events, are not sent. */
export type Cancellation = {
  readonly of: 'action' | 'connection' | 'organisation'
  readonly id: string
  readonly organisation_id: string
  readonly reason: CancelReason
  /** The position in the log of that decision: deliveries planned because of later events are sent. */
  readonly position: string
}

/** A change to an organisation's set-up, from a position of the log on. */
export type SetUpChange = { readonly position: string; readonly after: SetUpRecord }

/** The set-up at the beginning of a batch, and the later changes. */
export type SetUp = { readonly known: readonly SetUpRecord[]; readonly changes: readonly SetUpChange[] }

export type Plan = {
  readonly deliveries: readonly PlannedDelivery[]
  /** Cancels deliveries that earlier batches planned. */
  readonly cancellations: readonly Cancellation[]
  readonly learned: readonly SetUpRecord[]
}

/**
 * The plan for a batch of events, in their order: an action is for the events after it, and for no earlier one. `changes` are
 * set up by events that are not part of the batch, in the order of the log; some may come after the batch.
 */
export const makePlan = (
  capabilities: Capabilities,
  known: readonly SetUpRecord[],
  batch: readonly RecordedEvent[],
  changes: readonly SetUpChange[] = [],
): Plan => {
  const knowledge = makeKnowledge(capabilities, known)
  const cancellations: Cancellation[] = []
  let actions = knowledge.actions()
  let deliveries: PlannedDelivery[] = []

  const setUp = (after: SetUpRecord, position: string): readonly Cancellation[] => {
    actions = knowledge.actions()
    const cancelling = cancellationsBy(capabilities, after, position)
    for (const cancellation of cancelling)
      deliveries = deliveries.map((each) =>
        concerns(cancellation, each) ? { ...each, cancelled: each.cancelled ?? cancellation.reason } : each,
      )
    return cancelling
  }
  let taken = 0
  const takeChanges = (upTo?: string) => {
    for (; taken < changes.length; taken++) {
      const change = changes[taken]
      if (!change || (upTo !== undefined && change.position > upTo)) return
      knowledge.take(change.after)
      setUp(change.after, change.position)
    }
  }

  for (const recorded of batch) {
    takeChanges(recorded.position)
    if (knowledge.hasTaken(recorded)) continue
    const after = knowledge.learn(recorded)
    if (after.kind === 'subject') {
      const subject = kindNamed(capabilities.subjects, after.type)
      deliveries.push(...deliveriesOf(capabilities, subject, recorded, after.facts, actions, knowledge))
      continue
    }
    cancellations.push(...setUp(after, recorded.position))
  }
  takeChanges()
  return { deliveries, cancellations, learned: knowledge.learned() }
}

/** The cancellations that follow from the new state of something set up. */
export const cancellationsBy = (
  capabilities: Capabilities,
  after: SetUpRecord,
  position: string,
): readonly Cancellation[] => {
  const { id, organisation_id } = after
  switch (after.kind) {
    case 'organisation':
      return after.facts.active
        ? []
        : [{ of: 'organisation', id, organisation_id, position, reason: 'organisation_inactive' }]
    case 'connection':
      return after.facts.removed
        ? [{ of: 'connection', id, organisation_id, position, reason: 'connection_removed' }]
        : []
    case 'action':
      return endedActions(capabilities, after).map((ended) => ({ of: 'action', ...ended, organisation_id, position }))
    case 'subject':
      return []
  }
}

/** The actions for which nothing is sent any more. */
const endedActions = (
  { actions }: Capabilities,
  { type, facts, id: streamId }: ActionRecord,
): readonly Pick<Cancellation, 'id' | 'reason'>[] => {
  const kind = kindNamed(actions, type)
  const ids = kind.parts(facts, streamId).map(({ action_id }) => action_id)
  const removed = facts.removed ? [...ids, ...kind.removedParts(facts)] : kind.removedParts(facts)
  const inactive = facts.removed || facts.active ? [] : ids
  return [
    ...removed.map((id) => ({ id, reason: 'action_removed' }) as const),
    ...inactive.map((id) => ({ id, reason: 'action_inactive' }) as const),
  ]
}

const concerns = (
  { of, id, position: decidedAt }: Cancellation,
  { action_id, connection_id, organisation_id, position }: PlannedDelivery,
): boolean =>
  position < decidedAt && id === { action: action_id, connection: connection_id, organisation: organisation_id }[of]

/** The deliveries of one event: one for each part of each action that asks for it. */
const deliveriesOf = (
  capabilities: Capabilities,
  subject: SubjectKind,
  recorded: RecordedEvent,
  facts: Json,
  actions: readonly ActionRecord[],
  knowledge: Knowledge,
): PlannedDelivery[] => {
  const { id: event_id, stream, position, revision, recorded_at } = recorded
  const organisation_id = organisationOf(recorded)
  const published = subject.happening(facts, recorded)
  if (!published) return []
  const { type, payload, aggregate, alsoWaitsFor = [] } = published
  const happening: Happening = {
    type,
    payload,
    event_id,
    organisation_id,
    occurred_at: recorded.metadata.occurred_at,
    subject: { type: subject.type, id: subject.idOf(recorded) },
    ...(aggregate && { aggregate }),
    facts,
  }

  return actions
    .filter((action) => action.organisation_id === organisation_id && action.facts.active && !action.facts.removed)
    .flatMap((action) => {
      const kind = kindNamed(capabilities.actions, action.type)
      if (!kind.asksFor(action.facts, happening)) return []
      return kind.parts(action.facts, action.id).map(({ action_id, connection_id, settled }) => ({
        id: derivedId('delivery', organisation_id, event_id, action_id),
        recorded_at: recorded_at.toISOString(),
        organisation_id,
        event_id,
        action_id,
        connection_id,
        type: happening.type,
        stream,
        position,
        sequence: revision,
        subject_type: happening.subject.type,
        subject_id: happening.subject.id,
        waits_for: [...subject.readModels, ...alsoWaitsFor],
        message: { ...kind.message(action.facts, happening), ...settled },
        cancelled: whyNot(knowledge, organisation_id, connection_id),
      }))
    })
}

const whyNot = ({ find }: Knowledge, organisation_id: string, connection_id: string): CancelReason | null => {
  if (find('organisation', organisation_id)?.facts.active === false) return 'organisation_inactive'
  const connection = find('connection', connection_id)
  return !connection || connection.facts.removed ? 'connection_removed' : null
}

const notPlanned = { stream: null, revision: null }

/** Folds what was forgotten of the subject of an event from the earlier events of its stream, as they are read. */
export const recalling = ({ subjects }: Capabilities, event: RecordedEvent) => {
  const subject = kindOf(subjects, event)
  const id = subject?.idOf(event)
  let facts: Json | undefined
  return {
    take: (earlier: RecordedEvent): void => {
      if (!subject || earlier.revision >= event.revision || kindOf(subjects, earlier) !== subject) return
      if (subject.idOf(earlier) === id) facts = subject.remember(facts, earlier)
    },
    known: (): SetUpRecord | undefined =>
      subject && facts && id !== undefined
        ? { kind: 'subject', type: subject.type, id, organisation_id: organisationOf(event), facts, ...notPlanned }
        : undefined,
  }
}
