import { z } from 'zod'
import { CoverId, CurrencyCode, JourneyId, Pence, PresentationId, ProductId, Slug } from '../values.ts'
import { stageConfigs } from './stage-config.ts'

export { ConsentOptOut, stageConfigs } from './stage-config.ts'

/** Products and journeys as the specification shows them. */

export const ProductType = z.enum([
  'term',
  'decreasing_term',
  'whole_of_life',
  'critical_illness',
  'income_protection',
  'bundled',
  'child_cover',
  'healthcare',
])
export type ProductType = z.infer<typeof ProductType>

export const LifecycleState = z.enum(['draft', 'sandbox', 'production', 'archived'])
export type LifecycleState = z.infer<typeof LifecycleState>

export const CoverType = z.enum([
  'life',
  'critical_illness',
  'income_protection',
  'accidental_death',
  'child_benefit',
  'healthcare',
])
export type CoverType = z.infer<typeof CoverType>

export const Cover = z
  .object({
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
  .meta({ id: 'Cover' })
export type Cover = z.infer<typeof Cover>

/** Across all covers of a product. Null where it has none; for terms, where no cover has a fixed term. */
export const CoverBounds = z
  .object({
    sum_assured_min_pence: Pence.nullable(),
    sum_assured_max_pence: Pence.nullable(),
    age_min: z.int().nullable().describe('At start, in years.'),
    age_max: z.int().nullable().describe('At start, in years.'),
    term_min: z.int().nullable().describe('Years.'),
    term_max: z.int().nullable().describe('Years.'),
  })
  .meta({ id: 'CoverBounds' })
export type CoverBounds = z.infer<typeof CoverBounds>

export const Product = z
  .object({
    id: ProductId,
    display_id: z.string().describe('`prod_<uuid>`'),
    slug: Slug,
    name: z.string(),
    product_type: ProductType,
    currency_code: CurrencyCode.describe('ISO 4217.'),
    lifecycle_state: LifecycleState.describe('Only `production` is on sale.'),
    cooldown_days: z.int().describe('Cooling-off period: full refund on cancelling.'),
    inclusions: z.array(z.string()),
    exclusions: z.array(z.string()),
    cover_bounds: CoverBounds,
    covers: z.array(Cover),
  })
  .meta({ id: 'Product' })
export type Product = z.infer<typeof Product>

export const Journey = z
  .object({
    id: JourneyId,
    display_id: z.string().describe('`jrn_<uuid>`'),
    slug: Slug,
    name: z.string(),
    description: z.string().nullable(),
    journey_loading: z.string().describe('Decimal multiplier applied to the price; `1.00` means none.'),
    position: z.int().describe('From 0.'),
    lifecycle_state: LifecycleState,
  })
  .meta({ id: 'Journey' })
export type Journey = z.infer<typeof Journey>

export const TerminalOutcome = z.enum(['decline', 'refer', 'postpone'])
export type TerminalOutcome = z.infer<typeof TerminalOutcome>

export const AnswerOption = z
  .object({
    id: z.uuid(),
    value: z.string().describe('What to send.'),
    label: z.string(),
    position: z.int(),
    terminal_outcome: TerminalOutcome.optional().describe('Choosing it ends the application.'),
    terminal_reason_code: z.string().nullable(),
    terminal_reason_message: z.string().nullable(),
  })
  .meta({ id: 'AnswerOption' })
export type AnswerOption = z.infer<typeof AnswerOption>

export const QuestionType = z.enum([
  'date',
  'string',
  'number',
  'integer',
  'boolean',
  'enum',
  'multi_select',
  'derived',
])
export type QuestionType = z.infer<typeof QuestionType>

const Scalar = z.union([z.string(), z.number(), z.boolean()])

/** Asked only when the answer at `key` is the value, or one of the values; for a multi_select, when it contains one. */
export const AskIf = z.object({ key: z.string(), equals: z.union([Scalar, z.array(Scalar)]) })
export type AskIf = z.infer<typeof AskIf>

/**
 * Limits on an answer: numbers and dates by `min` and `max`, texts and selections by length, texts by `pattern`. Where
 * there is a pattern there is a `max_length`, and only up to that length is the pattern sure to be tried quickly.
 */
export const Validation = z.object({
  min: z.union([z.number(), z.iso.date()]).optional(),
  max: z.union([z.number(), z.iso.date()]).optional(),
  min_length: z.int().optional(),
  max_length: z.int().optional(),
  pattern: z.string().optional(),
})
export type Validation = z.infer<typeof Validation>

export const Question = z
  .object({
    id: z.uuid(),
    display_id: z.string().describe('`qst_<uuid>`'),
    key: z.string().describe('Answers are saved under this key.'),
    label: z.string(),
    help_text: z.string().nullable(),
    question_type: QuestionType.describe('A `derived` one is computed from others and never asked.'),
    position: z.int(),
    required: z.boolean(),
    validation: Validation,
    group_key: z.string().nullable().describe('Questions with the same group belong on one page.'),
    group_label: z.string().nullable(),
    lookup_source: z.string().nullable().describe('The list that the free-text answer comes from.'),
    suggestions: z
      .array(z.object({ label: z.string(), search: z.string() }))
      .describe('Match the typed text against `search`; show and send `label`.'),
    answer_options: z.array(AnswerOption).describe('For `enum` and `multi_select`, in order; empty otherwise.'),
    ask_if: AskIf.optional().describe('Present when the question is asked only sometimes.'),
  })
  .meta({ id: 'Question' })
export type Question = z.infer<typeof Question>

export const StageType = z.enum([
  'soft_identity',
  'personal_details',
  'partner_details',
  'cover_capture',
  'questions',
  'interstitial',
  'quote',
  'market_quotes',
  'before_you_buy',
  'payment',
  'confirmation',
  'handoff',
])
export type StageType = z.infer<typeof StageType>

export const Stage = z
  .object({
    id: z.string().describe('`stg_<presentation uuid>_<position>`'),
    key: z.string(),
    position: z.int().min(1),
    stage_type: StageType,
    title: z.string(),
    cta_label: z.string().nullable(),
    config: z.record(z.string(), z.unknown()).describe('Its keys depend on the stage type.'),
    consent_notice: z.string().optional(),
  })
  .meta({ id: 'Stage' })
export type Stage = z.infer<typeof Stage>

/** How questions are arranged into pages. */
export const Presentation = z
  .object({
    id: PresentationId,
    display_id: z.string().describe('`prs_<uuid>`'),
    slug: Slug,
    name: z.string(),
    template_key: z.string(),
    is_default: z.boolean(),
    stages: z.array(Stage),
  })
  .meta({ id: 'Presentation' })
export type Presentation = z.infer<typeof Presentation>

/** What a release, or a draft, tells of its product. */
type ProductTerms = Omit<Product, 'id' | 'display_id' | 'lifecycle_state' | 'cover_bounds'> & {
  readonly product_id: ProductId
}

/**
 * A release holds more than is shown; parsing by the schema of the answer leaves the rest out, and puts the fields in the
 * order of the specification however the release was stored.
 */
export const productRecord = (terms: ProductTerms, lifecycle_state: LifecycleState): Product =>
  Product.parse({
    ...terms,
    id: terms.product_id,
    display_id: `prod_${terms.product_id}`,
    lifecycle_state,
    cover_bounds: coverBounds(terms.covers),
  })

/** A product that was never published shows who it is, and none of its terms. */
export const unpublishedProductRecord = (draft: ProductTerms, lifecycle_state: LifecycleState): Product =>
  productRecord({ ...draft, inclusions: [], exclusions: [], covers: [] }, lifecycle_state)

export const coverBounds = (covers: readonly Cover[]): CoverBounds => ({
  sum_assured_min_pence: least(covers.map((cover) => cover.sum_assured_min_pence)),
  sum_assured_max_pence: greatest(covers.map((cover) => cover.sum_assured_max_pence)),
  age_min: least(covers.map((cover) => cover.age_at_entry_min)),
  age_max: greatest(covers.map((cover) => cover.age_at_entry_max)),
  term_min: least(covers.map((cover) => cover.term_years_min)),
  term_max: greatest(covers.map((cover) => cover.term_years_max)),
})

const known = (values: readonly (number | null)[]): readonly number[] => values.filter((value) => value !== null)
const least = (values: readonly (number | null)[]) => (known(values).length > 0 ? Math.min(...known(values)) : null)
const greatest = (values: readonly (number | null)[]) => (known(values).length > 0 ? Math.max(...known(values)) : null)

const byPosition = (one: { readonly position: number }, other: { readonly position: number }) =>
  one.position - other.position

/** In dashboard order. */
export const journeyRecords = (journeys: readonly Journey[]): Journey[] =>
  journeys.toSorted(byPosition).map((journey) => Journey.parse(journey))

/** In the order in which they are asked. */
export const questionRecords = (questions: readonly Question[]): Question[] =>
  questions
    .toSorted(byPosition)
    .map((question) => Question.parse({ ...question, answer_options: question.answer_options.toSorted(byPosition) }))

export const presentationRecord = (presentation: Presentation): Presentation => ({
  ...Presentation.parse(presentation),
  stages: presentation.stages
    .toSorted(byPosition)
    .map((stage) => ({ ...Stage.parse(stage), config: stageConfigs[stage.stage_type].parse(stage.config) })),
})

/** The presentation with this slug, otherwise the default one; null where a journey has none. */
export const presentationOf = (
  journey: { readonly presentations: readonly Presentation[] },
  slug: string | undefined,
): Presentation | null =>
  journey.presentations.find((presentation) => presentation.slug === slug) ??
  journey.presentations.find(({ is_default }) => is_default) ??
  null
