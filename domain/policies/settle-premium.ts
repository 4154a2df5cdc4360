import { dateIn, startOfDayIn } from '../time-zone.ts'
import { MandateId } from '../payments/events.ts'
import type { PremiumEvent, PremiumId, PremiumRefundId } from '../premiums/events.ts'
import { disputeCode, standing, unmatched, type OtherPayment, type Premium } from '../premiums/record.ts'
import { daysAfter } from '../dates.ts'
import { workingDayFrom, type BankCalendar } from '../working-days.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent } from './events.ts'
import { paidBy, paidByOther, paidTwice, refundedAtOnce } from './paid-premium.ts'
import { about, premiumOf } from './premium-of.ts'
import type { PolicyStreamEvent } from './record.ts'
import { cardAttempt, isOfCard, isOwed, leaveRefunds, takenBack as refundTakenBack, waiveRefund } from './refunds.ts'
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
    | {
        readonly outcome: 'failed'
        readonly failure_code: string
        /** It is collected again on a working day. */
        readonly calendar: BankCalendar
      }
    /** What was collected was taken back by the payer's bank, which needs no reason and has no end of time for it. */
    | ({ readonly outcome: 'disputed' } & OfAnother)
    /** The firm has won the dispute, and what was collected is its own again. */
    | ({ readonly outcome: 'reinstated' } & Collected)
}

type OfAnother = {
  /** The id of what is given back of it, where another attempt has collected it as well, by how many refunds there are. */
  readonly refundId: (count: number) => PremiumRefundId
}

type Collected = OfAnother & {
  readonly payment_intent_id: string
  readonly collected_at: string
}

type Decision = readonly PremiumEvent[]

/** News may come twice, late and in any order. Money that has come is recorded, whatever was decided meanwhile. */
export const settlePremium = (
  { premium_id, attempt, now, result }: SettlePremium,
  policy: PolicyState,
): readonly PolicyStreamEvent[] => {
  const premium = premiumOf(policy, premium_id)
  if (result.outcome === 'disputed') return disputed(premium, attempt, policy, now, result)
  if (result.outcome === 'reinstated') return reinstated(premium, attempt, policy, result)
  if (result.outcome === 'collected') {
    if (isPaidBy(premium, attempt) || premium.disputed_attempts.includes(attempt)) return []
    if (premium.status === 'collected') return collectedAsWell(premium, attempt, policy, result)
    const { refundId } = result
    return [
      byDebit(premium, attempt, result),
      ...provenMandate(policy),
      ...paidTwice(premium, policy),
      ...refundedAtOnce({ ...premium, method: 'direct_debit' }, policy, [refundId(premium.refunds.length)]),
    ]
  }
  if ((premium.status !== 'due' && premium.status !== 'requested') || premium.attempt !== attempt) return []
  // Nothing was to be collected anew.
  const paid = paidByOther(premium, policy)
  if (paid) return paid
  const { customer, collection_rules, time_zone } = policy
  const days = hasEnded(policy) ? undefined : collection_rules.retry_after_days[attempt - 1]
  const { failure_code, calendar } = result
  const retry_on = days === undefined ? null : workingDayFrom(calendar, daysAfter(dateIn(time_zone, now), days))
  const retry_at = retry_on === null ? null : startOfDayIn(time_zone, retry_on)
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

/** What this attempt has collected is the firm's, as far as it is recorded. */
const isPaidBy = ({ status, attempt: paid_by, also_paid_by }: Premium, attempt: number): boolean =>
  (status === 'collected' && paid_by === attempt) || also_paid_by.some((each) => each.attempt === attempt)

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
  const isNewer = attempt > paid_by
  const refund_id = otherRefundId(premium, told)
  const other: OtherPayment = isNewer
    ? { attempt: paid_by, method, payment_intent_id, reinstated_at: collected_at ?? told.collected_at, refund_id }
    : {
        attempt,
        method: 'direct_debit',
        payment_intent_id: told.payment_intent_id,
        reinstated_at: told.collected_at,
        refund_id,
      }
  return [
    { type: 'PremiumReinstated', ...about(premium), ...other },
    ...(isNewer ? [byDebit(premium, attempt, told)] : []),
    ...paidTwice(premium, policy, [other]),
  ]
}

const otherRefundId = (premium: Premium, { refundId }: Collected): PremiumRefundId =>
  unmatched(premium)?.refund_id ?? refundId(premium.refunds.length)

/** Whoever has paid by Direct Debit has a mandate that the banks took, also where the news of that was lost. */
const provenMandate = ({ payment_method, provider_mandate, application_id }: PolicyState): readonly PolicyEvent[] => {
  const { mandate_id, mandate_status } = payment_method
  return mandate_id !== null && provider_mandate !== null && mandate_status === 'pending'
    ? [{ type: 'PolicyMandateChanged', mandate_id: MandateId.parse(mandate_id), status: 'active', application_id }]
    : []
}

/** It is owed again, unless another payment pays it; whether it is asked for again is left to the team. */
const disputed = (
  premium: Premium,
  attempt: number,
  policy: PolicyState,
  now: string,
  { refundId }: OfAnother,
): Decision => {
  const other = premium.also_paid_by.find((each) => each.attempt === attempt)
  if (other) return otherDisputed(premium, other, policy, now)
  // It may be told before anybody has recorded that it was asked for, or collected.
  const mayBeCollected = premium.status === 'collected' || premium.status === 'requested' || premium.status === 'due'
  if (premium.attempt !== attempt || !mayBeCollected) return []
  const lost = takenBack(premium, attempt, policy, now)
  // What is owed of the card is given back of it no more: should that still be owed, the other payment is given back.
  const ofCard = attempt === cardAttempt ? premium.refunds.filter((refund) => isOwed(refund) && isOfCard(refund)) : []
  const left = premium.refunds.map((refund) =>
    ofCard.includes(refund) ? { ...refund, status: 'waived' as const } : refund,
  )
  const paid = paidByOther({ ...premium, refunds: left }, policy, refundId(premium.refunds.length))
  const waived = ofCard.map((refund) => refundTakenBack(policy, premium, refund))
  return [lost, ...(paid ? [...waived, ...paid] : unpaid(premium, policy))]
}

const takenBack = (premium: Premium, attempt: number, { customer, time_zone }: PolicyState, now: string) =>
  ({
    type: 'PremiumFailed',
    ...about(premium),
    customer_id: customer.id,
    attempt,
    failure_code: disputeCode,
    retry_at: null,
    disputed_on: dateIn(time_zone, now),
  }) as const

const unpaid = (premium: Premium, policy: PolicyState): Decision =>
  hasEnded(policy) ? giveUp(policy, premium) : leaveRefunds(premium, disputeCode)

/** The other of two payments is lost: what is left is not given back. Where one was given back already, none is left. */
const otherDisputed = (premium: Premium, other: OtherPayment, policy: PolicyState, now: string): Decision => {
  const { attempt, refund_id } = other
  const disputed_on = dateIn(policy.time_zone, now)
  const lost = { type: 'PremiumTakenBack', ...about(premium), attempt, disputed_on } as const
  const isPaid = premium.status === 'collected'
  const stands = standing(premium)
  if (stands.includes(other)) return isPaid ? [lost, ...waiveRefund(policy, premium, refund_id)] : [lost]
  const [another] = stands
  // What was given back was given back of this one instead.
  if (another)
    return [
      lost,
      { type: 'PremiumReinstated', ...about(premium), ...another, refund_id },
      ...waiveRefund(policy, premium, another.refund_id),
    ]
  if (!isPaid) return [lost]
  const { attempt: paid_by, method, payment_intent_id, collected_at } = premium
  const former = { attempt: paid_by, method, payment_intent_id, reinstated_at: collected_at ?? now, refund_id }
  return [
    { type: 'PremiumReinstated', ...about(premium), ...former },
    takenBack(premium, attempt, policy, now),
    ...unpaid(premium, policy),
  ]
}

/** It is paid again. Where it was collected anew meanwhile it was paid twice, and one of both is given back. */
const reinstated = (premium: Premium, attempt: number, policy: PolicyState, told: Collected): Decision => {
  if (!premium.disputed_attempts.includes(attempt) || isPaidBy(premium, attempt)) return []
  const { payment_intent_id, collected_at } = told
  const isByCard = policy.card_payment_id !== null && premium.number === 1 && attempt === 1
  const other: OtherPayment = {
    attempt,
    method: isByCard ? 'card' : 'direct_debit',
    payment_intent_id: isByCard ? null : payment_intent_id,
    reinstated_at: collected_at,
    refund_id: otherRefundId(premium, told),
  }
  const isLost = premium.status === 'failed' || premium.status === 'written_off'
  const isGivenBack = unmatched(premium) !== undefined
  const paid = isLost && !isGivenBack ? paidBy(premium, policy, other) : []
  if (!isGivenBack && premium.attempt === attempt) return paid
  const twice = premium.status === 'collected' ? paidTwice(premium, policy, [other]) : []
  return [{ type: 'PremiumReinstated', ...about(premium), ...other }, ...paid, ...twice]
}
