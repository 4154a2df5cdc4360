import { paymentEvents, paymentStreamEvents } from '#domain/payments/events.ts'
import type { SetUp } from '../policies/set-up.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { makeFollowCard } from './follow-card.ts'
import type { PaymentDeps } from './payments.ts'

const { PaymentCaptured, PaymentCancelled, PaymentRefundMade, PaymentRefundFailed } = paymentStreamEvents
const { PaymentDisputeOpened, PaymentDisputeWon, PaymentDisputeLost } = paymentStreamEvents
const { CardPaymentUsed } = paymentEvents
const events = {
  CardPaymentUsed,
  PaymentCaptured,
  PaymentCancelled,
  PaymentRefundMade,
  PaymentRefundFailed,
  PaymentDisputeOpened,
  PaymentDisputeWon,
  PaymentDisputeLost,
}

/**
 * The writer of the event settles the card as well: this does so where that process died in between. What was given back or disputed
 * before a policy was sold for it is settled with the premium.
 */
export const whenUnsoldPaymentChangedSettleCard = (
  deps: PaymentDeps & { readonly setUp: SetUp },
): Reaction<typeof events> => {
  const { settle } = makeFollowCard(deps)

  return {
    name: 'when-unsold-payment-changed-settle-card',
    categories: ['application', 'payment'],
    events,
    react: async (event, _recorded, context) => {
      if (event.type === 'CardPaymentUsed' || event.premium_id === null) await settle(event.payment_id, context)
    },
  }
}
