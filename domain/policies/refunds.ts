import { Rejection } from '../rejection.ts'
import { retryAt } from '../retry.ts'
import type { PremiumEvent, PremiumId, PremiumRefundId, RefundReason } from '../premiums/events.ts'
import { PremiumRefundId as RefundId } from '../premiums/events.ts'
import { refundable, type Premium, type PremiumRefund } from '../premiums/record.ts'
import { about, premiumOf } from './premium.ts'
import type { PolicyState } from './state.ts'

/** The operator's act. */
export type RefundPremium = {
  readonly type: 'RefundPremium'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** Null: all that is left of it. */
  readonly refund_pence: number | null
}

/** The provider has given back what was owed. */
export type RecordPremiumRefund = {
  readonly type: 'RecordPremiumRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** How many refunds of it had failed when the provider was asked: one that has failed since is not done. */
  readonly failed_before: number
}

/** The provider tells, often days later, that what it gave back has come back to it. */
export type RecordRefundFailure = {
  readonly type: 'RecordRefundFailure'
  readonly premium_id: PremiumId
  /** Null: it was made by hand at the provider. */
  readonly refund_id: PremiumRefundId | null
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

/** The provider tells how much of a premium was given back in all, by whomever. */
export type RecordProviderRefund = {
  readonly type: 'RecordProviderRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  readonly total_pence: number
}

/** The card that paid the first premium was given back, or its authorisation let go. */
export type RecordCardReturned = {
  readonly type: 'RecordCardReturned'
  readonly refund_id: PremiumRefundId
  readonly returned_pence: number
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
}

type Decision = readonly PremiumEvent[]

/** A premium is given back whole once: the id of that refund is the premium's own. */
export const wholeRefundId = ({ premium_id }: Premium): PremiumRefundId => RefundId.parse(premium_id)

export const refundOwed = (
  premium: Premium,
  { application_id, card_payment_id }: Pick<PolicyState, 'application_id' | 'card_payment_id'>,
  refund_pence: number,
  reason: RefundReason,
  refund_id = wholeRefundId(premium),
) =>
  ({
    type: 'PremiumRefundOwed',
    ...about(premium),
    refund_id,
    application_id,
    card_payment_id: premium.method === 'card' ? card_payment_id : null,
    refund_pence,
    reason,
  }) as const

export const refundPremium = (command: RefundPremium, policy: PolicyState): Decision => {
  const { premium_id, refund_id } = command
  const premium = premiumOf(policy, premium_id)
  if (premium.refunds.some((each) => each.refund_id === refund_id)) return []
  if (premium.status !== 'collected') throw new Rejection('conflict', 'This premium was not collected.')
  const left = refundable(premium)
  if (left === 0) throw new Rejection('conflict', 'This premium was given back, or is about to be.')
  const refund_pence = command.refund_pence ?? left
  if (refund_pence > left) throw refused(`must be at most ${left}`)
  if (premium.method === 'card' && refund_pence < premium.amount_pence)
    throw refused(`must be ${premium.amount_pence}: a card payment is given back whole`)
  return [refundOwed(premium, policy, refund_pence, 'operator', refund_id)]
}

const refused = (reason: string) =>
  new Rejection('validation_failed', 'Correct refund_pence and send the request again.', { refund_pence: reason })

const refunded = (premium: Premium, { refund_id, refund_pence, reason }: Owed): PremiumEvent => ({
  type: 'PremiumRefunded',
  ...about(premium),
  attempt: premium.attempt,
  refund_id,
  refund_pence,
  reason,
})
type Owed = Pick<PremiumRefund, 'refund_id' | 'refund_pence' | 'reason'>

const isOwed = ({ status }: PremiumRefund): boolean => status === 'owed'

export const recordPremiumRefund = (command: RecordPremiumRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, failed_before } = command
  const premium = premiumOf(policy, premium_id)
  const owed = premium.refunds.find((each) => each.refund_id === refund_id && isOwed(each))
  return owed?.failed_provider_refunds.length === failed_before ? [refunded(premium, owed)] : []
}

export const recordRefundFailure = (command: RecordRefundFailure, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, command.premium_id)
  return refundsFailed(premium, failedOf(premium, command), command)
}

/**
 * One that was made by hand may have counted towards ours, or be recorded in parts: as many stand no more as hold its amount.
 * That is safe, since only what the provider has not given back is given back anew.
 */
const failedOf = ({ refunds }: Premium, { refund_id, refund_pence }: RecordRefundFailure): readonly PremiumRefund[] => {
  if (refund_id !== null) return refunds.filter((each) => each.refund_id === refund_id)
  const standing = refunds.filter(({ status }) => status === 'refunded').toReversed()
  const same = standing.find((each) => each.refund_pence === refund_pence)
  if (same) return [same]
  let left = refund_pence
  return standing.filter((each) => {
    const isNeeded = left > 0
    left -= each.refund_pence
    return isNeeded
  })
}

export const recordCardReturnFailure = (command: RecordCardReturnFailure, policy: PolicyState): Decision => {
  const premium = policy.premiums.find(({ method }) => method === 'card')
  return premium
    ? refundsFailed(
        premium,
        premium.refunds.filter(({ status }) => status === 'refunded'),
        command,
      )
    : []
}

/** The provider says it under several names and more than once: each of its refunds fails once. */
const refundsFailed = (
  premium: Premium,
  failed: readonly PremiumRefund[],
  { provider_refund_id, failure_code }: Pick<RecordRefundFailure, 'provider_refund_id' | 'failure_code'>,
): Decision => {
  if (premium.refunds.some((each) => each.failed_provider_refunds.includes(provider_refund_id))) return []
  const { attempt } = premium
  return failed.map(({ refund_id, refund_pence }) => ({
    type: 'PremiumRefundFailed',
    ...about(premium),
    refund_id,
    attempt,
    refund_pence,
    failure_code,
    provider_refund_id,
  }))
}

/** What is owed by us was given back by us: only what goes beyond it was given back by somebody else. */
export const recordProviderRefund = (command: RecordProviderRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, total_pence } = command
  const premium = premiumOf(policy, premium_id)
  if (premium.status !== 'collected') return []
  const beyond = total_pence - (premium.amount_pence - refundable(premium))
  return beyond > 0 ? [refunded(premium, { refund_id, refund_pence: beyond, reason: 'provider' })] : []
}

export const recordCardReturned = (
  { refund_id, returned_pence }: RecordCardReturned,
  policy: PolicyState,
): Decision => {
  const premium = policy.premiums.find(({ method }) => method === 'card')
  if (premium?.status !== 'collected') return []
  const owed = premium.refunds.find(isOwed)
  if (owed) return [refunded(premium, owed)]
  const left = refundable(premium)
  return left > 0 && returned_pence > 0
    ? [refunded(premium, { refund_id, refund_pence: Math.min(left, returned_pence), reason: 'provider' })]
    : []
}

export const delayRefund = (command: DelayRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, failure_code, now } = command
  const owed = premiumOf(policy, premium_id).refunds.find((each) => each.refund_id === refund_id && isOwed(each))
  if (!owed || owed.is_left) return []
  const retry_at = retryAt(owed.failed_attempts, now)
  const attempt = owed.failed_attempts + 1
  return [{ type: 'PremiumRefundDelayed', premium_id, refund_id, failure_code, attempt, retry_at }]
}

export const requestRefund = ({ premium_id, refund_id }: RequestRefund, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, premium_id)
  const refund = premium.refunds.find((each) => each.refund_id === refund_id)
  if (!refund) throw new Rejection('not_found', 'This premium has no refund with this id. Check the address.')
  if (refund.is_left && premium.method === 'card') throw paidByCard(policy)
  return refund.is_left ? [{ type: 'PremiumRefundRequested', premium_id, refund_id }] : []
}

const paidByCard = ({ card_payment_id, application_id }: PolicyState) =>
  new Rejection(
    'conflict',
    `This premium was paid by card: have card payment ${card_payment_id} of application ${application_id} settled once more.`,
  )
