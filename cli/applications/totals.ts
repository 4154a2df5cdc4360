import { counted } from '#domain/plural.ts'
import { money } from '#domain/money.ts'
import type { Compared } from './book.ts'

type Change = { readonly quote_id: string; readonly before: number; readonly after: number }

/** The sums of a book, which grow with each quote and take no more room. */
export type Totals = {
  quotes: number
  unchanged: number
  up: number
  down: number
  /** The same price, on other terms or of other covers. */
  otherwise: number
  declined: number
  referred: number
  postponed: number
  without_price: number
  erased: number
  unreadable: number
  pence_before: number
  pence_after: number
  largest_rise: Change | undefined
  largest_fall: Change | undefined
}

export const noTotals = (): Totals => ({
  quotes: 0,
  unchanged: 0,
  up: 0,
  down: 0,
  otherwise: 0,
  declined: 0,
  referred: 0,
  postponed: 0,
  without_price: 0,
  erased: 0,
  unreadable: 0,
  pence_before: 0,
  pence_after: 0,
  largest_rise: undefined,
  largest_fall: undefined,
})

const counters = {
  decline: 'declined',
  refer: 'referred',
  postpone: 'postponed',
  no_price: 'without_price',
  erased: 'erased',
  unreadable: 'unreadable',
} as const

export const addTo = (
  totals: Totals,
  { quote_id, before: { premium_pence: before }, after: result }: Compared,
): void => {
  totals.quotes++
  if (result.outcome !== 'priced') {
    totals[counters[result.outcome]]++
    return
  }
  const { premium_pence: after, isSame } = result
  totals.pence_before += before
  totals.pence_after += after
  if (isSame) totals.unchanged++
  else if (after === before) totals.otherwise++
  else if (after > before) {
    totals.up++
    if (after - before > differenceOf(totals.largest_rise)) totals.largest_rise = { quote_id, before, after }
  } else {
    totals.down++
    if (before - after > -differenceOf(totals.largest_fall)) totals.largest_fall = { quote_id, before, after }
  }
}

const differenceOf = (change: Change | undefined): number => (change ? change.after - change.before : 0)

/** `12.34`; null where nothing can be in proportion to what it was. */
export const percentOf = (before: number, after: number): string | null =>
  before === 0 ? null : ((100 * (after - before)) / before).toFixed(2)

export const changeText = (before: number, after: number, currency: string): string => {
  const sign = after < before ? '' : '+'
  const percent = percentOf(before, after)
  const proportion = percent === null ? '' : `, ${sign}${percent} %`
  return `${money(before, currency)} → ${money(after, currency)} (${sign}${money(after - before, currency)}${proportion})`
}

/** The totals as they end the output. */
export const totalsText = (totals: Totals, currency: string): string => {
  const { quotes, pence_before, pence_after, largest_rise, largest_fall } = totals
  const priced = totals.unchanged + totals.up + totals.down + totals.otherwise
  const largest = (name: string, change: Change | undefined) =>
    change ? [`${name}: ${change.quote_id} ${changeText(change.before, change.after, currency)}`] : []
  const rest = [
    [totals.otherwise, 'at the same price on other terms'],
    [totals.declined, 'declined'],
    [totals.referred, 'referred'],
    [totals.postponed, 'postponed'],
    [totals.without_price, 'without a price'],
    [totals.erased, 'not priced, because somebody of them was erased'],
    [totals.unreadable, 'not priced, because they cannot be read'],
  ] as const
  const named = rest.flatMap(([count, name]) => (count === 0 ? [] : [`, ${count} ${name}`]))
  return [
    `${counted(quotes, 'quote')}: ${totals.unchanged} unchanged, ${totals.up} up, ${totals.down} down${named.join('')}`,
    ...(priced === 0
      ? []
      : [
          `mean of the ${priced} priced: ${changeText(Math.round(pence_before / priced), Math.round(pence_after / priced), currency)}`,
        ]),
    ...largest('largest rise', largest_rise),
    ...largest('largest fall', largest_fall),
    '',
  ].join('\n')
}
