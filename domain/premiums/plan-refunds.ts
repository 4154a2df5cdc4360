import { sumOf } from '../money.ts'
import { heldPence, type Payment } from '../payments/payment.ts'
import type { PremiumEvent, PremiumRefundId, RefundReason } from './events.ts'
import { disputeCode, type Premium, type PremiumRefund } from './record.ts'
import { refundOwed, waived } from './refunds.ts'
import {
  excessReason,
  isAsked,
  isByTeam,
  isGift,
  isOwed,
  penceOf,
  reduced,
  sumsOf,
  type Decision,
  type Known,
  type Step,
} from './sums.ts'

/** What the firm has too much of is owed; what is owed, and is not there any more, is not. */
export const planRefunds: Step = (premium, known) => {
  const { payments } = known
  const { excess, asked, coming } = sumsOf(premium, known)
  const owed = premium.refunds.filter(isOwed)
  const more = excess + asked - sumOf(owed, penceOf)
  if (more > 0 && coming === 0) return oweRefunds(premium, known, more)
  if (more >= 0) return []
  // What is with the provider cannot be called back. What was paid twice is not any more, before what is not covered is.
  const free = owed.filter((each) => !isAsked(each, payments)).toReversed()
  const rank = (each: PremiumRefund) => (isGift(each) ? 0 : each.reason === 'paid_twice' ? 1 : 2)
  const waivable = free.toSorted((one, other) => rank(one) - rank(other))
  return waiveRefunds(premium, known, waivable, -more)
}

/** From the newest payment that holds it. */
const oweRefunds = (premium: Premium, known: Known, pence: number): Decision => {
  const { policy, payments } = known
  const decided: PremiumEvent[] = []
  const owe = (payment: Payment, refund_pence: number, reason: RefundReason): void => {
    const refund_id = newRefundId(premium, known, decided.length)
    if (refund_pence > 0) decided.push(refundOwed(premium, policy, refund_pence, reason, refund_id, payment))
  }
  let left = pence
  let reserved = sumOf(
    premium.refunds.filter((each) => isOwed(each) && !isAsked(each, payments)),
    penceOf,
  )
  for (const payment of payments.toReversed()) {
    const held = Math.max(0, heldPence(payment))
    const free = Math.max(0, held - reserved)
    reserved = Math.max(0, reserved - held)
    const given = Math.min(free, left)
    const twice = Math.min(given, paidTwice(premium, known, decided))
    owe(payment, twice, 'paid_twice')
    owe(payment, given - twice, excessReason(premium, known))
    left -= given
  }
  return decided
}

/** What would be too much, also if the time were covered, and is not owed as such yet. */
const paidTwice = (premium: Premium, known: Known, decided: Decision): number => {
  const covered = { ...known.policy, cancelled_on: null }
  const { excess, asked } = sumsOf(premium, { ...known, policy: covered })
  const owed = [...premium.refunds.filter(isOwed), ...decided].filter(
    (each) => 'reason' in each && (each.reason === 'paid_twice' || each.reason === 'operator'),
  )
  return Math.max(0, excess + asked - sumOf(owed, (each) => ('refund_pence' in each ? each.refund_pence : 0)))
}

/** What is given back since it is not covered is given back once, under the id of the premium. */
const newRefundId = ({ premium_id, refunds }: Premium, { refundIdOf }: Known, place: number): PremiumRefundId => {
  const count = refunds.length + place
  return refundIdOf(count === 0 ? premium_id : `${premium_id} ${count}`)
}

const waiveRefunds = (premium: Premium, known: Known, refunds: readonly PremiumRefund[], pence: number): Decision => {
  const decided: PremiumEvent[] = []
  let left = pence
  for (const refund of refunds) {
    if (left === 0) break
    const part = Math.min(left, refund.refund_pence)
    left -= part
    decided.push(...waive(premium, known, refund, part))
  }
  return decided
}

const waive = (premium: Premium, { policy }: Known, refund: PremiumRefund, pence: number): Decision => {
  const { premium_id, status } = premium
  const { refund_id, refund_pence, failed_attempts, is_left } = refund
  // What the team has promised is left to them; of what is asked for no more, nothing is given back.
  if (isByTeam(refund) && status !== 'written_off') {
    const delayed = { failure_code: disputeCode, attempt: failed_attempts + 1, retry_at: null }
    return is_left ? [] : [{ type: 'PremiumRefundDelayed', premium_id, refund_id, ...delayed }]
  }
  if (pence < refund_pence && !isByTeam(refund))
    return [reduced(premium, premium.attempt, refund, refund_pence - pence)]
  return [waived(policy, premium, refund, isGift(refund) ? 'not_owed' : 'taken_back')]
}
