import { z } from 'zod'
import { CalendarDate } from '#domain/values.ts'

export const Every = z.enum(['day', 'week', 'month'])
export type Every = z.infer<typeof Every>

/** Beyond these years, a day has no week or month that can be written as a date. */
export const Day = CalendarDate.refine((day) => day >= '1900-01-01' && day < '3000-01-01', {
  error: 'must be between 1900-01-01 and 2999-12-31',
})

/** From a day to another, which is no longer of it. */
export type Period = { readonly from: string; readonly until: string; readonly every: Every }

export const mostDays = 366

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
export const daysAfter = (date: string, days: number): string => dateOf(Date.parse(date) + days * 86_400_000)

/** The first day of the week or month that a day is in. */
export const startOf = (date: string, every: Every): string => {
  if (every === 'day') return date
  if (every === 'month') return `${date.slice(0, 8)}01`
  return daysAfter(date, -((new Date(date).getUTCDay() + 6) % 7))
}

const nextStart = (date: string, every: Every): string =>
  every === 'month' ? startOf(daysAfter(date, 31), 'month') : daysAfter(date, every === 'week' ? 7 : 1)

/** The first days of the days, weeks or months of a period, the earliest first. */
export const startsOf = ({ from, until, every }: Period): readonly string[] => {
  const starts: string[] = []
  for (let at = startOf(from, every); at < until && starts.length < mostDays; at = nextStart(at, every)) starts.push(at)
  return starts
}

/** The days of a period that are of the day, week or month with that first day. */
export const partOf = ({ from, until, every }: Period, start: string): Pick<Period, 'from' | 'until'> => {
  const next = nextStart(start, every)
  return { from: start > from ? start : from, until: next < until ? next : until }
}
