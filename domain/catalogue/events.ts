import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { RatedCover } from '../rating/cover.ts'
import { RatingFactors } from '../rating/factors.ts'
import { RateTable } from '../rating/rate-table.ts'
import { UnderwritingRules } from '../rating/underwriting.ts'
import { CurrencyCode, OrganisationId, Pence, ProductId, ReleaseId, Slug } from '../values.ts'
import { Journey, LifecycleState, Presentation, ProductType, Question } from './record.ts'

/** How a `derived` answer follows from others. It is missing while one of those is missing. */
export const Derivation = z.discriminatedUnion('kind', [
  /** Whole years from the date answered at `key` to today. */
  z.object({ kind: z.literal('age'), key: z.string() }),
  /** Weight over height squared, to one decimal. */
  z.object({ kind: z.literal('bmi'), height_cm: z.string(), weight_kg: z.string() }),
  z.object({ kind: z.literal('sum'), keys: z.array(z.string()).min(1) }),
  /** Whether any of these yes/no answers is yes. */
  z.object({ kind: z.literal('any'), keys: z.array(z.string()).min(1) }),
])
export type Derivation = z.infer<typeof Derivation>

/** A cover with what prices it and is not shown: its rate table, or its list of levels. */
export const ReleaseCover = RatedCover
export type ReleaseCover = z.infer<typeof ReleaseCover>

export const ReleaseQuestion = Question.extend({ derivation: Derivation.nullable() })
export type ReleaseQuestion = z.infer<typeof ReleaseQuestion>

export const ReleaseJourney = Journey.extend({
  questions: z.array(ReleaseQuestion),
  presentations: z.array(Presentation),
})
export type ReleaseJourney = z.infer<typeof ReleaseJourney>

/** Whether an application is for two people: always, never, or by the answer at `factor_key`. */
export const JointBasis = z.object({
  mode: z.enum(['always', 'by_answer', 'never']),
  factor_key: z.string().nullable(),
  joint_values: z.array(z.string()),
})
export type JointBasis = z.infer<typeof JointBasis>

/** All that a product is at the moment of publishing. It never changes; an application keeps the one that it started with. */
export const Release = z.object({
  id: ReleaseId,
  product_id: ProductId,
  organisation_id: OrganisationId,
  number: z.int().min(1),
  slug: Slug,
  name: z.string(),
  product_type: ProductType,
  currency_code: CurrencyCode,
  cooldown_days: z.int(),
  inclusions: z.array(z.string()),
  exclusions: z.array(z.string()),
  covers: z.array(ReleaseCover),
  journeys: z.array(ReleaseJourney),
  /** Priced by the providers of a market panel instead of by own rates. */
  whole_of_market: z.boolean(),
  joint: JointBasis,
  /** The versions of the rate tables that price this release, by key. */
  rate_tables: z.record(z.string(), z.int().min(1)),
  underwriting: UnderwritingRules,
  factors: RatingFactors,
  /** The answer that tells a smoker, and the values that mean yes. */
  smoker: z.object({ key: z.string(), values: z.array(z.union([z.string(), z.boolean()])) }).nullable(),
  policy_fee_pence: Pence,
  quote_valid_days: z.int().min(1),
  checkout: z.object({ inline_bacs_mandate: z.boolean(), direct_debit_first: z.boolean() }),
})
export type Release = z.infer<typeof Release>

/** What the next release will hold. It is shown to nobody until it is published. */
export const Draft = Release.omit({ id: true, number: true })
export type Draft = z.infer<typeof Draft>

/** Stream `product-<product id>`. */
export const productEvents = {
  ProductDrafted: event({ draft: Draft }),
  ReleasePublished: event({ release: Release }),
  ProductLifecycleChanged: event({ organisation_id: OrganisationId, lifecycle_state: LifecycleState }),
}
export type ProductEvent = EventOf<typeof productEvents>

/** Stream `rate_table-<id>`, the id made from organisation, key and version: a published version is never edited. */
export const rateTableEvents = {
  RateTablePublished: event({ organisation_id: OrganisationId, table: RateTable }),
}
export type RateTableEvent = EventOf<typeof rateTableEvents>
