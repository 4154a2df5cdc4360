import { z } from 'zod'
import { Answers } from '../applications/events.ts'
import { ProposedChange } from '../approvals/events.ts'
import { Cover as StoredCover, EndingDecision } from '../rating/events.ts'
import { CurrencyCode, Pence, ProductId, ProductType, ReleaseId, Slug } from '../values.ts'
import {
  AnswerOption as StoredAnswerOption,
  Draft,
  Journey as StoredJourney,
  LifecycleState,
  Presentation as StoredPresentation,
  Question as StoredQuestion,
  Stage as StoredStage,
  type ReleaseJourney,
} from './events.ts'
import { lifeKeysOf } from './life-keys.ts'
import { stageConfigs } from './stage-config.ts'

export { lifeKeysOf, type LifeKeys } from './life-keys.ts'
export { ConsentOptOut, stageConfigs, type StageConfig } from './stage-config.ts'

/** Products and journeys as the specification shows them. What is stored of them, and what they have in common, is in `events.ts`. */

export const Cover = StoredCover.meta({ id: 'Cover' })
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

export const Journey = StoredJourney.meta({ id: 'Journey' })
export type Journey = z.infer<typeof Journey>

export const AnswerOption = StoredAnswerOption.meta({ id: 'AnswerOption' })

export const Question = StoredQuestion.extend({
  answer_options: z.array(AnswerOption).describe('For `enum` and `multi_select`, in order; empty otherwise.'),
}).meta({ id: 'Question' })
export type Question = z.infer<typeof Question>

export const Stage = StoredStage.meta({ id: 'Stage' })
export type Stage = z.infer<typeof Stage>

export const Presentation = StoredPresentation.extend({ stages: z.array(Stage) }).meta({ id: 'Presentation' })
export type Presentation = z.infer<typeof Presentation>

/** A release's, or a draft's, fields about its product. */
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

/** The product's parts that a presentation shows. */
export type Presented = {
  readonly release: Parameters<typeof lifeKeysOf>[0]
  readonly journey: Pick<ReleaseJourney, 'questions'>
}

export const presentationRecord = (presentation: Presentation, presented: Presented): Presentation => ({
  ...Presentation.parse(presentation),
  stages: presentation.stages.toSorted(byPosition).map((stage) => ({
    ...Stage.parse(stage),
    config: {
      ...stageConfigs[stage.stage_type].parse(stage.config),
      ...(stage.stage_type === 'partner_details' && secondPerson(presented)),
    },
  })),
})

/** The second person's questions, in asked order, and the answer by which there is one; null: there always is. */
const secondPerson = ({ release, journey }: Presented) => {
  const lifeKeys = lifeKeysOf(release, journey)
  const asked = journey.questions.filter(({ key, question_type }) => question_type !== 'derived' && lifeKeys.has(key))
  const { mode, factor_key, joint_values } = release.joint
  return {
    question_keys: asked.toSorted(byPosition).map(({ key }) => key),
    ask_if: mode === 'by_answer' ? { key: factor_key, equals: joint_values } : null,
  }
}

/** The presentation with this slug, otherwise the default one; null where a journey has none. */
export const presentationOf = (
  journey: { readonly presentations: readonly Presentation[] },
  slug: string | undefined,
): Presentation | null =>
  journey.presentations.find((presentation) => presentation.slug === slug) ??
  journey.presentations.find(({ is_default }) => is_default) ??
  null

/** More changes are counted, and not shown. */
export const mostChanges = 1_000

const Outcome = z
  .union([
    z.int(),
    EndingDecision,
    z.enum(['details_missing', 'cover_missing', 'no_quotable_cover', 'rate_unavailable']),
  ])
  .describe('Pence a month, or why there is no price.')

const SamplePrice = z
  .object({
    sample: z.object({
      age: z.int(),
      term: z.int().nullable(),
      journey: z.string().describe('The id of the journey.'),
      answers: Answers,
    }),
    before: Outcome,
    after: Outcome,
  })
  .meta({ id: 'SamplePrice' })

/** A product's draft beside its release, as the team sees both. */
export const ProductDraft = z
  .object({
    draft: Draft.describe('The contents of the next release.'),
    release: z
      .object({ id: ReleaseId, number: z.int() })
      .nullable()
      .describe('The release on show; null while none was published.'),
    changes: z
      .array(ProposedChange)
      .describe(`The values of the release that the draft changes, the first ${mostChanges}.`),
    changes_count: z.int().describe('All of them.'),
    prices: z
      .object({
        samples: z.int().describe('Applications that somebody might make, and that have a price.'),
        changed: z.array(SamplePrice).describe('Those that are priced otherwise, the largest changes first.'),
        ratio: z
          .object({ smallest: z.number(), largest: z.number() })
          .nullable()
          .describe(
            'Of those that both price, the smallest and the largest price of the draft for one of the release.',
          ),
      })
      .nullable()
      .describe('Null: no price can differ, or nothing was published to compare with.'),
  })
  .meta({ id: 'ProductDraft' })
