import { Rejection } from '../rejection.ts'
import { isTooEarly, retryAt } from '../retry.ts'
import type { PremiumEvent, PremiumId, PremiumRefundId, RefundReason } from '../premiums/events.ts'
import { PremiumRefundId as RefundId } from '../premiums/events.ts'
import {
  failedRefunds,
  refundable,
  refundedBy,
  standing,
  type Premium,
  type PremiumRefund,
} from '../premiums/record.ts'
import { refuseOtherContent } from '../same-key.ts'
import { about, noteOf, premiumOf } from './premium-of.ts'
import type { PolicyState } from './state.ts'

/** The operator's act. */
export type RefundPremium = {
  readonly type: 'RefundPremium'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** Null: all that is left of it. */
  readonly refund_pence: number | null
  readonly note?: string
}

/** The provider has given back what was owed. */
export type RecordPremiumRefund = {
  readonly type: 'RecordPremiumRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** How many refunds of it had failed when the provider was asked: one that has failed since is not done. */
  readonly failed_before: number
  /** Whose payment it was given back from. */
  readonly attempt: number
}

/** The provider tells how much of a payment was given back in all, by whomever. */
export type RecordProviderRefund = {
  readonly type: 'RecordProviderRefund'
  readonly premium_id: PremiumId
  readonly refund_id: PremiumRefundId
  /** Whose payment it was. */
  readonly attempt: number
  readonly total_pence: number
  /** How many refunds of the premium had failed when the total was read: it fell with each. */
  readonly failed_before: number
}

/** The card that paid the first premium was given back, or its authorisation let go. */
export type RecordCardReturned = {
  readonly type: 'RecordCardReturned'
  /** The id of what goes beyond what was owed, by how many refunds there are. */
  readonly refundId: (count: number) => PremiumRefundId
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
  readonly note?: string
}

/** How a refund that was left to the team has come to its end. */
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

/** The same was done about the card that paid the first premium. */
export type RecordCardReturnClosed = {
  readonly type: 'RecordCardReturnClosed'
  readonly closing: Closing | { readonly how: 'taken_back' }
}

type Decision = readonly PremiumEvent[]

/** A premium is given back whole once: the id of that refund is the premium's own. */
export const wholeRefundId = ({ premium_id }: Premium): PremiumRefundId => RefundId.parse(premium_id)

/** Where the card was given back in the place of a debit, that debit pays the premium. */
const isOfCardPayment = (premium: Premium): boolean =>
  premium.method === 'card' && refundedBy(premium, cardAttempt) < premium.amount_pence

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
    card_payment_id: isOfCardPayment(premium) ? card_payment_id : null,
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
  if (isOfCardPayment(premium) && refund_pence < left)
    throw refused(`must be ${left}: a card payment is given back whole`)
  return [{ ...refundOwed(premium, policy, refund_pence, 'operator', refund_id), ...noteOf(command) }]
}

const refused = (reason: string) =>
  new Rejection('validation_failed', 'Correct refund_pence and send the request again.', { refund_pence: reason })

const refunded = (
  premium: Premium,
  { refund_id, refund_pence, reason }: Owed,
  attempt: number | null = premium.attempt,
): PremiumEvent => ({
  type: 'PremiumRefunded',
  ...about(premium),
  attempt: attempt ?? premium.attempt,
  refund_id,
  refund_pence,
  reason,
})
type Owed = Pick<PremiumRefund, 'refund_id' | 'refund_pence' | 'reason'>

export const isOwed = ({ status }: PremiumRefund): boolean => status === 'owed'
export const isMade = ({ status }: PremiumRefund): boolean => status === 'refunded'

export const recordPremiumRefund = (command: RecordPremiumRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, failed_before, attempt } = command
  const premium = premiumOf(policy, premium_id)
  const owed = premium.refunds.find((each) => each.refund_id === refund_id && isOwed(each))
  return owed?.failed_provider_refunds.length === failed_before ? [refunded(premium, owed, attempt)] : []
}

/** The premium that a card has paid, whatever has paid it since. */
export const premiumByCard = ({ premiums, card_payment_id }: PolicyState): Premium | undefined =>
  card_payment_id === null ? undefined : premiums.find(({ number }) => number === 1)

/** A card pays before anybody asks for a debit. */
export const cardAttempt = 1

/** The application gives it back, of the card payment. */
export const isOfCard = ({ card_payment_id }: PremiumRefund): boolean => card_payment_id !== null

export const isClosed = ({ status }: PremiumRefund): boolean => status === 'paid_otherwise' || status === 'waived'

const closed = ({ customer }: PolicyState, premium: Premium, { refund_id, refund_pence }: PremiumRefund) => ({
  ...about(premium),
  refund_id,
  customer_id: customer.id,
  attempt: premium.attempt,
  refund_pence,
})

export const waived = (
  policy: PolicyState,
  premium: Premium,
  refund: PremiumRefund,
  why: 'not_owed' | 'taken_back',
): PremiumEvent => ({ type: 'PremiumRefundWaived', ...closed(policy, premium, refund), why, reason: null })

export const takenBack = (policy: PolicyState, premium: Premium, refund: PremiumRefund): PremiumEvent =>
  waived(policy, premium, refund, 'taken_back')

/** What becomes of refunds that are owed when a premium is asked for no more, after the payer's bank took it back. */
export const waiveRefunds = (policy: PolicyState, premium: Premium): Decision =>
  premium.refunds.filter(isOwed).map((refund) => takenBack(policy, premium, refund))

/**
 * It is not owed any more, since the payer's bank has taken back what was paid twice. A part that somebody has given back by
 * hand was then given back of the premium.
 */
export const waiveRefund = (policy: PolicyState, premium: Premium, refund_id: PremiumRefundId): Decision => {
  const { refunds, amount_pence, also_paid_by } = premium
  const refund = refunds.find((each) => isOwed(each) && each.refund_id === refund_id)
  if (!refund) return []
  const isPart = (each: PremiumRefund) =>
    isMade(each) &&
    each.reason === 'paid_twice' &&
    each.refund_pence < amount_pence &&
    !also_paid_by.some((other) => other.refund_id === each.refund_id)
  const parts = refunds.filter(isPart).map((each) => refunded(premium, { ...each, reason: 'provider' }, each.attempt))
  return [takenBack(policy, premium, refund), ...parts]
}

/** The bank has taken back what they would be given back from: whether they are still owed is left to the team. */
export const leaveRefunds = ({ premium_id, refunds }: Premium, failure_code: string): Decision =>
  refunds
    .filter((refund) => isOwed(refund) && !refund.is_left)
    .map(({ refund_id, failed_attempts }) => ({
      type: 'PremiumRefundDelayed',
      premium_id,
      refund_id,
      failure_code,
      attempt: failed_attempts + 1,
      retry_at: null,
    }))

const closedBy = (
  policy: PolicyState,
  premium: Premium,
  refund: PremiumRefund,
  closing: RecordCardReturnClosed['closing'],
): PremiumEvent => {
  switch (closing.how) {
    case 'paid_otherwise': {
      const { paid_on, reason } = closing
      return { type: 'PremiumRefundPaidOtherwise', ...closed(policy, premium, refund), paid_on, reason }
    }
    case 'not_owed': {
      const { reason } = closing
      return { type: 'PremiumRefundWaived', ...closed(policy, premium, refund), why: 'not_owed', reason }
    }
    case 'taken_back':
      return takenBack(policy, premium, refund)
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
  if (isOfCard(refund)) throw ofCard(policy, 'closed')
  return [closedBy(policy, premium, refund, closing)]
}

export const recordCardReturnClosed = ({ closing }: RecordCardReturnClosed, policy: PolicyState): Decision => {
  const premium = premiumByCard(policy)
  if (!premium) return []
  const owed = premium.refunds.filter((refund) => isOwed(refund) && isOfCard(refund))
  return owed.map((refund) => closedBy(policy, premium, refund, closing))
}

/**
 * What goes beyond what is recorded counts towards what is owed, whoever gave it back: it is owed no more. Only the rest was
 * nobody's debt.
 */
export const recordProviderRefund = (command: RecordProviderRefund, policy: PolicyState): Decision => {
  const { premium_id, refund_id, attempt, total_pence, failed_before } = command
  const premium = premiumOf(policy, premium_id)
  // Whoever records a failure looks at the total anew.
  if (failedRefunds(premium) !== failed_before) return []
  const isPaid = premium.status === 'collected'
  const isCurrent = isPaid && premium.attempt === attempt
  const other = premium.also_paid_by.find((each) => each.attempt === attempt)
  if (!isCurrent && !other && !premium.disputed_attempts.includes(attempt)) return []
  const beyond = total_pence - refundedBy(premium, attempt)
  if (beyond <= 0) return []
  // It is asked for anew: this payment does not pay it any more, whatever the banks say to the other.
  if (other && !isPaid && beyond === premium.amount_pence && standing(premium).includes(other))
    return [refunded(premium, { refund_id: other.refund_id, refund_pence: beyond, reason: 'paid_twice' }, attempt)]
  // Of what was paid twice, either payment may be given back; what is owed of the card is given back of it, whatever became of it.
  const isTowards = (refund: PremiumRefund) =>
    isCurrent || other !== undefined || (attempt === cardAttempt && isOfCard(refund))
  const owed = premium.refunds.filter((refund) => isOwed(refund) && isTowards(refund))
  const same = owed.find(({ refund_pence }) => refund_pence === beyond)
  if (same) return [refunded(premium, same, attempt)]

  const byHand = (refund_pence: number, towards?: PremiumRefund) => {
    const reason = towards?.reason === 'paid_twice' ? 'paid_twice' : 'provider'
    return refunded(premium, { refund_id, refund_pence, reason }, attempt)
  }
  const decided: PremiumEvent[] = []
  let left = beyond
  for (const refund of owed) {
    if (left === 0) break
    if (refund.refund_pence <= left) decided.push(refunded(premium, refund, attempt))
    else decided.push(byHand(left, refund), reduced(premium, refund, refund.refund_pence - left, attempt))
    left -= Math.min(left, refund.refund_pence)
  }
  return left > 0 ? [...decided, byHand(left)] : decided
}

const reduced = (premium: Premium, { refund_id }: Owed, refund_pence: number, attempt: number): PremiumEvent => ({
  type: 'PremiumRefundReduced',
  ...about(premium),
  refund_id,
  attempt,
  refund_pence,
})

export const recordCardReturned = ({ refundId, returned_pence }: RecordCardReturned, policy: PolicyState): Decision => {
  const premium = premiumByCard(policy)
  if (!premium) return []
  const refund_id = refundId(premium.refunds.length)
  const isPaidByCard = premium.status === 'collected' && premium.method === 'card'
  // It stands beside another payment, or the payer's bank has taken it back as well.
  if (!isPaidByCard) {
    const total_pence = Math.min(returned_pence, premium.amount_pence)
    const told = { premium_id: premium.premium_id, refund_id, attempt: cardAttempt, total_pence }
    return recordProviderRefund(
      { type: 'RecordProviderRefund', ...told, failed_before: failedRefunds(premium) },
      policy,
    )
  }
  const allOwed = premium.refunds.filter(isOwed)
  // What was paid twice is given back of the debit beside it, unless nothing else is owed.
  const ofPremium = allOwed.filter(({ reason }) => reason !== 'paid_twice')
  const owed = ofPremium.length > 0 ? ofPremium : allOwed
  const owed_pence = owed.reduce((sum, { refund_pence }) => sum + refund_pence, 0)
  // A part that somebody gave back by hand is recorded by itself.
  const beyond = Math.min(returned_pence, premium.amount_pence) - refundedBy(premium, premium.attempt) - owed_pence
  const others = beyond > 0 ? [{ refund_id, refund_pence: beyond, reason: 'provider' as const }] : []
  return [...owed, ...others].map((refund) => refunded(premium, refund))
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
  if (is_left && isOfCard(refund)) throw ofCard(policy, 'settled once more')
  if (is_left && premium.status !== 'collected')
    throw new Rejection(
      'conflict',
      'The payer’s bank has taken this premium back. Have it collected anew first, or close the refund.',
    )
  return is_left ? [{ type: 'PremiumRefundRequested', premium_id, refund_id, ...noteOf(command) }] : []
}

const refundWith = ({ refunds }: Premium, refund_id: PremiumRefundId): PremiumRefund => {
  const refund = refunds.find((each) => each.refund_id === refund_id)
  if (!refund) throw new Rejection('not_found', 'This premium has no refund with this id. Check the address.')
  return refund
}

const ofCard = ({ card_payment_id, application_id }: PolicyState, what: string) =>
  new Rejection(
    'conflict',
    `It is given back of a card payment: have card payment ${card_payment_id} of application ${application_id} ${what}.`,
  )
