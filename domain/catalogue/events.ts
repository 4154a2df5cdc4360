import { z } from 'zod'
import { Checkout } from '../checkout/events.ts'
import { event, type EventOf, type Json } from '../event.ts'
import { RatedCover, RatingFactors, UnderwritingRules } from '../rating/events.ts'
import {
  CurrencyCode,
  JourneyId,
  OrganisationId,
  Pence,
  PresentationId,
  ProductId,
  ProductType,
  ReleaseId,
  Slug,
} from '../values.ts'

export const LifecycleState = z.enum(['draft', 'sandbox', 'production', 'archived'])
export type LifecycleState = z.infer<typeof LifecycleState>

export const Journey = z.object({
  id: JourneyId,
  display_id: z.string().describe('`jrn_<uuid>`'),
  slug: Slug,
  name: z.string(),
  description: z.string().nullable(),
  journey_loading: z.string().describe('Decimal multiplier applied to the price; `1.00` means none.'),
  position: z.int().describe('From 0.'),
  lifecycle_state: LifecycleState,
})
export type Journey = z.infer<typeof Journey>

export const TerminalOutcome = z.enum(['decline', 'refer', 'postpone'])
export type TerminalOutcome = z.infer<typeof TerminalOutcome>

export const AnswerOption = z.object({
  id: z.uuid(),
  value: z.string().describe('What to send.'),
  label: z.string(),
  position: z.int(),
  terminal_outcome: TerminalOutcome.optional().describe('Choosing it ends the application.'),
  terminal_reason_code: z.string().nullable(),
  terminal_reason_message: z.string().nullable(),
})
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
 * there is a pattern there is a `max_length`.
 */
export const Validation = z.object({
  min: z.union([z.number(), z.iso.date()]).optional(),
  max: z.union([z.number(), z.iso.date()]).optional(),
  min_length: z.int().optional(),
  max_length: z.int().optional(),
  pattern: z.string().optional(),
})
export type Validation = z.infer<typeof Validation>

export const Question = z.object({
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

export const Stage = z.object({
  id: z.string().describe('`stg_<presentation uuid>_<position>`'),
  key: z.string(),
  position: z.int().min(1),
  stage_type: StageType,
  title: z.string(),
  cta_label: z.string().nullable(),
  config: z.record(z.string(), z.unknown()).describe('Its keys depend on the stage type.'),
  consent_notice: z.string().optional(),
})
export type Stage = z.infer<typeof Stage>

/** An arrangement of questions into pages. */
export const Presentation = z.object({
  id: PresentationId,
  display_id: z.string().describe('`prs_<uuid>`'),
  slug: Slug,
  name: z.string(),
  template_key: z.string(),
  is_default: z.boolean(),
  stages: z.array(Stage),
})
export type Presentation = z.infer<typeof Presentation>

/** The rule of a `derived` answer, which is missing while one of its sources is missing. */
export const Derivation = z.discriminatedUnion('kind', [
  /** Whole years from the date answered at `key` to today. */
  z.object({ kind: z.literal('age'), key: z.string() }),
  /** Weight over height squared, to one decimal. */
  z.object({ kind: z.literal('bmi'), height_cm: z.string(), weight_kg: z.string() }),
  z.object({ kind: z.literal('sum'), keys: z.array(z.string()).min(1) }),
  /** Yes where any of these answers is yes. */
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

/** The rule on applications for two people: always, never, or by the answer at `factor_key`. */
export const JointBasis = z.object({
  mode: z.enum(['always', 'by_answer', 'never']),
  factor_key: z.string().nullable(),
  joint_values: z.array(z.string()),
})
export type JointBasis = z.infer<typeof JointBasis>

/** A field of a search of the market, beside date of birth, amount and term. */
export const MarketField = z.string().regex(/^(smoker|occupation|height_cm|weight_kg|options\.[a-z][a-z0-9_]{0,39})$/, {
  error: 'must be smoker, occupation, height_cm, weight_kg, or options. and a name',
})

/** The answer that fills each field of a search, the time limit of a search, and the validity of results. */
export const Market = z.object({
  mapping: z.array(z.object({ field: MarketField, key: z.string().min(1) })),
  time_limit_seconds: z.int().min(1).max(600),
  valid_days: z.int().min(1).max(365),
})
export type Market = z.infer<typeof Market>

export const EarningsLimit = z.object({ key: z.string().min(1), percent: z.int().min(1).max(100) })
export type EarningsLimit = z.infer<typeof EarningsLimit>

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
  /** The question that asks about smoking, and the answers that mean yes. */
  smoker: z.object({ key: z.string(), values: z.array(z.union([z.string(), z.boolean()])) }).nullable(),
  policy_fee_pence: Pence,
  quote_valid_days: z.int().min(1),
  checkout: Checkout,
  /** After so many days without a change an application counts as abandoned. */
  inactive_after_days: z.int().min(1),
  /** The search of the provider panel; null: the product is priced by own rates. */
  market: Market.nullable(),
  /** The answer that holds yearly earnings in pounds, and how much of them a yearly benefit may replace. */
  earnings: EarningsLimit.nullable(),
})
export type Release = z.infer<typeof Release>

/** The contents of the next release, not shown before it is published. */
export const Draft = Release.omit({ id: true, number: true })
export type Draft = z.infer<typeof Draft>

const WithCovers = z.looseObject({ covers: z.array(z.looseObject({})) })

/** In version 1 a cover could leave out its least and greatest headcount, which meant null. */
const withHeadcounts = (content: unknown) => {
  const { covers, ...rest } = WithCovers.parse(content)
  return { ...rest, covers: covers.map((cover) => ({ members_min: null, members_max: null, ...cover })) }
}

const WithCheckout = z.looseObject({ checkout: z.looseObject({}) })

/** In version 2 the release said only how premiums are paid: nothing had to be shown before buying. */
const withCheckout = (content: unknown) => {
  const { checkout, ...rest } = WithCheckout.parse(content)
  return {
    ...rest,
    checkout: {
      stripe_test_mode: null,
      policy_number_prefix: 'POL',
      collection_days: Array.from({ length: 28 }, (_, index) => index + 1),
      demands_and_needs: { required: false, statement: null },
      key_documents: [],
      cancellation: null,
      confirmation: null,
      ...checkout,
    },
  }
}

/** In version 3 every application was given up after 30 days, and nothing was said of a market or of earnings. */
const withJourneySettings = (content: unknown) => ({
  ...z.looseObject({}).parse(content),
  inactive_after_days: 30,
  market: null,
  earnings: null,
})

const draftUpcasts = [
  ({ draft }: Json) => ({ draft: withHeadcounts(draft) }),
  ({ draft }: Json) => ({ draft: withCheckout(draft) }),
  ({ draft }: Json) => ({ draft: withJourneySettings(draft) }),
]

const releaseUpcasts = [
  ({ release }: Json) => ({ release: withHeadcounts(release) }),
  ({ release }: Json) => ({ release: withCheckout(release) }),
  ({ release }: Json) => ({ release: withJourneySettings(release) }),
]

/** Stream `product-<product id>`. */
export const productEvents = {
  ProductDrafted: event({ draft: Draft }, { upcasts: draftUpcasts }),
  ReleasePublished: event({ release: Release }, { upcasts: releaseUpcasts }),
  ProductLifecycleChanged: event({ organisation_id: OrganisationId, lifecycle_state: LifecycleState }),
}
export type ProductEvent = EventOf<typeof productEvents>
