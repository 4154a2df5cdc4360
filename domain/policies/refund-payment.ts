import type { PremiumEvent, PremiumId, PremiumRefundId } from '../premiums/events.ts'
import { refundedBy, type Premium, type PremiumRefund } from '../premiums/record.ts'
import { premiumOf } from './premium-of.ts'
import { cardAttempt, isOfCard, isOwed, premiumByCard, refundOwed } from './refunds.ts'
import type { PolicyState } from './state.ts'

/** Which of the payments of a premium gives a refund back. */

/** No debit holds any more what was to be given back of one: the card that paid the first premium still does. */
export type OweRefundOfCard = {
  readonly type: 'OweRefundOfCard'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
}

type Debit = Pick<Premium, 'payment_intent_id' | 'attempt'>

const paymentsOf = (premium: Premium): readonly Debit[] => [premium, ...premium.also_paid_by]

/** The debit that a refund comes out of: another one, where of the newest too little is left; undefined: of each. */
export const debitFor = (premium: Premium, { refund_pence }: PremiumRefund): Debit | undefined =>
  paymentsOf(premium).find(
    ({ attempt, payment_intent_id }) =>
      payment_intent_id !== null && refundedBy(premium, attempt) + refund_pence <= premium.amount_pence,
  )

/** The payment that gives a refund back, or has: a card payment by our id of it, a debit as the payment provider calls it. */
export const paymentOf = (premium: Premium, refund: PremiumRefund) => {
  const { card_payment_id } = refund
  if (card_payment_id !== null) return { method: 'card', card_payment_id, payment_intent_id: null } as const
  const made = paymentsOf(premium).find(({ attempt }) => attempt === refund.attempt)
  const { payment_intent_id } = made ?? debitFor(premium, refund) ?? premium
  return { method: 'direct_debit', card_payment_id, payment_intent_id } as const
}

/** A card is given back whole: a part of what it holds cannot be, nor what is owed of it already. */
export const isHeldByCard = (policy: PolicyState, premium: Premium, { refund_pence }: PremiumRefund): boolean => {
  const { status, attempt, amount_pence, also_paid_by, refunds } = premium
  if (premiumByCard(policy) !== premium || refunds.some((refund) => isOwed(refund) && isOfCard(refund))) return false
  const isPaidByCard = status === 'collected' && attempt === cardAttempt
  const isCardKept = isPaidByCard || also_paid_by.some((other) => other.attempt === cardAttempt)
  return isCardKept && amount_pence - refundedBy(premium, cardAttempt) === refund_pence
}

export const oweRefundOfCard = (
  { premium_id, refund_id }: OweRefundOfCard,
  policy: PolicyState,
): readonly PremiumEvent[] => {
  const premium = premiumOf(policy, premium_id)
  const owed = premium.refunds.find((each) => each.refund_id === refund_id && isOwed(each) && !isOfCard(each))
  if (!owed || owed.is_left || !isHeldByCard(policy, premium, owed)) return []
  const { refund_pence, reason } = owed
  return [refundOwed({ ...premium, method: 'card' }, policy, refund_pence, reason, refund_id)]
}
