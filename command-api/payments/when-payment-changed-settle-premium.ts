import { paymentStreamEvents } from '#domain/payments/events.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { makePayments, type PaymentDeps } from './payments.ts'

const { PaymentCaptured, PaymentFailed, PaymentCancelled, PaymentRefundMade, PaymentRefundFailed } = paymentStreamEvents
const { PaymentDisputeOpened, PaymentDisputeWon, PaymentDisputeLost } = paymentStreamEvents
const events = {
  PaymentCaptured,
  PaymentFailed,
  PaymentCancelled,
  PaymentRefundMade,
  PaymentRefundFailed,
  PaymentDisputeOpened,
  PaymentDisputeWon,
  PaymentDisputeLost,
}

/** The writer of the event settles the premium as well: this does so where that process died in between. */
export const whenPaymentChangedSettlePremium = (deps: PaymentDeps): Reaction<typeof events> => {
  const { settle } = makePayments(deps)

  return {
    name: 'when-payment-changed-settle-premium',
    categories: ['payment'],
    events,
    react: async ({ policy_id, premium_id }, _recorded, context) => {
      if (policy_id !== null && premium_id !== null) await settle(policy_id, premium_id, context)
    },
  }
}
