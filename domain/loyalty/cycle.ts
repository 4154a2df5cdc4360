import { daysAfter, monthsAfter } from '../dates.ts'
import { startOfDayIn } from '../time-zone.ts'
import type { CycleRule } from './events.ts'
import type { Cycle } from './record.ts'

/** The cycle of a day. Cycles are counted from the first day, so that a short month moves none of the later ones. */
export const cycleOf = ({ months, starts }: CycleRule, confirmedOn: string, day: string, timeZone: string): Cycle => {
  const first = starts === 'confirmation' ? confirmedOn : yearBefore(confirmedOn, starts)
  let count = 0
  while (monthsAfter(first, (count + 1) * months) <= day) count++
  const next = monthsAfter(first, (count + 1) * months)
  return {
    cycle_started_on: monthsAfter(first, count * months),
    cycle_ends_on: daysAfter(next, -1),
    cycle_over_at: startOfDayIn(timeZone, next),
  }
}

/** A fixed day of the year begins the same cycles whichever of its years they are counted from: they divide a year. */
const yearBefore = (date: string, dayOfYear: string): string => monthsAfter(`${date.slice(0, 4)}-${dayOfYear}`, -12)
