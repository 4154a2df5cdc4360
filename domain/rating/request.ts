import type { Answers } from './answers.ts'
import type { Ending } from './underwriting.ts'
import type { CoverType, ProductType } from '../values.ts'
import type {
  RatedCover,
  RatingFactors,
  RateTable,
  ExcludedCover,
  Loading,
  QuoteComponent,
  RateTableUsed,
  UnderwritingRules,
} from './events.ts'

/** The pricing part of a product's release. */
export type RatedRelease = {
  readonly product_type: ProductType
  readonly currency_code: string
  readonly covers: readonly RatedCover[]
  /** The question that asks about smoking, and the answers that mean yes. */
  readonly smoker: { readonly key: string; readonly values: readonly (string | boolean)[] } | null
  readonly policy_fee_pence: number
  readonly underwriting: UnderwritingRules
  readonly factors: RatingFactors
  /** The answer that holds yearly earnings in pounds, and how much of them a yearly benefit may replace. */
  readonly earnings: { readonly key: string; readonly percent: number } | null
}

export type Life = { readonly dob: string | null; readonly answers: Answers }

/** An application's choice for one cover. A field that is left out falls back to that for all covers. */
export type ComponentChoice = {
  readonly cover_id?: string | undefined
  readonly cover_index?: number | undefined
  readonly cover_amount_pence?: number | null | undefined
  readonly term_years?: number | null | undefined
  readonly selected?: boolean | undefined
}

export type PricingRequest = {
  readonly release: RatedRelease
  /** The tables of the versions that the release names, by key. */
  readonly rate_tables: ReadonlyMap<string, RateTable>
  readonly journey_loading: string
  readonly start_date: string
  /** The second life makes it a joint quote, which pays on the first event. */
  readonly lives: readonly [Life] | readonly [Life, Life]
  /** For a monthly benefit, the yearly amount. */
  readonly cover_amount_pence: number | null
  readonly term_years: number | null
  readonly components: readonly ComponentChoice[]
  /** The team's decision in place of the rules: nothing is declined or referred, and these loadings are added. */
  readonly accepted_terms?: { readonly loadings: readonly AcceptedLoading[] }
}

/** A loading for one of the lives, and for covers of these types; null: for every rated cover. */
export type AcceptedLoading = Loading & { readonly cover_types: readonly CoverType[] | null; readonly life: 1 | 2 }

/** The place where a table should have had a rate. */
export type MissingRate = {
  readonly cover_id: string
  readonly rate_table: string
  readonly age: number
  readonly term_years: number | null
  /** The answer that has no factor, where it is not the table that lacks a rate. */
  readonly answer_key: string | null
}

export type Priced = {
  readonly outcome: 'priced'
  /** `loaded` is accepted at other terms. */
  readonly decision: 'standard' | 'loaded'
  /** `sum(premium_pence of components) + policy_fee_pence = premium_pence`. */
  readonly components: readonly QuoteComponent[]
  readonly excluded_covers: readonly ExcludedCover[]
  readonly premium_pence: number
  readonly policy_fee_pence: number
  readonly annual_premium_pence: number
  /** Over the term, where every premium is known until its end. */
  readonly total_premium_pence: number | null
  readonly joint: boolean
  /** Of products priced per member: how many people. */
  readonly members: number | null
  readonly journey_loading: string
  readonly loadings: readonly Loading[]
  readonly rate_tables: readonly RateTableUsed[]
}

/** A price, or the first reason why there is none, in the order in which they are looked for. */
export type PricingResult =
  | { readonly outcome: 'details_missing'; readonly fields: readonly string[] }
  | { readonly outcome: 'cover_missing'; readonly fields: readonly string[] }
  | ({ readonly outcome: 'not_accepted' } & Ending)
  | { readonly outcome: 'no_quotable_cover'; readonly excluded_covers: readonly ExcludedCover[] }
  | { readonly outcome: 'rate_unavailable'; readonly missing_rates: readonly MissingRate[] }
  | Priced
