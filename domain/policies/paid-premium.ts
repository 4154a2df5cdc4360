import type { PremiumEvent, PremiumRefundId } from '../premiums/events.ts'
import { refundable, type Premium } from '../premiums/record.ts'
import { about } from './premium.ts'
import { refundOwed, wholeRefundId } from './refunds.ts'
import type { PolicyState } from './state.ts'

/** What follows where a premium is paid: by an earlier payment, by two, or for a time that is not covered. */

type Decision = readonly PremiumEvent[]

export type Reinstated = NonNullable<Premium['reinstated']>

/** What the attempt of a dispute that was won had collected pays for it. */
export const paidByEarlier = (
  premium: Premium,
  policy: PolicyState,
  { attempt, method, payment_intent_id, reinstated_at: collected_at, refund_id }: Reinstated,
): Decision => [
  { type: 'PremiumCollected', ...about(premium), attempt, method, payment_intent_id, collected_at },
  ...refundedAtOnce({ ...premium, method }, policy, refund_id),
]

/** It is the newer payment that is given back: that by Direct Debit. */
export const paidTwice = (premium: Premium, policy: PolicyState, { refund_id }: Reinstated) =>
  refundOwed({ ...premium, method: 'direct_debit' }, policy, premium.amount_pence, 'paid_twice', refund_id)

/** What is collected for a time that is not covered is given back. */
export const refundedAtOnce = (premium: Premium, policy: PolicyState, otherwise?: PremiumRefundId): Decision => {
  const { cancelled_on, cancellation_reason } = policy
  if (cancelled_on === null) return []
  const isCoolingOff = cancellation_reason === 'cooling_off'
  if (!isCoolingOff && premium.covers_from < cancelled_on) return []
  const left = refundable({ ...premium, status: 'collected' })
  if (left === 0) return []
  const refund_id = premium.refunds.some((each) => each.refund_id === wholeRefundId(premium)) ? otherwise : undefined
  return [refundOwed(premium, policy, left, isCoolingOff ? 'cooling_off' : 'policy_ended', refund_id)]
}
