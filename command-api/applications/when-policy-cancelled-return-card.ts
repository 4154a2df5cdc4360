import { application } from '#domain/applications/application.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyCancelled } = policyEvents

/** A card payment for a policy that is cancelled within its cooling-off period is owed back. */
export const whenPolicyCancelledReturnCard = (
  writer: Writer,
): Reaction<{ PolicyCancelled: typeof PolicyCancelled }> => {
  const { handle } = commandHandler(writer, application)

  return {
    name: 'when-policy-cancelled-return-card',
    categories: ['policy'],
    events: { PolicyCancelled },
    target: ({ application_id }) => `${application.category}-${application_id}`,
    react: async ({ application_id, card_payment_id, refund_pence, cooling_off }, _recorded, context) => {
      if (card_payment_id === null || refund_pence === 0 || !cooling_off) return
      const payment_id = PaymentId.parse(card_payment_id)
      await handle(application_id, { type: 'OweCardReturn', payment_id, reason: 'policy_cancelled' }, context)
    },
  }
}
