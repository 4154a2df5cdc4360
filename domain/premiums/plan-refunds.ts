import { sumOf } from '../money.ts'
import { heldPence, type Payment } from '../payments/payment.ts'
import type { PremiumEvent, PremiumRefundId, RefundReason } from './events.ts'
import { disputeCode, evolvePremium, type Premium, type PremiumRefund } from './record.ts'
import { isByTeam, isGift, isOwed, penceOf } from './refund-record.ts'
import { reduced, refundOwed, waived } from './refunds.ts'
import { excessReason, inTurn, isAsked, sumsOf, type Decision, type Facts, type Step } from './sums.ts'

/** Money in excess is owed; a refund without money behind it any more is not. */
export const planRefunds: Step = (premium, known) => inTurn(premium, known, [waiveGifts, planOwed])

/** A gift that has come back is owed to nobody. Counted as owed, it would stand for money that was paid twice. */
const waiveGifts: Step = (premium, { payments, policy }) =>
  premium.refunds
    .filter((each) => isGift(each) && isOwed(each) && !isAsked(each, payments))
    .map((each) => waived(policy, premium, each, 'not_owed'))

const planOwed: Step = (premium, known) => {
  const more = stillToOwe(premium, known)
  if (more > 0) return sumsOf(premium, known).coming === 0 ? oweRefunds(premium, known, more) : []
  return waiveRefunds(premium, known)
}

/** The sum to owe beyond that owed already; below zero: so much of that is not there any more. */
const stillToOwe = (premium: Premium, known: Facts): number => {
  const { excess, asked } = sumsOf(premium, known)
  return excess + asked - sumOf(premium.refunds.filter(isOwed), penceOf)
}

/** From the newest payment that holds it. */
const oweRefunds = (premium: Premium, known: Facts, pence: number): Decision => {
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

/** The excess even if the time were covered, as far as it is not owed as such yet. */
const paidTwice = (premium: Premium, known: Facts, decided: Decision): number => {
  const covered = { ...known.policy, cancelled_on: null }
  // What is asked for since the time is not covered is missing then: it is no second payment.
  const { surplus, asked } = sumsOf(premium, { ...known, policy: covered })
  const owed = [...premium.refunds.filter(isOwed), ...decided].filter(
    (each) => 'reason' in each && (each.reason === 'paid_twice' || each.reason === 'operator'),
  )
  return Math.max(0, surplus + asked - sumOf(owed, (each) => ('refund_pence' in each ? each.refund_pence : 0)))
}

/** The first refund has the id of the premium: time that is not covered is given back once. */
const newRefundId = ({ premium_id, refunds }: Premium, { refundIdOf }: Facts, place: number): PremiumRefundId => {
  const count = refunds.length + place
  return refundIdOf(count === 0 ? premium_id : `${premium_id} ${count}`)
}

/** A promise of the team that is waived leaves the firm more to keep, so that each is decided by the sums after those before it. */
const waiveRefunds = (premium: Premium, known: Facts): Decision => {
  // What is with the provider cannot be called back. What was paid twice is not any more, before what is not covered is.
  const rank = (each: PremiumRefund) => (each.reason === 'paid_twice' ? 0 : 1)
  const free = premium.refunds
    .filter((each) => isOwed(each) && !isAsked(each, known.payments))
    .toReversed()
    .toSorted((one, other) => rank(one) - rank(other))
  const decided: PremiumEvent[] = []
  let record = premium
  let leftToTeam = 0
  for (const refund of free) {
    const part = Math.min(-stillToOwe(record, known) - leftToTeam, refund.refund_pence)
    if (part <= 0) break
    if (isLeftToTeam(record, refund)) leftToTeam += part
    for (const event of waive(record, known, refund, part)) {
      decided.push(event)
      record = evolvePremium(record, event, { occurred_at: known.now }) ?? record
    }
  }
  return decided
}

/** The team's own promise is left to them, unless the premium is asked for no more. */
const isLeftToTeam = ({ status }: Premium, refund: PremiumRefund): boolean =>
  isByTeam(refund) && status !== 'written_off'

const waive = (premium: Premium, { policy }: Facts, refund: PremiumRefund, pence: number): Decision => {
  const { premium_id } = premium
  const { refund_id, refund_pence, failed_attempts, is_left } = refund
  if (isLeftToTeam(premium, refund)) {
    const delayed = { failure_code: disputeCode, attempt: failed_attempts + 1, retry_at: null }
    return is_left ? [] : [{ type: 'PremiumRefundDelayed', premium_id, refund_id, ...delayed }]
  }
  if (pence < refund_pence && !isByTeam(refund))
    return [reduced(premium, premium.attempt, refund, refund_pence - pence)]
  return [waived(policy, premium, refund)]
}
