import { sumOf } from '../money.ts'
import { askedPence, comingPence, heldPence, paidPence, type Payment } from '../payments/payment.ts'
import type { ApplicationId, CustomerId } from '../values.ts'
import type { BankCalendar } from '../working-days.ts'
import type { PremiumEvent, PremiumRefundId, RefundReason } from './events.ts'
import { evolvePremium, type Premium, type PremiumRefund } from './record.ts'
import { isByTeam, isGift, isGiven, isOwed, penceOf } from './refund-record.ts'

/** Policy fields that decide what is owed of its premiums. */
export type Obliged = {
  readonly application_id: ApplicationId
  readonly card_payment_id: string | null
  readonly customer: { readonly id: CustomerId }
  readonly cancelled_on: string | null
  readonly cancellation_reason: string | null
  readonly time_zone: string
  readonly collection_rules: { readonly retry_after_days: readonly number[] }
  /** Cover has come to its end, for whatever reason. */
  readonly has_ended: boolean
}

/** All that is known when a premium is settled. */
export type Facts = {
  readonly policy: Obliged
  /** Every payment of the premium, in the order of the attempts. */
  readonly payments: readonly Payment[]
  readonly now: string
  /** It is collected again on a working day. */
  readonly calendar: BankCalendar
  /** The id of a refund that follows from what it is called. */
  readonly refundIdOf: (name: string) => PremiumRefundId
}

export type Decision = readonly PremiumEvent[]
export type Step = (premium: Premium, known: Facts) => Decision

/** Decisions of the steps, each on the record left by those before it. */
export const inTurn = (premium: Premium, known: Facts, steps: readonly Step[]): Decision => {
  let record = premium
  return steps.flatMap((step) => {
    const decided = step(record, known)
    for (const event of decided) record = evolvePremium(record, event, { occurred_at: known.now }) ?? record
    return decided
  })
}

/** The kind of end by which the premium's time is not covered; undefined: it is covered. */
export const notCovered = (
  { covers_from }: Premium,
  { cancelled_on, cancellation_reason }: Obliged,
): 'cooling_off' | 'policy_ended' | undefined => {
  if (cancelled_on === null) return undefined
  if (cancellation_reason === 'cooling_off') return 'cooling_off'
  return covers_from < cancelled_on ? undefined : 'policy_ended'
}

export const isAsked = (refund: PremiumRefund, payments: readonly Payment[]): boolean =>
  payments.some(({ asked }) => asked?.refund_id === refund.refund_id)

/** The provider was asked to give back a sum owed no more, such as one given back by hand meanwhile. */
export const isNeedless = ({ refunds }: Premium, { asked }: Payment): boolean =>
  asked !== null && !refunds.some((each) => isOwed(each) && each.refund_id === asked.refund_id)

export const pendingPence = ({ refund_id }: PremiumRefund, payments: readonly Payment[]): number =>
  sumOf(
    payments.filter(({ asked }) => asked?.refund_id === refund_id),
    askedPence,
  )

/**
 * The sums of a premium, each from what has happened.
 *
 * `surplus`: money that the firm has beyond what it may keep, or less than nothing. `excess`: the same, where it is more than
 * nothing. `asked`: refunds asked of the provider, without an answer yet. `missing`: money still to be paid. `coming`: money
 * that may be paid yet.
 */
export const sumsOf = (premium: Premium, { payments, policy }: Pick<Facts, 'payments' | 'policy'>) => {
  const { refunds, amount_pence } = premium
  const otherwise = sumOf(
    refunds.filter(({ status }) => status === 'paid_otherwise'),
    penceOf,
  )
  // What was asked for, and is owed no more since, is not going to be given back.
  const needless = payments.filter((payment) => isNeedless(premium, payment))
  const asked = sumOf(payments, askedPence) - sumOf(needless, askedPence)
  const net = sumOf(payments, heldPence) + sumOf(needless, askedPence) - otherwise
  const isCovered = notCovered(premium, policy) === undefined
  const owed = isCovered ? amount_pence : 0
  const gifts = sumOf(
    refunds.filter((refund) => isGift(refund) && isGiven(refund)),
    penceOf,
  )
  const byTeam = refunds.filter(isByTeam)
  const promised = sumOf(
    byTeam.filter((refund) => isOwed(refund) || isGiven(refund)),
    penceOf,
  )
  const given = sumOf(
    byTeam.filter((refund) => isGiven(refund) || (isOwed(refund) && isAsked(refund, payments))),
    penceOf,
  )
  const isKept = (refund: PremiumRefund) =>
    refund.status === 'waived' && refund.waived_as === 'not_owed' && !isByTeam(refund) && !isGift(refund)
  const kept = sumOf(refunds.filter(isKept), penceOf)
  const surplus = net - Math.max(0, owed - promised - gifts) - kept
  // Where the firm has given back more than was paid, nothing is missing since.
  const left = owed - given - gifts
  return {
    surplus,
    excess: Math.max(0, surplus),
    asked,
    missing: Math.max(0, (isCovered ? left : Math.max(0, left)) - net),
    coming: sumOf(payments, comingPence),
  }
}

/** The payment that pays the premium: the first that stands. */
export const payingOf = (payments: readonly Payment[]): Payment | undefined =>
  payments.find((payment) => heldPence(payment) > 0) ?? payments.find((payment) => paidPence(payment) > 0)

export const attemptOf = ({ attempt }: Payment): number => attempt ?? 1

/** The reason for which an excess is owed. */
export const excessReason = (premium: Premium, { policy }: Facts): RefundReason =>
  notCovered(premium, policy) ?? 'paid_twice'
