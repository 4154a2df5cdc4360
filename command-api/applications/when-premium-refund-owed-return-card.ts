import { application } from '#domain/applications/application.ts'
import { idOf } from '#domain/event.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { IsRefundOwed } from '../refund-owed.ts'
import type { Reaction } from '../reaction.ts'

const { PremiumRefundOwed } = premiumEvents

/** A first premium that was paid by card is given back on that card. */
export const whenPremiumRefundOwedReturnCard = (
  writer: Writer,
  isRefundOwed: IsRefundOwed,
): Reaction<{ PremiumRefundOwed: typeof PremiumRefundOwed }> => {
  const { handle } = commandHandler(writer, application)

  return {
    name: 'when-premium-refund-owed-return-card',
    categories: ['policy'],
    events: { PremiumRefundOwed },
    target: ({ application_id }) => `${application.category}-${application_id}`,
    react: async ({ application_id, card_payment_id, refund_id, reason }, { stream }, context) => {
      if (card_payment_id === null || !(await isRefundOwed(idOf(stream), refund_id))) return
      const payment_id = PaymentId.parse(card_payment_id)
      const why = reason === 'operator' ? 'operator' : 'policy_cancelled'
      await handle(application_id, { type: 'OweCardReturn', payment_id, reason: why, is_owed_anew: true }, context)
    },
  }
}
