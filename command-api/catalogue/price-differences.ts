import {
  compareSamples,
  mayPriceOtherwise,
  type PriceComparison,
  type Sample,
  type SampleOutcome,
} from '#domain/catalogue/sample-prices.ts'
import type { Draft } from '#domain/catalogue/events.ts'
import { rateTable } from '#domain/catalogue/rate-table.ts'
import { daysAfter } from '#domain/dates.ts'
import { money } from '#domain/money.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { rateTableIdOf } from './ids.ts'
import { timesOf } from './table-differences.ts'

export const mostNamed = 5

type Declared = (key: string, version: number) => RateTable | undefined

/** Compares sample prices of two drafts of a product, or of its release and a draft; undefined: no price can differ. */
export const makeComparePrices = (writer: Writer) => {
  const { load } = commandHandler(writer, rateTable)

  const tablesOf = async ({ organisation_id, rate_tables }: Draft, declared: Declared) => {
    const tables = new Map<string, RateTable>()
    for (const [key, version] of Object.entries(rate_tables)) {
      const table = declared(key, version) ?? (await load(rateTableIdOf(organisation_id, key, version)))
      if (table) tables.set(key, table)
    }
    return tables
  }

  return async (
    before: Draft,
    after: Draft,
    now: string,
    /** Tables that are not published yet. */
    declared: Declared = () => undefined,
  ): Promise<PriceComparison | undefined> => {
    if (!mayPriceOtherwise(before, after)) return undefined
    const priced = async (draft: Draft) => ({ draft, rate_tables: await tablesOf(draft, declared) })
    return compareSamples(await priced(before), await priced(after), daysAfter(now.slice(0, 10), 1))
  }
}

/** The differences of sample prices, in words. */
export const priceDifferences = (
  { samples, changed, ratio }: PriceComparison,
  currencies: { readonly before: string; readonly after: string },
): readonly string[] => {
  if (samples === 0) return []
  if (changed.length === 0) return [`none of ${samples} sample prices changes`]
  const [smallest, largest] = ratio ? [timesOf(ratio.smallest), timesOf(ratio.largest)] : []
  const range = smallest === largest ? smallest : `between ${smallest} and ${largest}`
  return [
    `${changed.length} of ${samples} sample prices change${range === undefined ? '' : `, to ${range} times what they were`}`,
    ...changed
      .slice(0, mostNamed)
      .map(
        ({ sample, before, after }) =>
          `${sampleText(sample)}: ${outcomeText(before, currencies.before)} → ${outcomeText(after, currencies.after)}`,
      ),
  ]
}

export const sampleText = ({ age, term, answers }: Sample): string =>
  [
    `age ${age}`,
    ...(term === null ? [] : [`term ${term}`]),
    ...Object.entries(answers).map(([key, value]) => `${key} ${[value].flat().join(' and ')}`),
  ].join(', ')

const words: Readonly<Record<Exclude<SampleOutcome, number>, string>> = {
  decline: 'declined',
  refer: 'referred',
  postpone: 'postponed',
  details_missing: 'not enough answers',
  cover_missing: 'no cover chosen',
  no_quotable_cover: 'no cover',
  rate_unavailable: 'no rate',
}

export const outcomeText = (outcome: SampleOutcome, currency: string): string =>
  typeof outcome === 'number' ? money(outcome, currency) : words[outcome]
