import { paymentStreamEvents } from '#domain/payments/events.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { makeFollowCard } from './follow-card.ts'
import type { PaymentDeps } from './payments.ts'

const { PaymentCaptured, PaymentCancelled, PaymentRefundMade, PaymentRefundFailed } = paymentStreamEvents
const { PaymentDisputeOpened, PaymentDisputeWon, PaymentDisputeLost } = paymentStreamEvents
const events = {
  PaymentCaptured,
  PaymentCancelled,
  PaymentRefundMade,
  PaymentRefundFailed,
  PaymentDisputeOpened,
  PaymentDisputeWon,
  PaymentDisputeLost,
}

/** The writer of the event settles the card as well: this does so where that process died in between. */
export const whenUnsoldPaymentChangedSettleCard = (deps: PaymentDeps): Reaction<typeof events> => {
  const { settle } = makeFollowCard({ ...deps, setUp: async () => undefined })

  return {
    name: 'when-unsold-payment-changed-settle-card',
    categories: ['payment'],
    events,
    react: async ({ payment_id, premium_id }, _recorded, context) => {
      if (premium_id === null) await settle(payment_id, context)
    },
  }
}
