import { dateIn, startOfDayIn } from '../time-zone.ts'
import { MandateId } from '../payments/events.ts'
import type { PremiumEvent, PremiumId, PremiumRefundId } from '../premiums/events.ts'
import { disputeCode, type Premium } from '../premiums/record.ts'
import { daysAfter } from '../dates.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent } from './events.ts'
import { paidByEarlier, paidTwice, refundedAtOnce, type Reinstated } from './paid-premium.ts'
import { about, premiumOf } from './premium.ts'
import type { PolicyStreamEvent } from './record.ts'
import { leaveRefunds, waiveRefund } from './refunds.ts'
import type { PolicyState } from './state.ts'
import { giveUp, writtenOff } from './write-off.ts'

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

type Decision = readonly PremiumEvent[]

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
