import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { CalendarDate, CoverId, CoverType, CurrencyCode, OrganisationId, Pence } from '../values.ts'

/** A cover of a product, without what prices it. */
export const Cover = z.object({
  id: CoverId,
  display_id: z.string().describe('`cov_<uuid>`'),
  cover_type: CoverType,
  cover_index: z.int().min(0).describe('Position in the product, from 0.'),
  sum_assured_min_pence: Pence.describe('For a monthly benefit, the yearly amount.'),
  sum_assured_max_pence: Pence.describe('For a monthly benefit, the yearly amount.'),
  age_at_entry_min: z.int().describe('Years.'),
  age_at_entry_max: z.int().describe('Years.'),
  term_years_min: z.int().nullable().describe('Null for cover with no fixed term.'),
  term_years_max: z.int().nullable().describe('Null for cover with no fixed term.'),
  max_age_at_expiry: z.int().nullable(),
  premium_basis: z.enum(['guaranteed', 'reviewable']),
  review_period_years: z.int().nullable().describe('For reviewable premiums.'),
  minimum_premium_pence: Pence.describe('Lowest monthly premium.'),
  ci_payout_basis: z.enum(['additional', 'accelerated']),
  survival_period_days: z.int().describe('Days to survive after a critical illness diagnosis.'),
  indexation_method: z.enum(['none', 'rpi', 'fixed_percent', 'decreasing']),
  benefit_basis: z.enum(['lump_sum', 'monthly_benefit']),
  title: z.string().nullable().describe('Names a cover where its type alone is ambiguous.'),
  pricing_basis: z.enum(['rated', 'fixed_tiers', 'per_member']),
  member_premium_pence: Pence.nullable().describe('per_member only: monthly price per person.'),
  members_factor: z.string().nullable().describe('per_member only: key of the answer holding the headcount.'),
  opt_in_factor: z
    .string()
    .nullable()
    .describe('per_member add-on only: key of the yes/no answer that adds it to the plan.'),
})
export type Cover = z.infer<typeof Cover>

/** A level of a `fixed_tiers` cover and its monthly price. */
export const Tier = z.object({ cover_amount_pence: Pence, premium_pence: Pence })
export type Tier = z.infer<typeof Tier>

/** A cover with what prices it and is not shown. */
export const RatedCover = Cover.extend({
  /**
   * For `rated`: the key of its rate table, where `{answer_key}` is replaced by that answer (`ip.to65.d{deferred_weeks}`).
   * A variant within the table follows a colon (`accident:{occupation_class}`).
   */
  rate_table: z.string().nullable(),
  /** For `fixed_percent` indexation: by how many percent a year. */
  indexation_percent: z.int().min(0).nullable(),
  /** For `fixed_tiers`. */
  tiers: z.array(Tier),
  /** For `per_member`: headcounts that can be quoted; null: any from one. */
  members_min: z.int().min(1).nullable(),
  members_max: z.int().min(1).nullable(),
})
export type RatedCover = z.infer<typeof RatedCover>

const Scalar = z.union([z.string(), z.number(), z.boolean()])

const Equals = z.strictObject({
  key: z.string().min(1),
  /** A value, or several of which any will do. A multi_select answer must contain one of them. */
  equals: z.union([Scalar, z.array(Scalar).min(1)]),
})

const Between = z
  .strictObject({
    key: z.string().min(1),
    min: z.number().optional(),
    above: z.number().optional(),
    max: z.number().optional(),
    below: z.number().optional(),
  })
  .refine(({ min, above, max, below }) => [min, above, max, below].some((limit) => limit !== undefined), {
    error: 'name at least one of min, above, max and below',
  })

/** Something that may be so of one answer: equal to a value, or a number within limits (`min` and `max` included). */
export const Condition = z.union([Equals, Between])
export type Condition = z.infer<typeof Condition>

/** A value that follows from answers, under a key of its own which conditions can name. */
export const DerivedValue = z.discriminatedUnion('kind', [
  /** Body mass index to one decimal, cut off and not rounded, so that 34.96 is still “30 to 34.9”. */
  z.strictObject({ key: z.string().min(1), kind: z.literal('bmi'), height_cm: z.string(), weight_kg: z.string() }),
  /** Age last birthday on the start date. */
  z.strictObject({ key: z.string().min(1), kind: z.literal('age') }),
  /** One answer translated to another value, for example an occupation to its class. */
  z.strictObject({
    key: z.string().min(1),
    kind: z.literal('mapped'),
    from: z.string(),
    values: z.record(z.string(), Scalar),
    otherwise: Scalar.optional(),
  }),
])
export type DerivedValue = z.infer<typeof DerivedValue>

export const EndingDecision = z.enum(['decline', 'postpone', 'refer'])
export type EndingDecision = z.infer<typeof EndingDecision>

/** Pounds a year for each £1,000 of cover. */
const PerMille = z.string().regex(/^\d{1,3}\.\d{2}$/, 'use pounds and pence, for example 1.50')

/** When the answers are so (all conditions of a list), the price rises or the application ends. */
export const UnderwritingRule = z
  .strictObject({
    code: z.string().min(1),
    label: z.string().min(1),
    when: z.union([Condition, z.array(Condition).min(1)]),
    /** Left out, the rule is for every rated cover. */
    cover_types: z.array(CoverType).min(1).optional(),
    extra_percent: z.int().positive().max(1000).optional(),
    extra_per_mille: PerMille.optional(),
    decision: EndingDecision.optional(),
    /** The message to the customer when the decision ends the application; left out, the label. */
    message: z.string().min(1).optional(),
  })
  .refine(
    ({ extra_percent, extra_per_mille, decision }) =>
      [extra_percent, extra_per_mille, decision].filter((effect) => effect !== undefined).length === 1,
    { error: 'name one of extra_percent, extra_per_mille and decision' },
  )
export type UnderwritingRule = z.infer<typeof UnderwritingRule>

/** Rules by which answers change a product's price, as data of its release. */
export const UnderwritingRules = z.object({
  derived: z.array(DerivedValue),
  rules: z.array(UnderwritingRule),
  /** Extra percentages add up; beyond these sums a case is referred or declined. */
  refer_above_percent: z.int().positive(),
  decline_above_percent: z.int().positive(),
})
export type UnderwritingRules = z.infer<typeof UnderwritingRules>

/** Thousandths: 1000 changes nothing. */
const Factor = z.int().positive().max(100_000)

/** Multipliers of a rate. A release carries its own. */
export const RatingFactors = z.object({
  /** By sum assured, smallest first; the last band has no upper end. A monthly benefit has no size bands. */
  size_bands: z
    .array(z.object({ below_pence: Pence.positive().nullable(), factor: Factor }))
    .min(1)
    .refine(
      (bands) => bands.every(({ below_pence }, index) => (below_pence === null) === (index === bands.length - 1)),
      {
        error: 'the last band, and no other, has below_pence null',
      },
    )
    .refine(
      (bands) =>
        bands.every(
          ({ below_pence }, index) => below_pence === null || below_pence > (bands[index - 1]?.below_pence ?? 0),
        ),
      { error: 'the bands must ascend' },
    ),
  premium_basis: z.object({ guaranteed: Factor, reviewable: Factor }),
  indexation: z.object({
    none: Factor,
    rpi: Factor,
    /** Added to 1000 for each percent of yearly increase. */
    fixed_percent_each: z.int().min(0).max(1000),
    decreasing: Factor,
  }),
  /** On the sum of both lives' rates. */
  joint_first_event: Factor,
  /** On the second and later covers of a bundled product. */
  multi_cover: Factor,
  /** By the value of an answer, derived ones included, for example a class of occupation. */
  by_answer: z.array(
    z.object({ key: z.string().min(1), cover_types: z.array(CoverType).min(1), values: z.record(z.string(), Factor) }),
  ),
})
export type RatingFactors = z.infer<typeof RatingFactors>

/** For example `life.level` or `ip.to65.d13`. */
export const RateTableKey = z
  .string()
  .max(100)
  .regex(/^[a-z0-9_]+(\.[a-z0-9_]+)*$/, 'use lower-case words of letters, digits and _, joined by dots')

/** Inputs of a rate, in the order in which a cell is named. */
export const Dimension = z.enum(['age', 'term', 'smoker', 'variant'])
export type Dimension = z.infer<typeof Dimension>

/**
 * Rates by the values of the dimensions joined by `|` (`34|25|n`): the stored form is the one that is looked up in.
 * `life.level` with its 2,886 cells is 50 kB of JSON.
 */
export const RateCells = z.record(z.string().regex(/^[^|]+(\|[^|]+)*$/), z.int().positive())
export type RateCells = z.infer<typeof RateCells>

/** A version of a rate table. It is never edited: what changes is a new version. */
export const RateTable = z.object({
  key: RateTableKey,
  version: z.int().positive(),
  currency_code: CurrencyCode,
  /** Ten-thousandths of a penny a month for each £1,000 of benefit: the sum assured, or a year of a monthly benefit. */
  unit: z.literal('rate_e4'),
  dimensions: z.array(Dimension).min(1),
  cells: RateCells,
  source_note: z.string(),
})
export type RateTable = z.infer<typeof RateTable>

/** The parts of a version’s id: nothing can be published under it again. */
export const rateTableKey = (organisation_id: string, key: string, version: number) =>
  ['rate_table', organisation_id, key, String(version)] as const

/** Stream `rate_table-<id>`, the id made from organisation, key and version: a published version is never edited. */
export const rateTableEvents = {
  RateTablePublished: event({ organisation_id: OrganisationId, table: RateTable }),
}
export type RateTableEvent = EventOf<typeof rateTableEvents>

/** The parts of a quote that the rating makes. */

/** An addition to the price for health or pursuits, as shown to the customer. */
export const Loading = z.object({
  code: z.string(),
  label: z.string(),
  basis: z.enum(['percent', 'per_mille']),
  /** A percentage (`50`), or pounds a year for each £1,000 of cover (`1.50`). */
  value: z.string(),
})
export type Loading = z.infer<typeof Loading>

export const ExcludedCover = z.object({
  cover_id: CoverId,
  cover_type: CoverType,
  reason: z.enum(['age', 'amount', 'term', 'expiry_age', 'declined', 'not_selected']),
  message: z.string(),
})
export type ExcludedCover = z.infer<typeof ExcludedCover>

export const QuoteComponent = z.object({
  cover_id: CoverId,
  cover_index: Cover.shape.cover_index,
  cover_type: CoverType,
  title: Cover.shape.title,
  pricing_basis: Cover.shape.pricing_basis,
  benefit_basis: Cover.shape.benefit_basis,
  cover_amount_pence: Pence.nullable(),
  monthly_benefit_pence: Pence.nullable(),
  term_years: z.int().nullable(),
  expires_on: CalendarDate.nullable(),
  /** Without the policy fee. */
  premium_pence: Pence,
  premium_basis: Cover.shape.premium_basis,
  review_period_years: Cover.shape.review_period_years,
  indexation_method: Cover.shape.indexation_method,
  ci_payout_basis: Cover.shape.ci_payout_basis,
  members: z.int().nullable(),
  member_premium_pence: Pence.nullable(),
  minimum_premium_applied: z.boolean(),
  loading_percent: z.int(),
})
export type QuoteComponent = z.infer<typeof QuoteComponent>

/** The published table of a price. */
export const RateTableUsed = z.object({ key: z.string(), version: z.int() })
export type RateTableUsed = z.infer<typeof RateTableUsed>

/** A step of how a price comes about. */
export const PriceStep = z.object({
  step: z.enum([
    'rate',
    'loading',
    'answer_factor',
    'factor',
    'journey_loading',
    'list',
    'part_of_life_cover',
    'rounding',
    'minimum_premium',
  ]),
  name: z.string().describe('The cell of the rate table (`life.level 1: 34|25|n`), or which loading or factor.'),
  value: z.string().describe('What is multiplied by, or added. A rate is in ten-thousandths of a penny for £1,000.'),
  life: z
    .union([z.literal(1), z.literal(2)])
    .nullable()
    .describe('Of which of two people; null: of the whole.'),
  adds_pence: z.string().describe('A decimal, for example `-45.818`. The steps of a component add up to its premium.'),
})
export type PriceStep = z.infer<typeof PriceStep>
