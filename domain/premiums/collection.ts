import { dateIn } from '../time-zone.ts'
import { workingDayFrom, workingDayUntil, type BankCalendar } from '../working-days.ts'
import { daysAfter, earlierOf, firstOnDay, laterOf, monthsAfter } from '../dates.ts'
import { nextNumber, type PolicyState } from '../policies/state.ts'

/** Collection dates of premiums. */

/** A customer is told of a collection in advance, and a new mandate takes days to be accepted by the bank. */
export const noticeDays = 10

/** The first day that the premium of this number pays for. */
export const coversFrom = ({ paid_from }: Pick<PolicyState, 'paid_from'>, number: number): string =>
  monthsAfter(paid_from.date, number - paid_from.number)

const isBeyondTerm = (policy: PolicyState, number: number): boolean =>
  policy.end_date !== null && coversFrom(policy, number) >= policy.end_date

/**
 * The day on which the premium of this number is collected when `day` is the day of collection: where no bank works on it,
 * the next working day. It is counted from the schedule that was told at the sale, however often the day has changed: never
 * earlier than that, and less than a month later. What was first collected late does not end late: the last two premiums
 * are due while there is cover.
 */
const dueOn = (policy: PolicyState, number: number, day: number, calendar: BankCalendar): string => {
  const { collected_from, end_date } = policy
  const months = number - collected_from.number
  const date = workingDayFrom(calendar, firstOnDay(monthsAfter(collected_from.date, months), day))
  if (end_date === null || !isBeyondTerm(policy, number + 2)) return date
  const last = workingDayUntil(calendar, end_date)
  const isLast = isBeyondTerm(policy, number + 1)
  return earlierOf(date, isLast ? last : workingDayUntil(calendar, daysAfter(last, -noticeDays)))
}

/** When the premium after this one is due; null when the term of the policy is paid for by then. */
export const dueAfter = (
  policy: PolicyState,
  number: number,
  due_on: string,
  calendar: BankCalendar,
): string | null => {
  if (isBeyondTerm(policy, number + 1)) return null
  const planned = dueOn(policy, number + 1, policy.collection_day, calendar)
  const date = workingDayFrom(calendar, laterOf(planned, daysAfter(due_on, noticeDays)))
  return policy.end_date === null ? date : earlierOf(date, policy.end_date)
}

/**
 * The due date of the next premium once the day of collection is another. When there is no time left to announce it, the next
 * premium stays where it is, and the one after it is the first on the new day.
 */
export const dueOnOtherDay = (policy: PolicyState, day: number, now: string, calendar: BankCalendar): string | null => {
  const { next_collection_on, time_zone } = policy
  if (next_collection_on === null) return null
  const date = dueOn(policy, nextNumber(policy), day, calendar)
  return date >= daysAfter(dateIn(time_zone, now), noticeDays) ? date : next_collection_on
}
