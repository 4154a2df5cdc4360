import { claimEvents, type ClaimEvent } from '../claims/events.ts'
import { evolveClaims, type Claim } from '../claims/record.ts'
import { premiumEvents, type PremiumEvent, type PremiumId, type PremiumRefundId } from '../premiums/events.ts'
import { evolvePremiums, refundable, type Premium } from '../premiums/record.ts'
import { dateIn } from '../time-zone.ts'
import { evolvePolicy, type PolicyRecord, type PolicyStreamEvent } from './record.ts'

/** A policy as the command side knows it: what is shown, and every premium and claim that there was. */
export type PolicyState = PolicyRecord & {
  readonly premiums: readonly Premium[]
  readonly claims: readonly Claim[]
  /** The opening event of each: decisions change the amount and the note. */
  readonly opened_claims: readonly ClaimOpened[]
  /** The premium, and the day, from which on cover has been paid for without a gap. */
  readonly paid_from: FromPremium
  /**
   * The premium from which on there is one a month as announced, and its collection date as long as the day does not change.
   */
  readonly collected_from: FromPremium
  /** The provider's ids of the payer, each once: another mandate may be another customer's there. */
  readonly provider_customers: readonly string[]
  /** When the mandate that could not be made is tried again. */
  readonly mandate_retry_at: string | null
  /** When each refund that could not be made is tried again. */
  readonly refund_retry_at: Readonly<Record<PremiumRefundId, string | null>>
  /** The operator's request for each refund: the sum still owed may be less by now. */
  readonly asked_refunds: Readonly<Record<PremiumRefundId, AskedRefund>>
  /** The provider's id of each attempt's payment, as far as it is recorded here. */
  readonly payment_intents: Readonly<Record<PremiumId, Readonly<Record<number, string>>>>
  /** The number of its events, by which whoever looks elsewhere names the version read. */
  readonly changes: number
  /** Periods without cover, between a lapse and its reinstatement. */
  readonly uncovered: readonly { readonly from: string; readonly until: string }[]
}

type ClaimOpened = Extract<ClaimEvent, { type: 'ClaimOpened' }>

/** `is_all`: it was all that was left of the premium then. */
type AskedRefund = { readonly refund_pence: number; readonly is_all: boolean; readonly note?: string | undefined }

type FromPremium = { readonly number: number; readonly date: string }

/** The number of the premium that is due next. */
export const nextNumber = ({ premiums, first_premium }: Pick<PolicyState, 'premiums' | 'first_premium'>): number =>
  (premiums.at(-1)?.number ?? (first_premium.method === 'card' ? 1 : 0)) + 1

export const isPremiumEvent = (event: PolicyStreamEvent): event is PremiumEvent => event.type in premiumEvents

export const isClaimEvent = (event: PolicyStreamEvent): event is ClaimEvent => event.type in claimEvents

export const evolvePolicyState = (
  state: PolicyState | undefined,
  event: PolicyStreamEvent,
  recorded: { readonly occurred_at: string },
): PolicyState | undefined => {
  const record = evolvePolicy(state, event, recorded)
  const premiums = state?.premiums ?? []
  const claims = state?.claims ?? []
  const opened_claims = state?.opened_claims ?? []
  return (
    record && {
      ...record,
      premiums: isPremiumEvent(event) ? evolvePremiums(premiums, event, recorded) : premiums,
      claims: isClaimEvent(event) ? evolveClaims(claims, event, recorded) : claims,
      opened_claims: event.type === 'ClaimOpened' ? [...opened_claims, event] : opened_claims,
      paid_from: paidFrom(state, event, recorded) ?? { number: 1, date: record.start_date },
      collected_from: collectedFrom(state, event) ?? {
        number: nextNumber({ premiums: [], first_premium: record.first_premium }),
        date: (event.type === 'PolicyBound' ? event.collected_from : undefined) ?? record.first_collection_on,
      },
      provider_customers: providerCustomers(state, record),
      mandate_retry_at: mandateRetryAt(state, event),
      refund_retry_at: refundRetryAt(state, event),
      asked_refunds: askedRefunds(state, event),
      payment_intents: paymentIntents(state, event),
      changes: (state?.changes ?? 0) + 1,
      uncovered: uncovered(state, event, recorded),
    }
  )
}

/** The time between a lapse and what reinstated it was not covered: the next premium pays for what comes after it. */
const paidFrom = (
  state: PolicyState | undefined,
  event: PolicyStreamEvent,
  { occurred_at }: { readonly occurred_at: string },
): FromPremium | undefined =>
  state && event.type === 'PolicyReinstated' && event.from === 'lapsed'
    ? { number: nextNumber(state), date: dateIn(state.time_zone, occurred_at) }
    : state?.paid_from

const collectedFrom = (state: PolicyState | undefined, event: PolicyStreamEvent): FromPremium | undefined =>
  state && event.type === 'PolicyReinstated' && event.from === 'lapsed' && event.next_collection_on !== null
    ? { number: nextNumber(state), date: event.collected_from ?? event.next_collection_on }
    : state?.collected_from

const providerCustomers = (
  state: PolicyState | undefined,
  { provider_mandate }: PolicyRecord,
): PolicyState['provider_customers'] => {
  const known = state?.provider_customers ?? []
  if (!provider_mandate || known.includes(provider_mandate.provider_customer_id)) return known
  return [...known, provider_mandate.provider_customer_id]
}

const mandateRetryAt = (state: PolicyState | undefined, event: PolicyStreamEvent): PolicyState['mandate_retry_at'] => {
  if (event.type === 'PolicyMandateDelayed') return event.retry_at
  return event.type === 'PolicyMandateRequested' ? null : (state?.mandate_retry_at ?? null)
}

const refundRetryAt = (state: PolicyState | undefined, event: PolicyStreamEvent): PolicyState['refund_retry_at'] => {
  const before = state?.refund_retry_at ?? {}
  if (event.type === 'PremiumRefundDelayed') return { ...before, [event.refund_id]: event.retry_at }
  // What the team asks for is tried at once: its timer is fired as of the time of that.
  return event.type === 'PremiumRefundRequested' ? { ...before, [event.refund_id]: null } : before
}

const askedRefunds = (state: PolicyState | undefined, event: PolicyStreamEvent): PolicyState['asked_refunds'] => {
  const before = state?.asked_refunds ?? {}
  if (event.type !== 'PremiumRefundOwed' || event.reason !== 'operator') return before
  const { premium_id, refund_id, refund_pence, note } = event
  // It is owed once more where another payment is to give it back.
  if (before[refund_id]) return before
  const premium = state?.premiums.find((each) => each.premium_id === premium_id)
  const is_all = premium !== undefined && refundable(premium) === refund_pence
  return { ...before, [refund_id]: { refund_pence, is_all, note } }
}

const paymentIntents = (state: PolicyState | undefined, event: PolicyStreamEvent): PolicyState['payment_intents'] => {
  const before = state?.payment_intents ?? {}
  const tells =
    event.type === 'PremiumRequested' || event.type === 'PremiumCollected' || event.type === 'PremiumReinstated'
  if (!tells || event.payment_intent_id === null) return before
  const { premium_id, attempt, payment_intent_id } = event
  return { ...before, [premium_id]: { ...before[premium_id], [attempt]: payment_intent_id } }
}

const uncovered = (
  state: PolicyState | undefined,
  event: PolicyStreamEvent,
  { occurred_at }: { readonly occurred_at: string },
): PolicyState['uncovered'] => {
  if (!state) return []
  if (event.type !== 'PolicyReinstated' || state.lapsed_on === null) return state.uncovered
  return [...state.uncovered, { from: state.lapsed_on, until: dateIn(state.time_zone, occurred_at) }]
}
