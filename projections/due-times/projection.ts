import {
  abandonedFrom,
  applicationStreamEvents,
  isActivity,
  isMarketEvent,
  type ApplicationStreamEvent,
} from '#domain/applications/record.ts'
import { idOf, organisationOf, type RecordedEvent } from '#domain/event.ts'
import { complaintEvents, type ComplaintEvent } from '#domain/complaints/events.ts'
import { proposalEvents, type ProposalEvent } from '#domain/approvals/events.ts'
import { ingestEvents, type IngestEvent } from '#domain/ingests/events.ts'
import { membershipEvents, type MembershipEvent } from '#domain/loyalty/events.ts'
import { leadEvents, type LeadEvent } from '#domain/leads/events.ts'
import type { MarketQuoteEvent } from '#domain/market-quotes/events.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { premiumEvents, type PremiumEvent } from '#domain/premiums/events.ts'
import { quoteEvents, type QuoteEvent } from '#domain/quotes/events.ts'
import { cardPaymentTimers, type TimerKind } from '#domain/timer-kinds.ts'
import type { Projection } from '../projection.ts'
import { leadDueTimes } from './leads.ts'
import { complaintDueTime } from './complaints.ts'
import { isOfProposal, proposalDueTime } from './approvals.ts'
import { cardPaymentDue, isCardEvent, isCardPaymentKind } from './card-payments.ts'
import { paymentStreamEvents, type PaymentStreamEvent } from '#domain/payments/events.ts'
import { isOfPayment, paymentDueTime } from './payments.ts'
import { policyDueTimes } from './policies.ts'
import { premiumDueTimes } from './premiums.ts'
import { isOfOutreach, outreachDueEvents, outreachDueTime, outreachTimers, type OutreachDueEvent } from './outreach.ts'
import type { Row } from './row.ts'

const { IngestDeferred, IngestRetried, IngestFailed } = ingestEvents

const { MembershipConfirmed, CycleStarted, MembershipCancelled } = membershipEvents
const cycleEvents = { MembershipConfirmed, CycleStarted, MembershipCancelled }

const dueTimeEvents = {
  ...applicationStreamEvents,
  ...policyEvents,
  ...premiumEvents,
  ...paymentStreamEvents,
  ...leadEvents,
  ...cycleEvents,
  ...outreachDueEvents,
  ...complaintEvents,
  ...proposalEvents,
  IngestDeferred,
  IngestRetried,
  IngestFailed,
}

type OfIngest = Extract<IngestEvent, { type: 'IngestDeferred' | 'IngestRetried' | 'IngestFailed' }>
type OfCycle = Extract<MembershipEvent, { type: keyof typeof cycleEvents }>
type DueEvent =
  | PaymentStreamEvent
  | ApplicationStreamEvent
  | PolicyEvent
  | PremiumEvent
  | LeadEvent
  | OfIngest
  | OfCycle
  | OutreachDueEvent
  | ComplaintEvent
  | ProposalEvent

const isOfPremium = (event: DueEvent): event is PremiumEvent => event.type in premiumEvents
const isOfPolicy = (event: DueEvent): event is PolicyEvent => event.type in policyEvents

const isOfLead = (event: DueEvent): event is LeadEvent => event.type in leadEvents
const isOfComplaint = (event: DueEvent): event is ComplaintEvent => event.type in complaintEvents
const isOfCycle = (event: DueEvent): event is OfCycle => event.type in cycleEvents

/** The timers and their due times. A row goes when its event has happened, or can happen no more. */
export const dueTimes: Projection<typeof dueTimeEvents, Row, 'organisation_id' | 'kind' | 'id'> = {
  name: 'due_times',
  version: 25,
  categories: [
    'application',
    'policy',
    'payment',
    'lead',
    'ingest',
    'membership',
    'outreach',
    'outreach_person',
    'complaint',
    'proposal',
  ],
  events: dueTimeEvents,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      kind: 'text',
      id: 'uuid',
      stream: 'text',
      event_id: 'uuid',
      due_at: 'timestamptz',
      after_days: 'integer',
    },
    key: ['organisation_id', 'kind', 'id'],
    indexes: ['due_at, organisation_id, kind, id', 'organisation_id, event_id'],
  },

  keys: (event, recorded) => {
    const organisation_id = organisationOf(recorded)
    if (isOfPayment(event)) return [{ organisation_id, kind: 'payment', id: event.payment_id }]
    if (isOfProposal(event)) return [{ organisation_id, kind: 'proposal_expiry', id: idOf(recorded.stream) }]
    if (isOfOutreach(event)) return outreachTimers(event, recorded).map((timer) => ({ organisation_id, ...timer }))
    if (isOfPremium(event))
      return premiumTimesOf(event, recorded).map(({ kind, id }) => ({ organisation_id, kind, id }))
    if (isOfLead(event) || isOfPolicy(event)) {
      const kinds = Object.keys(timesOf(event, recorded.metadata.occurred_at)) as TimerKind[] // its own keys
      return kinds.map((kind) => ({ organisation_id, kind, id: idOf(recorded.stream) }))
    }
    if (isOfIngest(event)) return [{ organisation_id, kind: 'ingest_retry', id: idOf(recorded.stream) }]
    if (isOfCycle(event)) return [{ organisation_id, kind: 'membership_cycle', id: idOf(recorded.stream) }]
    if (isOfComplaint(event)) return [{ organisation_id, kind: 'complaint_overdue', id: idOf(recorded.stream) }]
    const inactivity = { organisation_id, kind: 'application_inactivity', id: idOf(recorded.stream) } as const
    if (isMarketEvent(event))
      return [...searchesOf(event).map((id) => ({ organisation_id, kind: 'market_search' as const, id })), inactivity]
    if (isCardEvent(event))
      return [...cardPaymentTimers.map((kind) => ({ organisation_id, kind, id: event.payment_id })), inactivity]
    return isQuoteEvent(event)
      ? [{ organisation_id, kind: 'quote_expiry', id: event.quote_id }, inactivity]
      : [inactivity]
  },

  project: (row, event, recorded, key) => {
    const { stream, id: event_id } = recorded
    const { occurred_at } = recorded.metadata
    const dueKey = { ...key, stream, event_id }
    if (isOfPayment(event)) {
      const due_at = paymentDueTime(event, occurred_at)
      if (due_at === undefined) return row
      return due_at === null ? undefined : { ...dueKey, due_at, after_days: null }
    }
    if (isOfProposal(event)) {
      const due_at = proposalDueTime(event)
      return due_at === null ? undefined : { ...dueKey, due_at, after_days: null }
    }
    if (isOfPremium(event)) {
      const due_at = premiumTimesOf(event, recorded).find(({ kind, id }) => kind === key.kind && id === key.id)?.due_at
      return due_at ? { ...dueKey, due_at, after_days: null } : undefined
    }
    if (isOfOutreach(event)) {
      const due_at = outreachDueTime(event, occurred_at)
      if (due_at === undefined) return row
      return due_at === null ? undefined : { ...dueKey, due_at, after_days: null }
    }
    if (isOfLead(event) || isOfPolicy(event)) {
      const due_at = timesOf(event, occurred_at)[key.kind] ?? null
      return due_at === null ? undefined : { ...dueKey, due_at, after_days: null }
    }
    if (isOfIngest(event)) return ingestRetry(event, dueKey)
    if (isOfCycle(event)) {
      // A cancelled membership has no further cycles.
      if (event.type === 'MembershipCancelled') return undefined
      return { ...dueKey, due_at: event.cycle_over_at, after_days: null }
    }
    if (isOfComplaint(event)) {
      const due_at = complaintDueTime(event)
      if (due_at === undefined) return row
      return due_at === null ? undefined : { ...dueKey, due_at, after_days: null }
    }
    if (key.kind === 'quote_expiry') return quoteExpiry(row, event, dueKey)
    if (key.kind === 'market_search') return marketSearch(row, event, dueKey, occurred_at)
    if (isCardEvent(event) && isCardPaymentKind(key.kind))
      return cardPaymentDue(key.kind, row, event, dueKey, occurred_at)
    return inactivity(row, event, dueKey, occurred_at)
  },
}

const premiumTimesOf = (event: PremiumEvent, { stream, metadata: { occurred_at } }: RecordedEvent) =>
  premiumDueTimes(event, idOf(stream), occurred_at)

/** Due times by the kind of the timer; null: due no more. */
const timesOf = (
  event: LeadEvent | PolicyEvent,
  occurred_at: string,
): Readonly<Partial<Record<TimerKind, string | null>>> =>
  isOfPolicy(event) ? policyDueTimes(event, occurred_at) : leadDueTimes(event)

type DueKey = Omit<Row, 'due_at' | 'after_days'>

const isQuoteEvent = (event: ApplicationStreamEvent): event is QuoteEvent => event.type in quoteEvents

const isOfIngest = (event: DueEvent): event is OfIngest =>
  event.type === 'IngestDeferred' || event.type === 'IngestRetried' || event.type === 'IngestFailed'

const ingestRetry = (event: OfIngest, dueKey: DueKey): Row | undefined =>
  event.type === 'IngestDeferred' ? { ...dueKey, due_at: event.retry_after, after_days: null } : undefined

const searchesOf = (event: MarketQuoteEvent): readonly string[] =>
  event.type === 'MarketSearchRequested' && event.replaces !== null
    ? [event.request_id, event.replaces]
    : [event.request_id]

/** A search is due as long as it is under way. */
const marketSearch = (
  row: Row | undefined,
  event: ApplicationStreamEvent,
  dueKey: DueKey,
  occurred_at: string,
): Row | undefined => {
  if (event.type === 'MarketSearchRequested')
    return event.request_id === dueKey.id ? { ...dueKey, due_at: occurred_at, after_days: null } : undefined
  return event.type === 'MarketSearchCompleted' || event.type === 'MarketSearchFailed' ? undefined : row
}

const quoteExpiry = (row: Row | undefined, event: ApplicationStreamEvent, dueKey: DueKey): Row | undefined => {
  if (event.type === 'QuoteIssued') return { ...dueKey, due_at: event.expires_at, after_days: null }
  return event.type === 'QuoteAccepted' ? row : undefined
}

const inactivity = (
  row: Row | undefined,
  event: ApplicationStreamEvent,
  dueKey: DueKey,
  occurred_at: string,
): Row | undefined => {
  if (isOpening(event)) {
    const { inactive_after_days } = event
    return { ...dueKey, due_at: inactiveFrom(occurred_at, inactive_after_days), after_days: inactive_after_days }
  }
  if (isClosing(event)) return undefined
  if (!row || !isActivity(event)) return row
  const due_at = inactiveFrom(occurred_at, row.after_days ?? 0)
  return due_at === row.due_at ? row : { ...row, due_at, event_id: dueKey.event_id }
}

const hourMs = 3_600_000

/** By the full hour: however much is done to an application within one, its row changes once. */
const inactiveFrom = (active_at: string, inactive_after_days: number): string =>
  new Date(Math.ceil(Date.parse(abandonedFrom(active_at, inactive_after_days)) / hourMs) * hourMs).toISOString()

const isOpening = (event: ApplicationStreamEvent) =>
  event.type === 'ApplicationStarted' ||
  event.type === 'ApplicationAccepted' ||
  event.type === 'ApplicationGivenBack' ||
  event.type === 'ApplicationReopened'

const isClosing = ({ type }: ApplicationStreamEvent): boolean =>
  type === 'ApplicationReferred' ||
  type === 'ApplicationDeclined' ||
  type === 'ApplicationPostponed' ||
  type === 'ApplicationAbandoned' ||
  type === 'ApplicationBound' ||
  type === 'ApplicationHandedOff'
