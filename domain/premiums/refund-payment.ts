import type { PolicyState } from '../policies/state.ts'
import type { Premium, PremiumRefund } from './record.ts'

/**
 * The payment that gives a refund back, or has: a card payment by our id of it, a debit as the payment provider calls it. What is
 * still to be given back is given back of the newest that stands.
 */
export const paymentOf = ({ card_payment_id }: PolicyState, premium: Premium, refund: PremiumRefund) => {
  const payments = [premium, ...premium.also_paid_by].toSorted((one, other) => other.attempt - one.attempt)
  const made = payments.find(({ attempt }) => attempt === refund.attempt) ?? payments[0] ?? premium
  return made.method === 'card'
    ? ({ method: 'card', card_payment_id, payment_intent_id: null } as const)
    : ({ method: 'direct_debit', card_payment_id: null, payment_intent_id: made.payment_intent_id } as const)
}
