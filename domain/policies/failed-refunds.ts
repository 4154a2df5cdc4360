import type { PremiumEvent, PremiumId, PremiumRefundId } from '../premiums/events.ts'
import type { Premium, PremiumRefund } from '../premiums/record.ts'
import { paidBy, refundedAtOnce } from './paid-premium.ts'
import { about, premiumOf } from './premium-of.ts'
import { cardAttempt, isClosed, isMade, isOfCard, isOwed, premiumByCard, takenBack, waived } from './refunds.ts'
import type { PolicyState } from './state.ts'

/** The provider tells, often days later, that what it gave back has come back to it. */
export type RecordRefundFailure = {
  readonly type: 'RecordRefundFailure'
  readonly premium_id: PremiumId
  /** Null: it was made by hand at the provider. */
  readonly refund_id: PremiumRefundId | null
  /** Of whose payment it was. */
  readonly attempt: number
  readonly refund_pence: number
  readonly provider_refund_id: string
  readonly failure_code: string
}

/** The same of the card that paid the first premium. */
export type RecordCardReturnFailure = {
  readonly type: 'RecordCardReturnFailure'
  readonly provider_refund_id: string
  readonly failure_code: string
}

type Decision = readonly PremiumEvent[]

export const recordRefundFailure = (command: RecordRefundFailure, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, command.premium_id)
  return refundsFailed(policy, premium, failedOf(premium, command), command)
}

/**
 * One that was made by hand may have counted towards ours, or be recorded in parts: as many stand no more as hold its amount.
 * That is safe, since only what the provider has not given back is given back anew.
 */
const failedOf = (
  { refunds }: Premium,
  { refund_id, attempt, refund_pence }: RecordRefundFailure,
): readonly PremiumRefund[] => {
  const named = refunds.find((each) => each.refund_id === refund_id)
  // One that was closed by the team is closed: what was made of it all the same is recorded by itself.
  if (named && !isClosed(named)) return [named]
  const made = refunds.filter((each) => isMade(each) && each.attempt === attempt).toReversed()
  const same = made.find((each) => each.refund_pence === refund_pence)
  if (same) return [same]
  let left = refund_pence
  return made.filter((each) => {
    const isNeeded = left > 0
    left -= each.refund_pence
    return isNeeded
  })
}

export const recordCardReturnFailure = (command: RecordCardReturnFailure, policy: PolicyState): Decision => {
  const premium = premiumByCard(policy)
  if (!premium) return []
  const made = premium.refunds.filter((refund) => isMade(refund) && refund.attempt === cardAttempt)
  // What was owed comes before what was given back by hand. Where nobody has recorded that it was made, it is owed still.
  const candidates = [made.filter(isOfCard), made, premium.refunds.filter((each) => isOwed(each) && isOfCard(each))]
  const failed = candidates.find((refunds) => refunds.length > 0) ?? []
  return refundsFailed(policy, premium, failed, command)
}

/** The provider says it under several names and more than once: each of its refunds fails once. */
const refundsFailed = (
  policy: PolicyState,
  premium: Premium,
  failed: readonly PremiumRefund[],
  { provider_refund_id, failure_code }: Pick<RecordRefundFailure, 'provider_refund_id' | 'failure_code'>,
): Decision => {
  if (premium.refunds.some((each) => each.failed_provider_refunds.includes(provider_refund_id))) return []
  const { attempt } = premium
  return failed.flatMap((refund): Decision => {
    const { refund_id, refund_pence } = refund
    const about_it = { ...about(premium), refund_id, attempt, refund_pence, failure_code, provider_refund_id }
    const hasFailed = { type: 'PremiumRefundFailed', ...about_it } as const
    // Of two payments one was taken back, and this one is not given back: it pays the premium.
    const other = premium.also_paid_by.find((each) => each.refund_id === refund_id)
    const isUnpaid = premium.status === 'failed' || premium.status === 'written_off'
    if (other && isUnpaid) return [hasFailed, ...paidBy(premium, policy, other), takenBack(policy, premium, refund)]
    // The payer's bank has taken the payment back: what was paid twice is not any more, what is written off was not paid.
    const isLost = refund.reason === 'paid_twice' && refund_pence === premium.amount_pence && !other
    if (isLost || premium.status === 'written_off') return [hasFailed, takenBack(policy, premium, refund)]
    // What the policy owes of a card payment is owed whole: what somebody gave back of it by hand was nobody's debt.
    const isByHand = premium.method === 'card' && refund.reason === 'provider' && refund.card_payment_id === null
    const isNoDebt = isByHand && !isForNothing(premium, policy, refund)
    return isNoDebt ? [hasFailed, waived(policy, premium, refund, 'not_owed')] : [hasFailed]
  })
}

/** It was collected for a time that is not covered, and no other refund of the card gives it back. */
const isForNothing = (premium: Premium, policy: PolicyState, refund: PremiumRefund): boolean => {
  const refunds = premium.refunds.filter((each) => each !== refund)
  const isOwedOtherwise = refunds.some((each) => isOwed(each) && isOfCard(each))
  const owed = refundedAtOnce({ ...premium, refunds }, policy, [refund.refund_id])
  return premium.status === 'collected' && !isOwedOtherwise && owed.length > 0
}
