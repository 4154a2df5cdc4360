import type { PremiumEvent, PremiumRefundId } from '../premiums/events.ts'
import { refundable, standing, type OtherPayment, type Premium } from '../premiums/record.ts'
import { about } from './premium-of.ts'
import { refundOwed, waiveRefund, wholeRefundId } from './refunds.ts'
import type { PolicyState } from './state.ts'

/** What follows where a premium is paid: by another payment, by two, or for a time that is not covered. */

type Decision = readonly PremiumEvent[]

/** What another payment pays for it. `otherwise` is the id of what is given back of it, where its own is taken. */
export const paidBy = (
  premium: Premium,
  policy: PolicyState,
  other: OtherPayment,
  otherwise?: PremiumRefundId,
): Decision => {
  const { attempt, method, payment_intent_id, reinstated_at: collected_at, refund_id } = other
  return [
    { type: 'PremiumCollected', ...about(premium), attempt, method, payment_intent_id, collected_at },
    ...refundedAtOnce({ ...premium, method }, policy, [refund_id, otherwise]),
  ]
}

/** Another payment that stands pays it, and is not given back then, as all others are; undefined: there is none. */
export const paidByOther = (
  premium: Premium,
  policy: PolicyState,
  otherwise?: PremiumRefundId,
): Decision | undefined => {
  const [other, ...others] = standing(premium)
  return (
    other && [
      ...paidBy(premium, policy, other, otherwise),
      ...waiveRefund(policy, premium, other.refund_id),
      ...paidTwice(premium, policy, others),
    ]
  )
}

/** Of each payment beside that of the premium, once: it is the newer payment that is given back, that by Direct Debit. */
export const paidTwice = (
  premium: Premium,
  policy: PolicyState,
  others: readonly OtherPayment[] = premium.also_paid_by,
): Decision =>
  others
    .filter(({ refund_id }) => !hasRefund(premium, refund_id))
    .map(({ refund_id }) =>
      refundOwed({ ...premium, method: 'direct_debit' }, policy, premium.amount_pence, 'paid_twice', refund_id),
    )

const hasRefund = ({ refunds }: Premium, refund_id: PremiumRefundId): boolean =>
  refunds.some((each) => each.refund_id === refund_id)

/** What is collected for a time that is not covered is given back. */
export const refundedAtOnce = (
  premium: Premium,
  policy: PolicyState,
  otherwise: readonly (PremiumRefundId | undefined)[] = [],
): Decision => {
  const { cancelled_on, cancellation_reason } = policy
  if (cancelled_on === null) return []
  const isCoolingOff = cancellation_reason === 'cooling_off'
  if (!isCoolingOff && premium.covers_from < cancelled_on) return []
  const left = refundable({ ...premium, status: 'collected' })
  const refund_id = [wholeRefundId(premium), ...otherwise].find((id) => id !== undefined && !hasRefund(premium, id))
  if (left === 0 || refund_id === undefined) return []
  return [refundOwed(premium, policy, left, isCoolingOff ? 'cooling_off' : 'policy_ended', refund_id)]
}
