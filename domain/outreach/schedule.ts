import { daysAfter } from '../dates.ts'
import { dateIn, instantIn } from '../time-zone.ts'
import type { Schedule } from './events.ts'

const dayMs = 86_400_000
/** Longer than the longest time from one issue to the next. */
const mostDays = 70

/** From 1, Monday. */
const weekdayOf = (date: string): number => new Date(`${date}T00:00:00.000Z`).getUTCDay() || 7

const dayOfMonth = (date: string): number => Number(date.slice(8))
const isLastOfMonth = (date: string): boolean => dayOfMonth(daysAfter(date, 1)) === 1

const weeks = { first: 0, second: 1, third: 2, fourth: 3 } as const

/** An issue goes out on the date. A day that a month does not have is its last. */
export const isIssueDay = (schedule: Schedule, date: string): boolean => {
  if (date < schedule.starts_on) return false
  if ('day' in schedule) {
    const { day } = schedule
    if (day === 'last') return isLastOfMonth(date)
    return dayOfMonth(date) === day || (isLastOfMonth(date) && day > dayOfMonth(date))
  }
  if (weekdayOf(date) !== schedule.weekday) return false
  if ('week' in schedule) {
    if (schedule.week === 'last') return daysAfter(date, 7).slice(0, 7) !== date.slice(0, 7)
    return Math.floor((dayOfMonth(date) - 1) / 7) === weeks[schedule.week]
  }
  if (schedule.cadence === 'weekly') return true
  const first = daysAfter(schedule.starts_on, (schedule.weekday - weekdayOf(schedule.starts_on) + 7) % 7)
  return ((Date.parse(date) - Date.parse(first)) / dayMs) % 14 === 0
}

/** When the next issue goes out after an instant. */
export const nextIssueAfter = (schedule: Schedule, time: string, timeZone: string, instant: string): string => {
  const today = dateIn(timeZone, instant)
  const from = today < schedule.starts_on ? schedule.starts_on : today
  for (let days = 0; days < mostDays; days++) {
    const date = daysAfter(from, days)
    if (!isIssueDay(schedule, date)) continue
    const at = instantIn(timeZone, date, time)
    if (at > instant) return at
  }
  throw new Error('A schedule has an issue within ten weeks.')
}

/** When a reminder is due: so many days after a date, or before it. */
export const reminderAt = (date: string, offsetDays: number, time: string, timeZone: string): string =>
  instantIn(timeZone, daysAfter(date, offsetDays), time)
