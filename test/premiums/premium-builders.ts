import { MandateId, PaymentId } from '#domain/payments/events.ts'
import type { Dispute, MadeRefund, Payment } from '#domain/payments/payment.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import type { SettlePremium } from '#domain/premiums/settle-premium.ts'
import { PremiumId, PremiumRefundId, type PremiumEvent, type RefundReason } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { everyDay } from '../policies/calendars.ts'

/** The words of the scenarios about premiums: a policy, and what became of its first premium. */

/** Starts on 2 February 2026; £28.75 is collected on the 15th of each month, in London. */
export const bound = sampleEvent(policyEvents, 'PolicyBound')
export const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
export const active: readonly PolicyEvent[] = [bound, activated]
export const customer_id = 'c0000000-0000-4000-8000-000000000001' as never
export const idOf = (number: number) => PremiumId.parse(`b1000000-0000-5000-8000-00000000000${number}`)
export const premium_id = idOf(1)
export const refund_id = PremiumRefundId.parse(premium_id)
export const first = { premium_id, number: 1, amount_pence: 2875, due_on: '2026-02-15' }
export const due = {
  type: 'PremiumDue',
  ...first,
  covers_from: '2026-02-02',
  method: 'direct_debit',
  next_due_on: '2026-03-15',
  next_due_at: '2026-03-15T00:00:00.000Z',
} satisfies PremiumEvent
export const requested = {
  type: 'PremiumRequested',
  ...first,
  attempt: 1,
  payment_intent_id: 'pi_1',
  check_at: '2026-02-23T00:00:00.000Z',
} satisfies PremiumEvent
export const collected = {
  type: 'PremiumCollected',
  ...first,
  attempt: 1,
  method: 'direct_debit',
  payment_intent_id: 'pi_1',
  collected_at: '2026-02-19T09:00:00.000Z',
} satisfies PremiumEvent
/** The first premium where it is paid by card. */
export const card_payment_id = 'd0000000-0000-5000-8000-000000000001'
export const activeByCard: readonly PolicyEvent[] = [{ ...bound, card_payment_id }, activated]
export const dueByCard = { ...due, method: 'card' } satisfies PremiumEvent
export const collectedByCard = { ...collected, method: 'card', payment_intent_id: null } satisfies PremiumEvent
export const failed = (attempt = 1, retry_at: string | null = '2026-03-01T00:00:00.000Z'): PremiumEvent => ({
  type: 'PremiumFailed',
  ...first,
  customer_id,
  attempt,
  failure_code: 'insufficient_funds',
  retry_at,
  disputed_on: null,
})
export const retried = (attempt: number): PremiumEvent => ({ type: 'PremiumRetried', ...first, attempt })
/** The mandate from the bank details that were sent. */
export const mandateMade: PolicyEvent = {
  type: 'PolicyMandateRecorded',
  mandate_id: MandateId.parse('b0000000-0000-5000-8000-000000000021'),
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  provider_mandate_id: 'mandate_1',
  account_number_last4: '4958',
  status: 'active',
}
export const arrears = (check_at: string): PolicyEvent => ({
  type: 'ArrearsChanged',
  since: '2026-02-15',
  overdue_pence: 2875,
  check_at,
})
export const noArrears = { type: 'ArrearsChanged', since: null, overdue_pence: 0, check_at: null } satisfies PolicyEvent
export const now = '2026-02-19T09:00:00.000Z'
/** The id of a refund that follows from what it is called: the first of a premium is called like that. */
export const refundIdOf = (name: string): PremiumRefundId =>
  name === premium_id ? refund_id : PremiumRefundId.parse(derivedId('premium_refund', name))

/** What became of a payment: it is with the provider and has no answer yet, unless it says otherwise. */
type Change = Partial<Payment>
const paymentBy =
  (method: Payment['method'], status: Partial<Payment>) =>
  (attempt = 1, change: Change = {}): Payment => ({
    payment_id: PaymentId.parse(method === 'card' ? card_payment_id : derivedId('debit_payment', String(attempt))),
    application_id: bound.application_id,
    policy_id: bound.policy_id,
    premium_id,
    method,
    attempt,
    amount_pence: first.amount_pence,
    currency_code: 'GBP',
    payment_intent_id: `pi_${attempt}`,
    status: 'opened',
    captured_pence: 0,
    captured_at: null,
    failure_code: null,
    refunds: [],
    asked: null,
    disputes: [],
    retry_at: null,
    changes: 1,
    ...status,
    ...change,
  })
export const disputeOf = (status: Dispute['status'], disputed_pence = first.amount_pence): Dispute => ({
  provider_dispute_id: 'dp_1',
  disputed_pence,
  status,
})
const captured = { status: 'captured', captured_pence: first.amount_pence, captured_at: now } as const
const paymentsBy = (method: Payment['method']) => ({
  coming: paymentBy(method, {}),
  refused: paymentBy(method, { status: 'failed', failure_code: 'insufficient_funds' }),
  paid: paymentBy(method, captured),
  /** The payer's bank has taken it back. */
  disputed: paymentBy(method, { ...captured, disputes: [disputeOf('open')] }),
  /** The firm has won the dispute. */
  won: paymentBy(method, { ...captured, disputes: [disputeOf('won')] }),
})
export const debit = paymentsBy('direct_debit')
export const card = paymentsBy('card')
/** What the provider has given back of a payment: by hand, unless it is one of ours. */
export const returned = (refund_pence: number, of: Partial<MadeRefund> = {}): MadeRefund => ({
  provider_refund_id: 're_1',
  refund_id: null,
  refund_pence,
  has_failed: false,
  failure_code: null,
  ...of,
})

/** These payments of the first premium stand at the provider. */
export const settle = (...payments: readonly Payment[]): SettlePremium => ({
  type: 'SettlePremium',
  premium_id,
  payments,
  // A scenario says as of which event.
  changes: 0,
  now,
  calendar: everyDay,
  refundIdOf,
})
const asOf = (given: readonly PolicyStreamEvent[], when: PolicyCommand): PolicyCommand =>
  when.type === 'SettlePremium' ? { ...when, changes: given.length } : when
const policyScenario = scenariosOf(policy)
/** A scenario of a policy, which nobody has changed since whoever settles it has read it. */
export const scenario: typeof policyScenario = (name, { given, when, ...then }) =>
  policyScenario(name, { given, when: asOf(given, when), ...then })
/** What follows where these payments stand at the provider. */
export const settledBy = (given: readonly PolicyStreamEvent[], ...payments: readonly Payment[]) =>
  policy.decide(asOf(given, settle(...payments)), stateOf(policy, given))

export const disputed = {
  type: 'PremiumFailed',
  ...first,
  customer_id,
  attempt: 1,
  failure_code: 'disputed',
  retry_at: null,
  disputed_on: '2026-02-19',
} satisfies PremiumEvent
/** The premium is asked for again, and collected. */
export const requestedAnew = { ...requested, attempt: 2, payment_intent_id: 'pi_2' }
export const askedAnew = [retried(2), requestedAnew]
export const collectedAnew = { ...collected, attempt: 2, payment_intent_id: 'pi_2' }
type PaymentsChanged = Extract<PremiumEvent, { type: 'PremiumPaymentsChanged' }>
/** Which payments stand for the premium: the first pays it, or was the last to. */
export const paidBy = (attempt: number, change: Partial<PaymentsChanged> = {}): PaymentsChanged => ({
  type: 'PremiumPaymentsChanged',
  premium_id,
  ...byDebit(attempt),
  also_paid_by: [],
  disputed_attempts: [],
  ...change,
})
export const byDebit = (attempt: number) =>
  ({ attempt, method: 'direct_debit', payment_intent_id: `pi_${attempt}`, collected_at: now }) as const
export const byCard = { attempt: 1, method: 'card', payment_intent_id: null, collected_at: now } as const
export const inArrears = [...active, due, requested, failed(), arrears('2026-03-17T00:00:00.000Z')]
export const suspended = { type: 'PolicySuspended', reason: 'arrears', overdue_pence: 2875 } satisfies PolicyEvent
export const inSuspense = [...inArrears, suspended, arrears('2026-04-16T23:00:00.000Z')]
export const reinstated = {
  type: 'PolicyReinstated',
  from: 'suspended',
  next_collection_on: '2026-03-15',
  next_collection_at: '2026-03-15T00:00:00.000Z',
  end_at: '2051-02-02T00:00:00.000Z',
  review_at: null,
  indexation_at: null,
} satisfies PolicyEvent
export const writtenOff = {
  type: 'PremiumWrittenOff',
  ...first,
  attempt: 1,
  reason: 'policy_ended',
} satisfies PremiumEvent

export const owed = (reason: RefundReason, of_card: string | null = null) => {
  const card = { application_id: 'a0000000-0000-4000-8000-000000000001' as never, card_payment_id: of_card }
  return { type: 'PremiumRefundOwed', ...first, refund_id, ...card, refund_pence: 2875, reason } as const
}

export const twice = (of_card: string | null = null) =>
  ({ ...owed('operator', of_card), reason: 'paid_twice' }) as const

export const givenBack = {
  type: 'PremiumRefunded',
  ...first,
  attempt: 1,
  refund_id,
  refund_pence: 2875,
  reason: 'operator',
} satisfies PremiumEvent
export const refundFailure = { failure_code: 'expired_or_canceled_card', provider_refund_id: 're_1' }
export const refundFailed = {
  type: 'PremiumRefundFailed',
  ...first,
  refund_id,
  attempt: 1,
  refund_pence: 2875,
  ...refundFailure,
} satisfies PremiumEvent

type Cancelled = Extract<PolicyEvent, { type: 'PolicyCancelled' }>

export const cancelled = (changes: Partial<Cancelled> = {}): Cancelled => ({
  type: 'PolicyCancelled',
  application_id: 'a0000000-0000-4000-8000-000000000001' as never,
  card_payment_id: null,
  reason: 'cooling_off',
  note: null,
  effective_on: '2026-02-16',
  cooling_off: true,
  refund_pence: 0,
  ...changes,
})

export const cancelledOn = (effective_on: string): PolicyEvent => ({
  ...cancelled(),
  reason: 'customer_request',
  cooling_off: false,
  effective_on,
})

export const schedule = {
  kind: 'policy_schedule',
  document_id: 'd1000000-0000-4000-8000-000000000001',
  version_id: 'd2000000-0000-4000-8000-000000000001',
  sha256: 'a'.repeat(64),
  bytes: 10,
  key_document: null,
} as const
