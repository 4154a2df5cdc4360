import { startOfDayIn } from '#domain/time-zone.ts'
import type { CycleRule } from './events.ts'
import type { Cycle } from './record.ts'

const text = (date: Date): string => date.toISOString().slice(0, 10)

/** Months later; the last day of the month where that month is shorter. */
const monthsAfter = (date: string, months: number): string => {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  const lastDay = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate()
  return text(new Date(Date.UTC(year, month - 1 + months, Math.min(day, lastDay))))
}

const dayBefore = (date: string): string => text(new Date(Date.parse(date) - 86_400_000))
export const dayAfter = (date: string): string => text(new Date(Date.parse(date) + 86_400_000))

/** The cycle of a day. Cycles are counted from the first day, so that a short month moves none of the later ones. */
export const cycleOf = ({ months, starts }: CycleRule, confirmedOn: string, day: string, timeZone: string): Cycle => {
  const first = starts === 'confirmation' ? confirmedOn : yearBefore(confirmedOn, starts)
  let count = 0
  while (monthsAfter(first, (count + 1) * months) <= day) count++
  const next = monthsAfter(first, (count + 1) * months)
  return {
    cycle_started_on: monthsAfter(first, count * months),
    cycle_ends_on: dayBefore(next),
    cycle_over_at: startOfDayIn(timeZone, next),
  }
}

/** A fixed day of the year begins the same cycles whichever of its years they are counted from: they divide a year. */
const yearBefore = (date: string, dayOfYear: string): string => monthsAfter(`${date.slice(0, 4)}-${dayOfYear}`, -12)
