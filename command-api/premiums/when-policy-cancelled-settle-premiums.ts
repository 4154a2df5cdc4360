import { idOf } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { commandHandler } from '../writing/handle.ts'
import { makePayments, type PaymentDeps } from '../payments/payments.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyCancelled } = policyEvents

/**
 * The rest of a premium that is not paid is given back where it pays for nothing any more, such as the rest of a payment of
 * which the payer's bank has taken back a part. A collected premium is owed by the cancellation itself.
 */
export const whenPolicyCancelledSettlePremiums = (
  deps: PaymentDeps,
): Reaction<{ PolicyCancelled: typeof PolicyCancelled }> => {
  const { load } = commandHandler(deps.writer, policy)
  const { settle } = makePayments(deps)

  return {
    name: 'when-policy-cancelled-settle-premiums',
    categories: ['policy'],
    events: { PolicyCancelled },
    react: async (_event, { stream }, context) => {
      const id = idOf(stream)
      for (const { premium_id, status, also_paid_by } of (await load(id))?.premiums ?? [])
        if (status !== 'collected' && also_paid_by.length > 0) await settle(id, premium_id, context)
    },
  }
}
