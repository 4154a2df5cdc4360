import { Rejection } from '../rejection.ts'
import { isTooEarly, retryAt } from '../retry.ts'
import { refuseOtherContent } from '../same-key.ts'
import type { PolicyState } from '../policies/state.ts'
import { PremiumRefundId, type PremiumEvent, type PremiumId, type RefundReason } from './events.ts'
import { about, noteOf, premiumOf } from './premium-of.ts'
import { refundable, type Premium, type PremiumRefund } from './record.ts'
import { isOwed } from './refund-record.ts'
import type { Decision, Obliged } from './sums.ts'

/** The operator's act. */
export type RefundPremium = {
  readonly type: 'RefundPremium'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** Null: all that is left of it. */
  readonly refund_pence: number | null
  readonly note?: string
}

export type DelayRefund = {
  readonly type: 'DelayRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  readonly failure_code: string
  readonly now: string
}

/** The operator's act, after a refund was left to the team. */
export type RequestRefund = {
  readonly type: 'RequestRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  readonly note?: string
}

/** The end of a refund that was left to the team. */
type Closing =
  | { readonly how: 'paid_otherwise'; readonly paid_on: string; readonly reason: string }
  | { readonly how: 'not_owed'; readonly reason: string }

/** The operator's act, where trying again would fail again. */
export type CloseRefund = {
  readonly type: 'CloseRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  readonly closing: Closing
}

/** A premium is given back whole once: the id of that refund is the premium's own, unless another is named. */
export const refundOwed = (
  premium: Premium,
  { application_id, card_payment_id }: Pick<Obliged, 'application_id' | 'card_payment_id'>,
  refund_pence: number,
  reason: RefundReason,
  refund_id = PremiumRefundId.parse(premium.premium_id),
  { method }: Pick<Premium, 'method'> = premium,
) =>
  ({
    type: 'PremiumRefundOwed',
    ...about(premium),
    refund_id,
    application_id,
    card_payment_id: method === 'card' ? card_payment_id : null,
    refund_pence,
    reason,
  }) as const

export const refundPremium = (command: RefundPremium, policy: PolicyState): Decision => {
  const { premium_id, refund_id } = command
  const premium = premiumOf(policy, premium_id)
  const asked = policy.asked_refunds[refund_id]
  if (asked) {
    const isSame = command.refund_pence === null ? asked.is_all : command.refund_pence === asked.refund_pence
    // Former versions asked for no reason.
    const isForSame = asked.note === undefined || command.note === asked.note
    refuseOtherContent('gave a premium back', [
      ...(isSame ? [] : [{ what: 'refund_pence', input: 'refund_pence' }]),
      ...(isForSame ? [] : [{ what: 'reason', input: 'reason' }]),
    ])
    return []
  }
  if (premium.status !== 'collected') throw new Rejection('conflict', 'This premium was not collected.')
  const left = refundable(premium)
  if (left === 0) throw new Rejection('conflict', 'This premium was given back, or is about to be.')
  const refund_pence = command.refund_pence ?? left
  if (refund_pence > left) throw refused(`must be at most ${left}`)
  return [{ ...refundOwed(premium, policy, refund_pence, 'operator', refund_id), ...noteOf(command) }]
}

const refused = (reason: string) =>
  new Rejection('validation_failed', 'Correct refund_pence and send the request again.', { refund_pence: reason })

const closed = ({ customer }: Pick<Obliged, 'customer'>, premium: Premium, refund: PremiumRefund) => ({
  ...about(premium),
  refund_id: refund.refund_id,
  customer_id: customer.id,
  attempt: premium.attempt,
  refund_pence: refund.refund_pence,
})

/** It is owed no more: by default since the payer's bank took back what was to be given back. */
export const waived = (
  policy: Pick<Obliged, 'customer'>,
  premium: Premium,
  refund: PremiumRefund,
  why: 'not_owed' | 'taken_back' = 'taken_back',
  reason: string | null = null,
): PremiumEvent => ({ type: 'PremiumRefundWaived', ...closed(policy, premium, refund), why, reason })

/** Only so much of it is owed still. */
export const reduced = (
  premium: Premium,
  attempt: number,
  { refund_id }: PremiumRefund,
  refund_pence: number,
): PremiumEvent => ({ type: 'PremiumRefundReduced', ...about(premium), refund_id, attempt, refund_pence })

const closedBy = (policy: PolicyState, premium: Premium, refund: PremiumRefund, closing: Closing): PremiumEvent => {
  switch (closing.how) {
    case 'paid_otherwise': {
      const { paid_on, reason } = closing
      return { type: 'PremiumRefundPaidOtherwise', ...closed(policy, premium, refund), paid_on, reason }
    }
    case 'not_owed':
      return waived(policy, premium, refund, 'not_owed', closing.reason)
  }
}

export const closeRefund = ({ premium_id, refund_id, closing }: CloseRefund, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, premium_id)
  const refund = refundWith(premium, refund_id)
  if (refund.status === (closing.how === 'not_owed' ? 'waived' : 'paid_otherwise')) return []
  if (refund.status !== 'owed')
    throw new Rejection('conflict', `This refund has come to its end already (${refund.status}).`)
  if (!refund.is_left)
    throw new Rejection('conflict', 'This refund is still tried. It can be closed once it is left to the team.')
  return [closedBy(policy, premium, refund, closing)]
}

export const delayRefund = (command: DelayRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, failure_code, now } = command
  const owed = premiumOf(policy, premium_id).refunds.find((each) => each.refund_id === refund_id && isOwed(each))
  if (!owed || owed.is_left || isTooEarly(policy.refund_retry_at[refund_id], now)) return []
  const retry_at = retryAt(owed.failed_attempts, now)
  const attempt = owed.failed_attempts + 1
  return [{ type: 'PremiumRefundDelayed', premium_id, refund_id, failure_code, attempt, retry_at }]
}

export const requestRefund = (command: RequestRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id } = command
  const premium = premiumOf(policy, premium_id)
  const refund = refundWith(premium, refund_id)
  const { is_left } = refund
  if (is_left && premium.status !== 'collected')
    throw new Rejection(
      'conflict',
      'The payer’s bank has taken this premium back. Have it collected again first, or close the refund.',
    )
  return is_left ? [{ type: 'PremiumRefundRequested', premium_id, refund_id, ...noteOf(command) }] : []
}

const refundWith = ({ refunds }: Premium, refund_id: PremiumRefundId): PremiumRefund => {
  const refund = refunds.find((each) => each.refund_id === refund_id)
  if (!refund) throw new Rejection('not_found', 'This premium has no refund with this id. Check the address.')
  return refund
}
