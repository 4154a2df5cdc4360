import { standardFactors } from '#domain/rating/factors.ts'
import { generateTable, tableDesigns } from '#domain/rating/generator.ts'
import { price } from '#domain/rating/price.ts'
import type { Life, Priced, PricingRequest, RatedRelease } from '#domain/rating/request.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import { CoverId } from '#domain/values.ts'
import type { RatedCover, RateTable } from '#domain/rating/events.ts'
import { lifeTerms } from './cover.ts'

/** The words of the rating tests: covers, lives and requests on the generated tables. */

export const startDate = '2027-01-01'

/** On the start date this many years old, and for half a year more. */
export const aged = (age: number, answers: Life['answers'] = { smoker: false }): Life => ({
  dob: `${2026 - age}-07-01`,
  answers,
})

export const published = (table: Pick<RateTable, 'key' | 'dimensions' | 'cells'>): RateTable => ({
  ...table,
  version: 3,
  currency_code: 'GBP',
  unit: 'rate_e4',
  source_note: '',
})

export const tables: ReadonlyMap<string, RateTable> = new Map(
  tableDesigns.map((design) => [design.key, published(generateTable(design))]),
)

export const coverOf = (index: number, cover: Partial<RatedCover>): RatedCover => ({
  id: CoverId.parse(`00000000-0000-4000-8000-00000000000${index}`),
  display_id: `cov_00000000-0000-4000-8000-00000000000${index}`,
  cover_index: index,
  ...lifeTerms,
  ...cover,
})

export const levelLife = coverOf(0, {})
export const wholeOfLife: Partial<RatedCover> = {
  rate_table: 'life.wol',
  term_years_min: null,
  term_years_max: null,
  max_age_at_expiry: null,
  age_at_entry_max: 80,
}
export const incomeProtection: Partial<RatedCover> = {
  cover_type: 'income_protection',
  rate_table: 'ip.to65.d{deferred_weeks}',
  benefit_basis: 'monthly_benefit',
  term_years_min: null,
  term_years_max: null,
  max_age_at_expiry: 65,
  age_at_entry_max: 60,
  sum_assured_min_pence: 600_000,
}

export const releaseOf = (release: Partial<RatedRelease>): RatedRelease => ({
  product_type: 'term',
  currency_code: 'GBP',
  covers: [levelLife],
  smoker: { key: 'smoker', values: [true] },
  policy_fee_pence: 150,
  earnings: null,
  underwriting: standardUnderwriting,
  factors: standardFactors,
  ...release,
})

type Changes = Partial<Omit<PricingRequest, 'release'>> & { readonly release?: Partial<RatedRelease> }

/** Level life cover of £250,000 over 25 years for someone of 34, but for what is said otherwise. */
export const requestOf = ({ release = {}, ...changes }: Changes = {}): PricingRequest => ({
  release: releaseOf(release),
  rate_tables: tables,
  journey_loading: '1.00',
  start_date: startDate,
  lives: [aged(34)],
  cover_amount_pence: 25_000_000,
  term_years: 25,
  components: [],
  ...changes,
})

export const priced = (changes: Changes): Priced => {
  const result = price(requestOf(changes))
  if (result.outcome !== 'priced') throw new Error(`not priced: ${JSON.stringify(result)}`)
  return result
}
