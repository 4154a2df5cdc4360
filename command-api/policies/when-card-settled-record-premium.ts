import { paymentEvents } from '#domain/payments/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Reaction } from '../reaction.ts'

const { CardPaymentCaptured, CardPaymentReturned } = paymentEvents
const events = { CardPaymentCaptured, CardPaymentReturned }

/** The first premium by card is collected once the card is charged, and refunded once that was given back. */
export const whenCardSettledRecordPremium = (writer: Writer): Reaction<typeof events> => {
  const { handle } = commandHandler(writer, policy)

  return {
    name: 'when-card-settled-record-premium',
    categories: ['application'],
    events,
    target: ({ policy_id }, { stream }) => (policy_id === null ? stream : `${policy.category}-${policy_id}`),
    react: async (event, _recorded, context) => {
      if (event.policy_id === null) return
      if (event.type === 'CardPaymentCaptured') {
        await handle(event.policy_id, { type: 'RecordCardCharged', collected_at: context.now }, context)
        return
      }
      const refund_id = PremiumRefundId.parse(event.payment_id)
      const returned_pence = event.how === 'refunded' ? event.amount_pence : 0
      await handle(event.policy_id, { type: 'RecordCardReturned', refund_id, returned_pence }, context)
    },
  }
}
