/** Calendar dates are `YYYY-MM-DD` throughout, so they compare as strings and need no time zone. */

const dayMs = 86_400_000

export const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)

/** The same day of a later month, or the last of that month. */
export const monthsAfter = (date: string, months: number): string => {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 + months, Math.min(day, lastDay))).toISOString().slice(0, 10)
}

export const yearOf = (date: string): number => Number(date.slice(0, 4))
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** `02-29` of a year: where that has none, the day that stands for it. */
export const dayIn = (year: number, monthAndDay: string, insteadOfLeapDay: '02-28' | '03-01'): string =>
  `${String(year).padStart(4, '0')}-${monthAndDay === '02-29' && !isLeap(year) ? insteadOfLeapDay : monthAndDay}`

/** The same day some years on; 28 February where there is no 29th. */
export const yearsAfter = (date: string, years: number): string => dayIn(yearOf(date) + years, date.slice(5), '02-28')

/** The first date from `date` on that has this day of the month, at most 28. */
export const firstOnDay = (date: string, day: number): string => {
  const inMonth = `${date.slice(0, 8)}${String(day).padStart(2, '0')}`
  return inMonth >= date ? inMonth : monthsAfter(inMonth, 1)
}

export const earlierOf = (one: string, other: string): string => (one < other ? one : other)
export const laterOf = (one: string, other: string): string => (one > other ? one : other)
