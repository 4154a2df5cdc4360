import { daysAfter } from './dates.ts'

/** The days on which banks do not work. */
export type BankCalendar = {
  /** Days of the week; 0 is Sunday. */
  readonly weekend: readonly number[]
  /** Bank holidays in their order. What comes after the last of them is not known. */
  readonly holidays: readonly string[]
}

const isWorkingDay = ({ weekend, holidays }: BankCalendar, date: string): boolean =>
  !weekend.includes(new Date(date).getUTCDay()) && !holidays.includes(date)

/** This day, or the next on which banks work. */
export const workingDayFrom = (calendar: BankCalendar, date: string): string =>
  isWorkingDay(calendar, date) ? date : workingDayFrom(calendar, daysAfter(date, 1))

/** This day, or the last before it on which banks work. */
export const workingDayUntil = (calendar: BankCalendar, date: string): string =>
  isWorkingDay(calendar, date) ? date : workingDayUntil(calendar, daysAfter(date, -1))
