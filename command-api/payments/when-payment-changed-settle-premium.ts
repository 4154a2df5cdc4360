import type { Reaction } from '../reactions/reaction.ts'
import { paymentChanges } from './payment-changes.ts'
import { makePayments, type PaymentDeps } from './payments.ts'

/** The writer of the event settles the premium as well: this does so where that process died in between. */
export const whenPaymentChangedSettlePremium = (deps: PaymentDeps): Reaction<typeof paymentChanges> => {
  const { settle } = makePayments(deps)

  return {
    name: 'when-payment-changed-settle-premium',
    categories: ['payment'],
    events: paymentChanges,
    react: async ({ policy_id, premium_id }, _recorded, context) => {
      if (policy_id !== null && premium_id !== null) await settle(policy_id, premium_id, context)
    },
  }
}
