import { Rejection } from '../rejection.ts'
import { isTooEarly } from '../retry.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { earlierOf } from '../dates.ts'
import type { BankCalendar } from '../working-days.ts'
import { hasEnded } from '../policies/ended.ts'
import type { PolicyStreamEvent } from '../policies/record.ts'
import { nextNumber, type PolicyState } from '../policies/state.ts'
import type { PremiumId } from './events.ts'
import { coversFrom, dueAfter } from './collection.ts'
import { about, noteOf, premiumOf } from './premium-of.ts'
import type { Decision } from './sums.ts'

/** Sent when the day has come on which a premium is due. */
export type CallPremium = {
  readonly type: 'CallPremium'
  readonly now: string
  readonly calendar: BankCalendar
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

/** Sent by a timer, and by the operator at any time after a failure. */
export type RetryPremium = {
  readonly type: 'RetryPremium'
  readonly premium_id: PremiumId
  readonly by: 'timer' | 'operator'
  readonly note?: string
  readonly now: string
}

export const callPremium = (
  { now, calendar, idOf }: CallPremium,
  policy: PolicyState,
): readonly PolicyStreamEvent[] => {
  const { next_collection_on, time_zone, end_date } = policy
  if (next_collection_on === null) return []
  // Whatever pays for the term is due by the end of it.
  const due_on = end_date === null ? next_collection_on : earlierOf(next_collection_on, end_date)
  if (due_on > dateIn(time_zone, now)) return []
  const number = nextNumber(policy)
  const next_due_on = dueAfter(policy, number, due_on, calendar)
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

export const retryPremium = (command: RetryPremium, policy: PolicyState): Decision => {
  const { premium_id, by, now } = command
  const premium = premiumOf(policy, premium_id)
  const { status, retry_at, attempts } = premium
  if (by === 'timer') {
    if (status !== 'failed' || retry_at === null || retry_at > now || hasEnded(policy)) return []
  } else {
    if (status === 'written_off') throw new Rejection('conflict', 'This premium was written off.')
    if (status !== 'failed') return []
    if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
  }
  return [{ type: 'PremiumRetried', ...about(premium), attempt: attempts + 1, ...noteOf(command) }]
}
