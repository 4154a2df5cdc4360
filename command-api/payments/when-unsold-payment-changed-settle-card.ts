import { paymentEvents } from '#domain/payments/events.ts'
import type { SetUp } from '../policies/set-up.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { makeFollowCard } from './follow-card.ts'
import { paymentChanges } from './payment-changes.ts'
import type { PaymentDeps } from './payments.ts'

const { CardPaymentUsed, CardPaymentReturned } = paymentEvents
const events = { CardPaymentUsed, CardPaymentReturned, ...paymentChanges }

/**
 * The writer of the event settles the card as well: this does so where that process died in between. What was given back or disputed
 * before a policy was sold for it is settled with the premium, and a return that a former version has recorded is looked for.
 */
export const whenUnsoldPaymentChangedSettleCard = (
  deps: PaymentDeps & { readonly setUp: SetUp },
): Reaction<typeof events> => {
  const { settle, lookAfterReturn } = makeFollowCard(deps)

  return {
    name: 'when-unsold-payment-changed-settle-card',
    categories: ['application', 'payment'],
    events,
    react: async (event, _recorded, context) => {
      const { payment_id } = event
      if (event.type === 'CardPaymentReturned') await lookAfterReturn(payment_id, context)
      else if (event.type === 'CardPaymentUsed' || event.premium_id === null) await settle(payment_id, context)
    },
  }
}
