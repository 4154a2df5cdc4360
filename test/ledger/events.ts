import { PaymentId, type PaymentStreamEvent } from '#domain/payments/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { PremiumRefundId, type PremiumEvent } from '#domain/premiums/events.ts'
import { debitPaymentKey } from '#domain/payments/record.ts'
import { QuoteId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { LedgerEvent } from '../../projections/ledger/row.ts'
import {
  application_id,
  cardPaid,
  collectedByCard,
  dueByCard,
  firstPremium,
  payment_id as card_id,
} from '../premiums/paid-by-card.ts'
import { sampleEvent } from '../stored-events/samples.ts'

/** The words of the tests about the ledger: what is stored of one premium, and of what was paid for it. */

export const bound = { ...sampleEvent(policyEvents, 'PolicyBound', 2), application_id }
export const { policy_id } = bound
export const { premium_id, amount_pence } = firstPremium
export { application_id, card_id }
export const policyStream = `policy-${policy_id}`
export const applicationStream = `application-${application_id}`
export const customer_id = bound.customer_id

export const refund_id = PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001')
const quote_id = QuoteId.parse('c0000000-0000-4000-8000-000000000001')

export type Posted = { readonly event: LedgerEvent; readonly stream: string }
const onPolicy = (event: LedgerEvent): Posted => ({ event, stream: policyStream })
const onApplication = (event: LedgerEvent): Posted => ({ event, stream: applicationStream })

export const soldByCard = onPolicy({ ...bound, card_payment_id: card_id })
export const soldByDebit = onPolicy({ ...bound, card_payment_id: null })
export const due = onPolicy(dueByCard)
export const dueByDebit = onPolicy({ ...dueByCard, method: 'direct_debit' })

/** The card is charged while nothing is sold for it yet. */
export const cardCharged: readonly Posted[] = cardPaid({
  quote_id,
  amount_pence,
  paid_at: '2026-07-01T09:00:00.000Z',
}).map(
  (event) => onApplication(event as LedgerEvent), // both are of a card payment
)
export const cardUsed = onApplication({ type: 'CardPaymentUsed', payment_id: card_id, policy_id })
export const cardReturned = (how: 'refunded' | 'released', of: string | null = null): Posted =>
  onApplication({ type: 'CardPaymentReturned', payment_id: card_id, policy_id: of, how, amount_pence })
export const cardReturnFailed = onApplication({
  type: 'CardPaymentReturnFailed',
  payment_id: card_id,
  policy_id: null,
  failure_code: 'expired_or_canceled_card',
  provider_refund_id: 're_card',
})
export const cardReturnClosed = (how: 'paid_otherwise' | 'not_owed' | 'taken_back'): Posted =>
  onApplication({
    type: 'CardPaymentReturnClosed',
    payment_id: card_id,
    policy_id: null,
    how,
    paid_on: null,
    reason: null,
  })

export const collectedOfCard = onPolicy({ ...collectedByCard, payment_intent_id: null })
export const requested = (attempt = 1): Posted =>
  onPolicy({
    type: 'PremiumRequested',
    ...firstPremium,
    attempt,
    payment_intent_id: `pi_${attempt}`,
    check_at: '2026-07-09T09:00:00.000Z',
  })
export const collected = (attempt = 1): Posted =>
  onPolicy({ ...collectedByCard, method: 'direct_debit', attempt, payment_intent_id: `pi_${attempt}` })
export const disputed = (attempt = 1): Posted =>
  onPolicy({
    type: 'PremiumFailed',
    ...firstPremium,
    customer_id,
    attempt,
    failure_code: 'disputed',
    retry_at: null,
    disputed_on: '2026-07-20',
  })
export const retried = (attempt: number): Posted => onPolicy({ type: 'PremiumRetried', ...firstPremium, attempt })
export const reinstated = (attempt: number): Posted =>
  onPolicy({
    type: 'PremiumReinstated',
    ...firstPremium,
    attempt,
    method: 'direct_debit',
    payment_intent_id: `pi_${attempt}`,
    reinstated_at: '2026-08-01T09:00:00.000Z',
    refund_id,
  })
export const takenBack = (attempt: number): Posted =>
  onPolicy({ type: 'PremiumTakenBack', ...firstPremium, attempt, disputed_on: '2026-08-03' })
export const writtenOff = onPolicy({ type: 'PremiumWrittenOff', ...firstPremium, attempt: 1, reason: 'operator' })

type Reason = Extract<PremiumEvent, { type: 'PremiumRefunded' }>['reason']
const ofRefund = { ...firstPremium, premium_id, refund_id }
export const owed = (refund_pence: number, reason: Reason = 'operator'): Posted =>
  onPolicy({ type: 'PremiumRefundOwed', ...ofRefund, application_id, card_payment_id: null, refund_pence, reason })
export const refunded = (refund_pence: number, reason: Reason = 'operator', attempt = 1): Posted =>
  onPolicy({ type: 'PremiumRefunded', ...ofRefund, attempt, refund_pence, reason })
export const refundFailed = (refund_pence: number): Posted =>
  onPolicy({
    type: 'PremiumRefundFailed',
    ...ofRefund,
    attempt: 1,
    refund_pence,
    failure_code: 'expired_or_canceled_card',
    provider_refund_id: 're_1',
  })
const closed = { ...ofRefund, customer_id, attempt: 1 }
export const paidOtherwise = (refund_pence: number): Posted =>
  onPolicy({ type: 'PremiumRefundPaidOtherwise', ...closed, refund_pence, paid_on: '2026-07-25', reason: 'by cheque' })
export const waived = (refund_pence: number): Posted =>
  onPolicy({ type: 'PremiumRefundWaived', ...closed, refund_pence, why: 'not_owed', reason: 'said so' })

type Untold<Event> = Event extends PaymentStreamEvent ? Omit<Event, 'payment_id' | 'policy_id' | 'premium_id'> : never

/** What the stream of a payment tells, in the order in which a look at the provider finds it. */
export const told = (
  { by, attempt = 1 }: { readonly by: 'card' | 'direct_debit'; readonly attempt?: number },
  ...events: readonly Untold<PaymentStreamEvent>[]
): readonly Posted[] => {
  const payment_id = PaymentId.parse(by === 'card' ? card_id : derivedId(...debitPaymentKey(premium_id, attempt)))
  const about = { payment_id, policy_id, premium_id }
  const opened = { application_id, method: by, attempt, amount_pence, currency_code: 'GBP' } as const
  const all = [
    { type: 'PaymentOpened' as const, ...opened },
    { type: 'PaymentTakenOn' as const, payment_intent_id: `pi_${attempt}` },
    ...events,
  ]
  return all.map((event) => ({
    event: { ...event, ...about } as PaymentStreamEvent, // each is whole with what it is about
    stream: `payment-${payment_id}`,
  }))
}
/** What it tells of a payment that is known. */
export const toldLater = (...given: Parameters<typeof told>): readonly Posted[] => told(...given).slice(2)
export const captured = {
  type: 'PaymentCaptured',
  captured_pence: amount_pence,
  captured_at: '2026-07-01T09:00:00.000Z',
} as const
export const made = (refund_pence: number, provider_refund_id = 're_1') =>
  ({ type: 'PaymentRefundMade', refund_id, refund_pence, provider_refund_id }) as const
export const failed = (refund_pence: number, provider_refund_id = 're_1') =>
  ({ ...made(refund_pence, provider_refund_id), type: 'PaymentRefundFailed', failure_code: 'expired' }) as const
export const dispute = (status: 'Opened' | 'Won' | 'Lost', disputed_pence: number = amount_pence, id = 'dp_1') =>
  ({ type: `PaymentDispute${status}`, provider_dispute_id: id, disputed_pence }) as const
