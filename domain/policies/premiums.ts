import { Rejection } from '../rejection.ts'
import { isTooEarly } from '../retry.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { MandateId } from '../payments/events.ts'
import type { PremiumEvent, PremiumId, PremiumRefundId, WriteOffReason } from '../premiums/events.ts'
import { disputeCode, refundable, type Premium } from '../premiums/record.ts'
import { coversFrom, dueAfter } from './collection.ts'
import { daysAfter, earlierOf } from '../dates.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent } from './events.ts'
import type { PolicyStreamEvent } from './record.ts'
import { nextNumber, type PolicyState } from './state.ts'
import { about, premiumOf } from './premium.ts'
import { leaveRefunds, refundOwed, waiveRefund, waiveRefunds, wholeRefundId } from './refunds.ts'

/** Sent when the day has come on which a premium is due. */
export type CallPremium = {
  readonly type: 'CallPremium'
  readonly now: string
  /** The id of a premium follows from the policy and its number. */
  readonly idOf: (number: number) => PremiumId
}

/** The provider was asked to collect, and has taken it on. */
export type RecordPremiumRequest = {
  readonly type: 'RecordPremiumRequest'
  readonly premium_id: PremiumId
  readonly attempt: number
  readonly payment_intent_id: string
  readonly check_at: string
}

/** The provider has not answered, or has no answer of the banks. */
export type DelayPremium = {
  readonly type: 'DelayPremium'
  readonly premium_id: PremiumId
  readonly attempt: number
  readonly failure_code: string
  readonly now: string
}

/** What became of an attempt to collect. */
export type SettlePremium = {
  readonly type: 'SettlePremium'
  readonly premium_id: PremiumId
  readonly attempt: number
  readonly now: string
  readonly result:
    | ({ readonly outcome: 'collected' } & Collected)
    | { readonly outcome: 'failed'; readonly failure_code: string }
    /** What was collected was taken back by the payer's bank, which needs no reason and has no end of time for it. */
    | { readonly outcome: 'disputed' }
    /** The firm has won the dispute, and what was collected is its own again. */
    | ({ readonly outcome: 'reinstated' } & Collected)
}

type Collected = {
  readonly payment_intent_id: string
  readonly collected_at: string
  /** Of what is given back, where another attempt has collected it as well. */
  readonly refund_id: PremiumRefundId
}

/** Sent by a timer, and by the operator at any time after a failure. */
export type RetryPremium = {
  readonly type: 'RetryPremium'
  readonly premium_id: PremiumId
  readonly by: 'timer' | 'operator'
  readonly now: string
}

/** The operator's act; or sent when a policy has ended, and the provider was never asked for a premium that is due. */
export type WriteOffPremium = {
  readonly type: 'WriteOffPremium'
  readonly premium_id: PremiumId
  readonly reason: WriteOffReason
}

/** The card that paid the first premium was charged. */
export type RecordCardCharged = { readonly type: 'RecordCardCharged'; readonly collected_at: string }

type Decision = readonly PremiumEvent[]

export const callPremium = ({ now, idOf }: CallPremium, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { next_collection_on, time_zone, end_date } = policy
  if (next_collection_on === null) return []
  // Whatever pays for the term is due by the end of it.
  const due_on = end_date === null ? next_collection_on : earlierOf(next_collection_on, end_date)
  if (due_on > dateIn(time_zone, now)) return []
  const number = nextNumber(policy)
  const next_due_on = dueAfter(policy, number, due_on)
  const covers_from = coversFrom(policy, number)
  const ended = coversEnded(policy, covers_from)
  const amount_pence = ended[0]?.premium_pence ?? policy.premium_pence
  const about_it = { premium_id: idOf(number), number, amount_pence, due_on, method: 'direct_debit' } as const
  const next_due_at = next_due_on === null ? null : startOfDayIn(time_zone, next_due_on)
  const due = { type: 'PremiumDue', ...about_it, covers_from, next_due_on, next_due_at } as const
  // The provider takes no debit of nothing, and its refusal would suspend cover, and end it.
  const isPaid = amount_pence === 0
  const paid = {
    type: 'PremiumCollected',
    ...about_it,
    attempt: 1,
    payment_intent_id: null,
    collected_at: now,
  } as const
  return [...ended, due, ...(isPaid ? [paid] : [])]
}

/** A cover is paid for as long as its own term, also where others go on. */
const coversEnded = ({ components, ended_covers, premium_pence: former }: PolicyState, covers_from: string) => {
  const ended = components.filter(
    ({ cover_index, expires_on }) =>
      expires_on !== null && expires_on <= covers_from && !ended_covers.includes(cover_index),
  )
  if (ended.length === 0) return []
  const premium_pence = ended.reduce((rest, component) => rest - component.premium_pence, former)
  const cover_indexes = ended.map(({ cover_index }) => cover_index)
  return [{ type: 'PolicyCoverEnded', cover_indexes, premium_pence, annual_premium_pence: 12 * premium_pence } as const]
}

export const recordPremiumRequest = (command: RecordPremiumRequest, policy: PolicyState): Decision => {
  const { type: _type, premium_id, attempt, payment_intent_id, check_at } = command
  const premium = premiumOf(policy, premium_id)
  if (premium.status !== 'due' || premium.attempt !== attempt) return []
  return [{ type: 'PremiumRequested', ...about(premium), attempt, payment_intent_id, check_at }]
}

const minute = 60_000
const day = 1440
/** Never given up: after these, once a day. */
const delaysMs = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * minute)

export const delayPremium = (
  { premium_id, attempt, failure_code, now }: DelayPremium,
  policy: PolicyState,
): Decision => {
  const premium = premiumOf(policy, premium_id)
  if ((premium.status !== 'due' && premium.status !== 'requested') || premium.attempt !== attempt) return []
  if (isTooEarly(premium.retry_at, now)) return []
  // The banks take days: whether they have answered is asked once a day.
  const delay = (premium.status === 'due' ? delaysMs[premium.delays] : undefined) ?? day * minute
  const retry_at = new Date(Date.parse(now) + delay).toISOString()
  return [{ type: 'PremiumDelayed', premium_id, attempt, failure_code, failures: premium.delays + 1, retry_at }]
}

/** News may come twice, late and in any order. Money that has come is recorded, whatever was decided meanwhile. */
export const settlePremium = (
  { premium_id, attempt, now, result }: SettlePremium,
  policy: PolicyState,
): readonly PolicyStreamEvent[] => {
  const premium = premiumOf(policy, premium_id)
  if (result.outcome === 'disputed') return disputed(premium, attempt, policy, now)
  if (result.outcome === 'reinstated') return reinstated(premium, attempt, policy, result)
  if (result.outcome === 'collected') {
    if (attempt <= premium.disputed_attempt) return []
    if (premium.status === 'collected') return collectedAsWell(premium, attempt, policy, result)
    return [
      byDebit(premium, attempt, result),
      ...provenMandate(policy),
      ...(premium.reinstated ? [paidTwice(premium, policy, premium.reinstated)] : []),
      ...refundedAtOnce({ ...premium, method: 'direct_debit' }, policy, result.refund_id),
    ]
  }
  if ((premium.status !== 'due' && premium.status !== 'requested') || premium.attempt !== attempt) return []
  // Nothing was to be collected anew.
  if (premium.reinstated) return paidByEarlier(premium, policy, premium.reinstated)
  const { customer, collection_rules, time_zone } = policy
  const days = hasEnded(policy) ? undefined : collection_rules.retry_after_days[attempt - 1]
  const retry_at = days === undefined ? null : startOfDayIn(time_zone, daysAfter(dateIn(time_zone, now), days))
  const { failure_code } = result
  return [
    {
      type: 'PremiumFailed',
      ...about(premium),
      customer_id: customer.id,
      attempt,
      failure_code,
      retry_at,
      disputed_on: null,
    },
    ...(hasEnded(policy) ? [writtenOff(premium)] : []),
  ]
}

const byDebit = (premium: Premium, attempt: number, { payment_intent_id, collected_at }: Collected) =>
  ({
    type: 'PremiumCollected',
    ...about(premium),
    attempt,
    method: 'direct_debit',
    payment_intent_id,
    collected_at,
  }) as const

/** Another attempt had paid it: one that had failed has succeeded after all, or was asked for when nobody was to ask. */
const collectedAsWell = (premium: Premium, attempt: number, policy: PolicyState, told: Collected): Decision => {
  const { attempt: paid_by, method, payment_intent_id, collected_at } = premium
  if (attempt === paid_by || attempt === premium.reinstated?.attempt) return []
  const isNewer = attempt > paid_by
  const { refund_id } = told
  const earlier: Reinstated = isNewer
    ? { attempt: paid_by, method, payment_intent_id, reinstated_at: collected_at ?? told.collected_at, refund_id }
    : {
        attempt,
        method: 'direct_debit',
        payment_intent_id: told.payment_intent_id,
        reinstated_at: told.collected_at,
        refund_id,
      }
  return [
    { type: 'PremiumReinstated', ...about(premium), ...earlier },
    ...(isNewer ? [byDebit(premium, attempt, told)] : []),
    paidTwice(premium, policy, earlier),
  ]
}

/** Whoever has paid by Direct Debit has a mandate that the banks took, also where the news of that was lost. */
const provenMandate = ({ payment_method, provider_mandate, application_id }: PolicyState): readonly PolicyEvent[] => {
  const { mandate_id, mandate_status } = payment_method
  return mandate_id !== null && provider_mandate !== null && mandate_status === 'pending'
    ? [{ type: 'PolicyMandateChanged', mandate_id: MandateId.parse(mandate_id), status: 'active', application_id }]
    : []
}

/** It is owed again, and whether it is asked for again is left to the team. */
const disputed = (premium: Premium, attempt: number, policy: PolicyState, now: string): Decision => {
  // It may be told before anybody has recorded that it was asked for, or collected.
  const mayBeCollected = premium.status === 'collected' || premium.status === 'requested' || premium.status === 'due'
  if (premium.attempt !== attempt || !mayBeCollected) return []
  const { id: customer_id } = policy.customer
  const failed = { ...about(premium), customer_id, attempt, failure_code: disputeCode, retry_at: null }
  const { reinstated: earlier } = premium
  const isGivenBack = premium.refunds.some(
    ({ refund_id, status }) =>
      refund_id === earlier?.refund_id && (status === 'refunded' || status === 'paid_otherwise'),
  )
  const isPaid = earlier !== null && !isGivenBack
  const whatFollows = isPaid
    ? [...paidByEarlier(premium, policy, earlier), ...waiveRefund(policy, premium, earlier.refund_id)]
    : hasEnded(policy)
      ? giveUp(policy, premium)
      : leaveRefunds(premium, disputeCode)
  return [{ type: 'PremiumFailed', ...failed, disputed_on: dateIn(policy.time_zone, now) }, ...whatFollows]
}

/** It is paid again. Where it was collected anew meanwhile it was paid twice, and one of both is given back. */
const reinstated = (
  premium: Premium,
  attempt: number,
  policy: PolicyState,
  { payment_intent_id, collected_at, refund_id }: Extract<SettlePremium['result'], { outcome: 'reinstated' }>,
): Decision => {
  const isTold = premium.reinstated?.attempt === attempt || premium.refunds.some((each) => each.refund_id === refund_id)
  if (attempt > premium.disputed_attempt || isTold) return []
  const isByCard = policy.card_payment_id !== null && premium.number === 1 && attempt === 1
  const earlier: Reinstated = {
    attempt,
    method: isByCard ? 'card' : 'direct_debit',
    payment_intent_id: isByCard ? null : payment_intent_id,
    reinstated_at: collected_at,
    refund_id,
  }
  const isLost = premium.status === 'failed' || premium.status === 'written_off'
  const paid = isLost ? paidByEarlier(premium, policy, earlier) : []
  if (premium.attempt === attempt) return paid
  const twice = premium.status === 'collected' ? [paidTwice(premium, policy, earlier)] : []
  return [{ type: 'PremiumReinstated', ...about(premium), ...earlier }, ...paid, ...twice]
}
type Reinstated = NonNullable<Premium['reinstated']>

/** What the attempt of a dispute that was won had collected pays for it. */
const paidByEarlier = (
  premium: Premium,
  policy: PolicyState,
  { attempt, method, payment_intent_id, reinstated_at: collected_at, refund_id }: Reinstated,
): Decision => [
  { type: 'PremiumCollected', ...about(premium), attempt, method, payment_intent_id, collected_at },
  ...refundedAtOnce({ ...premium, method }, policy, refund_id),
]

/** It is the newer payment that is given back: that by Direct Debit. */
const paidTwice = (premium: Premium, policy: PolicyState, { refund_id }: Reinstated) =>
  refundOwed({ ...premium, method: 'direct_debit' }, policy, premium.amount_pence, 'paid_twice', refund_id)

/** What is collected for a time that is not covered is given back. */
const refundedAtOnce = (premium: Premium, policy: PolicyState, otherwise?: PremiumRefundId): Decision => {
  const { cancelled_on, cancellation_reason } = policy
  if (cancelled_on === null) return []
  const isCoolingOff = cancellation_reason === 'cooling_off'
  if (!isCoolingOff && premium.covers_from < cancelled_on) return []
  const left = refundable({ ...premium, status: 'collected' })
  if (left === 0) return []
  const refund_id = premium.refunds.some((each) => each.refund_id === wholeRefundId(premium)) ? otherwise : undefined
  return [refundOwed(premium, policy, left, isCoolingOff ? 'cooling_off' : 'policy_ended', refund_id)]
}

export const retryPremium = ({ premium_id, by, now }: RetryPremium, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, premium_id)
  const { status, retry_at, attempt } = premium
  if (by === 'timer') {
    if (status !== 'failed' || retry_at === null || retry_at > now || hasEnded(policy)) return []
  } else {
    if (status === 'written_off') throw new Rejection('conflict', 'This premium was written off.')
    if (status !== 'failed') return []
    if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
  }
  return [{ type: 'PremiumRetried', ...about(premium), attempt: attempt + 1 }]
}

const writtenOff = (premium: Premium, reason: 'policy_ended' | 'operator' = 'policy_ended') =>
  ({ type: 'PremiumWrittenOff', ...about(premium), attempt: premium.attempt, reason }) as const

/** What the payer's bank took back is not asked for any more: nothing of it is to be given back either. */
const giveUp = (policy: PolicyState, premium: Premium, reason?: WriteOffReason): Decision => [
  writtenOff(premium, reason),
  ...waiveRefunds(policy, premium),
]

export const writeOffPremium = ({ premium_id, reason }: WriteOffPremium, policy: PolicyState): Decision => {
  const premium = premiumOf(policy, premium_id)
  switch (premium.status) {
    case 'written_off':
      return []
    case 'collected':
      throw new Rejection('conflict', 'This premium was collected. Refund it instead.')
    case 'failed':
      return giveUp(policy, premium, reason)
    case 'due':
    case 'requested':
      // Whether the provider was asked already is known only to who has looked.
      if (reason === 'policy_ended' ? premium.status !== 'due' : !cannotBeAsked(premium)) throw underWay()
      if (premium.reinstated) return paidByEarlier(premium, policy, premium.reinstated)
      return giveUp(policy, premium, reason)
  }
}

/** Nobody can ask the provider, or be told by it: waiting may have no end. What comes all the same is recorded then. */
const cannotBeAsked = ({ failure_code, delays }: Premium): boolean =>
  delays > 0 &&
  failure_code !== null &&
  ['mandate_pending', 'no_account', 'account_unusable', 'resource_missing'].includes(failure_code)

const underWay = () => new Rejection('conflict', 'This premium is being collected. Wait until the banks have answered.')

/**
 * What is not asked for any more once a policy has ended. What may be with the provider already is waited for; a card is
 * given back by its application.
 */
export const writeOffOpen = (policy: PolicyState): Decision =>
  policy.premiums
    .filter(
      ({ status, method, attempt }) => status === 'failed' || (status === 'due' && method === 'card' && attempt === 1),
    )
    .flatMap((each) => giveUp(policy, each))

export const recordCardCharged = ({ collected_at }: RecordCardCharged, policy: PolicyState): Decision => {
  const premium = policy.premiums.find(({ method, status }) => method === 'card' && status !== 'collected')
  // The news that it was taken back may have come first.
  if (!premium || premium.disputed_attempt > 0) return []
  const collected = { type: 'PremiumCollected', ...about(premium), attempt: 1, method: 'card' } as const
  return [{ ...collected, payment_intent_id: null, collected_at }, ...refundedAtOnce(premium, policy)]
}
