import { isSameJson } from '../canonical-json.ts'
import { Rejection } from '../rejection.ts'
import { isOverdue, overdueSince } from '../premiums/record.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { workingDayFrom, type BankCalendar } from '../working-days.ts'
import { noticeDays } from '../premiums/collection.ts'
import { daysAfter, firstOnDay, laterOf } from '../dates.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent } from './events.ts'
import { mandateRequested, needsMandate } from './mandate.ts'
import type { Arrears, PolicyStreamEvent } from './record.ts'
import { evolvePolicyState, type PolicyState } from './state.ts'
import { writeOffOpen } from '../premiums/write-off.ts'

/** Sent when the day has come on which unpaid premiums suspend cover, or end it. */
export type CheckArrears = { readonly type: 'CheckArrears'; readonly now: string }

/** The operator's acts. */
export type SuspendPolicy = { readonly type: 'SuspendPolicy' }
export type ReinstatePolicy = {
  readonly type: 'ReinstatePolicy'
  readonly now: string
  readonly calendar: BankCalendar
}

type Decision = readonly PolicyStreamEvent[]

const none: Arrears = { since: null, overdue_pence: 0, check_at: null }

/** The arrears, and when they are looked at next. */
const arrearsOf = (policy: PolicyState): Arrears => {
  const overdue = policy.premiums.filter(isOverdue)
  const since = overdue.map(overdueSince).toSorted()[0]
  if (hasEnded(policy) || since === undefined) return none
  const { suspend_after_days, lapse_after_days } = policy.collection_rules
  const days = policy.status === 'suspended' ? lapse_after_days : suspend_after_days
  return {
    since,
    overdue_pence: overdue.reduce((sum, { amount_pence }) => sum + amount_pence, 0),
    check_at: policy.suspended_for === 'operator' ? null : startOfDayIn(policy.time_zone, daysAfter(since, days)),
  }
}

/** Events with their consequences for cover and arrears: whoever has paid all that was overdue is covered again. */
export const withConsequences = (state: PolicyState | undefined, events: Decision, now: string): Decision => {
  const after = state && evolved(state, events, now)
  if (!after || events.length === 0) return events
  const isPaid = after.status === 'suspended' && after.suspended_for === 'arrears' && !after.premiums.some(isOverdue)
  const reinstated: Decision = isPaid ? [reinstatedAs(after, after.next_collection_on)] : []
  const settled = evolved(after, reinstated, now)
  const arrears = arrearsOf(settled)
  const changed: Decision = isSameJson(arrears, after.arrears) ? [] : [{ type: 'ArrearsChanged', ...arrears }]
  return [...events, ...reinstated, ...changed]
}

const evolved = (state: PolicyState, events: Decision, occurred_at: string): PolicyState =>
  events.reduce((before, event) => evolvePolicyState(before, event, { occurred_at }) ?? before, state)

export const checkArrears = ({ now }: CheckArrears, policy: PolicyState): Decision => {
  const { since, overdue_pence } = policy.arrears
  if (hasEnded(policy) || since === null) return []
  const { suspend_after_days, lapse_after_days } = policy.collection_rules
  const today = dateIn(policy.time_zone, now)
  if (policy.status === 'active' && daysAfter(since, suspend_after_days) <= today)
    return [{ type: 'PolicySuspended', reason: 'arrears', overdue_pence }]
  if (policy.suspended_for !== 'arrears' || daysAfter(since, lapse_after_days) > today) return []
  const customer_id = policy.customer.id
  return [{ type: 'PolicyLapsed', customer_id, lapsed_on: today, overdue_pence }, ...writeOffOpen(policy)]
}

export const suspendPolicy = (policy: PolicyState): Decision => {
  if (policy.status === 'suspended') return []
  if (policy.status !== 'active')
    throw new Rejection('conflict', `Only a policy that is active can be suspended, not one that is ${policy.status}.`)
  return [{ type: 'PolicySuspended', reason: 'operator', overdue_pence: policy.arrears.overdue_pence }]
}

/** A policy that has lapsed goes on from now: the time between was not covered, and is not paid for. */
export const reinstatePolicy = ({ now, calendar }: ReinstatePolicy, policy: PolicyState): Decision => {
  if (policy.status === 'active') return []
  const today = dateIn(policy.time_zone, now)
  if (policy.status === 'suspended') {
    if (policy.premiums.some(isOverdue))
      throw new Rejection('conflict', 'Premiums are overdue. Have them collected, or write them off, first.')
    return [reinstatedAs(policy, policy.next_collection_on)]
  }
  const { lapsed_on, end_date, collection_day } = policy
  if (lapsed_on === null) throw new Rejection('conflict', `A policy that is ${policy.status} cannot be reinstated.`)
  const until = daysAfter(lapsed_on, policy.collection_rules.reinstate_within_days)
  if (today > until) throw new Rejection('conflict', `This policy could be reinstated until ${until}.`)
  if (end_date !== null && end_date <= today) throw new Rejection('conflict', 'The term of this policy is over.')
  const earliest = laterOf(policy.collected_from.date, daysAfter(today, noticeDays))
  const collected_from = firstOnDay(earliest, collection_day)
  // It was not made while there was no cover.
  const mandate = needsMandate({ ...policy, status: 'active' }) ? [mandateRequested(policy)] : []
  return [reinstatedAs(policy, workingDayFrom(calendar, collected_from), collected_from), ...mandate]
}

const reinstatedAs = (
  policy: PolicyState,
  next_collection_on: string | null,
  collected_from = next_collection_on,
): PolicyEvent => {
  const { status, time_zone, end_date, next_review_on, review_called_on, next_indexation_on } = policy
  const beginOf = (date: string | null) => (date === null ? null : startOfDayIn(time_zone, date))
  return {
    type: 'PolicyReinstated',
    from: status === 'lapsed' ? 'lapsed' : 'suspended',
    next_collection_on,
    ...(collected_from !== null && collected_from !== next_collection_on && { collected_from }),
    next_collection_at: beginOf(next_collection_on),
    end_at: beginOf(end_date),
    // One that the team was told of waits for the team.
    review_at: review_called_on === next_review_on ? null : beginOf(next_review_on),
    indexation_at: beginOf(next_indexation_on),
  }
}
