import { counted } from '#domain/plural.ts'
import { compareTables, type CellDifference, type TableComparison } from '#domain/rating/compare-tables.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { inRanges } from './without-rates.ts'

/** The differences of a version of a rate table from another, in words. */
export const tableDifferences = (before: RateTable, after: RateTable): readonly string[] => {
  const compared = compareTables(before, after)
  const { changed, removed, currency_code, dimensions } = compared
  return [
    `beside version ${before.version}: ${changesIn(compared)}`,
    ...(currency_code ? [`is in ${currency_code.after}, where it was in ${currency_code.before}`] : []),
    ...dimensions.added.map((dimension) => `depends on ${dimension} from now on`),
    ...dimensions.removed.map((dimension) => `does not depend on ${dimension} any more`),
    ...inAndOut(compared),
    ...[...removed.samples, ...changed.samples].map(sampleOf),
  ]
}

const changesIn = ({ changed, cells_before, ratio }: TableComparison): string => {
  if (!ratio) return `none of ${cells_before} rates changes`
  const [smallest, largest] = [timesOf(ratio.smallest), timesOf(ratio.largest)]
  const range = smallest === largest ? smallest : `between ${smallest} and ${largest}`
  const [change, they] = changed.count === 1 ? ['changes', 'it was'] : ['change', 'they were']
  return `${changed.count} of ${cells_before} rates ${change}, to ${range} times what ${they}`
}

const inAndOut = ({ removed, added, values }: TableComparison): readonly string[] => {
  const whole = (which: 'added' | 'removed') =>
    values.flatMap((each) => (each[which].length === 0 ? [] : [`${each.dimension} ${inRanges(each[which])}`]))
  const among = (of: readonly string[]) => (of.length === 0 ? '' : `, among them all of ${of.join(' and ')}`)
  return [
    ...(removed.count === 0 ? [] : [`removes ${counted(removed.count, 'rate')}${among(whole('removed'))}`]),
    ...(added.count === 0 ? [] : [`adds ${counted(added.count, 'rate')}${among(whole('added'))}`]),
  ]
}

const sampleOf = ({ at, before, after }: CellDifference): string => {
  const place = Object.entries(at).map(([dimension, value]) => `${dimension} ${value}`)
  return `${place.join(', ')}: ${before} → ${after ?? 'removed'}`
}

/** Six places tell a change of a thousandth of a per cent. */
export const timesOf = (ratio: number): string => String(Number(ratio.toPrecision(6)))
