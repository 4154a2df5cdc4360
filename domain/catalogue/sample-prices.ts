import type { Answers } from '../applications/events.ts'
import { isJoint } from '../applications/record.ts'
import { isSameJson } from '../canonical-json.ts'
import type { EndingDecision, RateTable } from '../rating/events.ts'
import { price } from '../rating/price.ts'
import type { PricingResult } from '../rating/request.ts'
import type { Draft, ReleaseCover } from './events.ts'
import { ageIn, otherAnswers, usualAnswers } from './sample-answers.ts'

/** The rules that a product is priced by: a draft of it, or a release, with its rate tables by key. */
export type PricedDraft = { readonly draft: Draft; readonly rate_tables: ReadonlyMap<string, RateTable> }

/** An application that somebody might make. */
export type Sample = {
  readonly age: number
  readonly term: number | null
  readonly journey: string
  readonly answers: Answers
}

/** A price, or why there is none. */
export type SampleOutcome = number | EndingDecision | Exclude<PricingResult['outcome'], 'priced' | 'not_accepted'>

export type SamplePrice = { readonly sample: Sample; readonly before: SampleOutcome; readonly after: SampleOutcome }

export type PriceComparison = {
  /** The number of samples that have a price by one of them at least. */
  readonly samples: number
  /** Those that differ, the largest changes first. */
  readonly changed: readonly SamplePrice[]
  /** Of those that both price otherwise, the smallest and the largest price after for one before. */
  readonly ratio: { readonly smallest: number; readonly largest: number } | null
}

/** More applications are not thought of: they are priced while somebody waits. */
const mostSamples = 100

/** False where no price can differ. */
export const mayPriceOtherwise = (before: Draft, after: Draft): boolean => !isSameJson(pricing(before), pricing(after))

const pricing = ({ journeys, ...draft }: Draft) => ({
  product_type: draft.product_type,
  whole_of_market: draft.whole_of_market,
  currency_code: draft.currency_code,
  covers: draft.covers,
  joint: draft.joint,
  rate_tables: draft.rate_tables,
  underwriting: draft.underwriting,
  factors: draft.factors,
  smoker: draft.smoker,
  policy_fee_pence: draft.policy_fee_pence,
  earnings: draft.earnings,
  journeys: journeys.map(({ id, journey_loading }) => [id, journey_loading]),
})

/** The prices of the same sample applications by two drafts of a product. */
export const compareSamples = (before: PricedDraft, after: PricedDraft, start_date: string): PriceComparison => {
  const compared = samplesOf(before, after).map((sample): SamplePrice => ({
    sample,
    before: priceOf(before, after, sample, start_date),
    after: priceOf(after, before, sample, start_date),
  }))
  const priced = compared.filter((each) => typeof each.before === 'number' || typeof each.after === 'number')
  const changed = priced.filter((each) => each.before !== each.after)
  const ratios = changed.flatMap(({ before: was, after: is }) =>
    typeof was === 'number' && typeof is === 'number' && was > 0 ? [is / was] : [],
  )
  return {
    samples: priced.length,
    changed: changed.toSorted((one, other) => sizeOf(other) - sizeOf(one)),
    ratio: ratios.length === 0 ? null : { smallest: Math.min(...ratios), largest: Math.max(...ratios) },
  }
}

/** To have no price any more, or none before, is the largest change. */
const sizeOf = ({ before, after }: SamplePrice): number =>
  typeof before === 'number' && typeof after === 'number'
    ? Math.max(before, after) / Math.max(1, Math.min(before, after))
    : Number.MAX_VALUE

const samplesOf = (before: PricedDraft, after: PricedDraft): readonly Sample[] => {
  const drafts = [after.draft, before.draft]
  const ages = spread(valuesOf([after, before], 'age'))
  const terms = spread(valuesOf([after, before], 'term'))
  const [journey, ...otherJourneys] = after.draft.journeys.map(({ id }) => id)
  const answers = usualAnswers(drafts)
  const smoking = drafts
    .flatMap(({ smoker }): Answers[] => (smoker?.values ?? []).map((yes) => ({ [smoker?.key ?? '']: yes })))
    .slice(0, 1)
  const middle = { age: middleOf(ages) ?? 40, term: middleOf(terms) ?? null, journey: journey ?? '', answers }
  const samples: Sample[] = ages.flatMap((age) =>
    (terms.length === 0 ? [null] : terms).flatMap((term) =>
      [{}, ...smoking].map((other) => ({ ...middle, age, term, answers: { ...answers, ...other } })),
    ),
  )
  for (const other of otherJourneys.slice(0, mostSamples)) samples.push({ ...middle, journey: other })
  for (const other of otherAnswers(drafts, mostSamples).slice(0, mostSamples))
    samples.push({ ...middle, age: ageIn(drafts, other) ?? middle.age, answers: { ...answers, ...other } })
  return unique(samples).slice(0, mostSamples)
}

const unique = (samples: readonly Sample[]): readonly Sample[] => [
  ...new Map(samples.map((sample) => [JSON.stringify(sample), sample])).values(),
]

const middleOf = <Value>(values: readonly Value[]): Value | undefined => values[Math.floor(values.length / 2)]

/** A low, a middle and a high one, and none at the very end where there are many. */
const spread = (values: readonly number[]): readonly number[] => [
  ...new Set([1, 3, 5].flatMap((sixth) => values[Math.floor((values.length * sixth) / 6)] ?? [])),
]

/** The ages or terms that covers allow, of those that rate tables have where they depend on it. */
const valuesOf = (of: readonly PricedDraft[], dimension: 'age' | 'term'): readonly number[] => {
  const values = new Set<number>()
  for (const { draft, rate_tables } of of) {
    const inTables = [...rate_tables.values()].flatMap((table) => valuesIn(table, dimension))
    for (const cover of draft.covers) {
      const limits = limitsOf(cover, dimension)
      if (!limits) continue
      const every = Array.from({ length: limits.max - limits.min + 1 }, (_, index) => limits.min + index)
      for (const value of inTables.length > 0 ? inTables : every)
        if (value >= limits.min && value <= limits.max) values.add(value)
    }
  }
  return [...values].toSorted((one, other) => one - other)
}

const limitsOf = (cover: ReleaseCover, dimension: 'age' | 'term') => {
  if (dimension === 'age') return { min: cover.age_at_entry_min, max: cover.age_at_entry_max }
  const { term_years_min: min, term_years_max: max } = cover
  return min === null || max === null ? undefined : { min, max }
}

const valuesIn = ({ dimensions, cells }: RateTable, dimension: 'age' | 'term'): readonly number[] => {
  const at = dimensions.indexOf(dimension)
  if (at === -1) return []
  return [...new Set(Object.keys(cells).map((cell) => Number(cell.split('|')[at])))]
}

const priceOf = (own: PricedDraft, other: PricedDraft, sample: Sample, start_date: string): SampleOutcome => {
  const { draft, rate_tables } = own
  const journey = draft.journeys.find(({ id }) => id === sample.journey) ?? draft.journeys[0]
  const life = { dob: `${Number(start_date.slice(0, 4)) - sample.age}-01-01`, answers: sample.answers }
  if (draft.whole_of_market || !journey) return 'rate_unavailable'
  const result = price({
    release: draft,
    rate_tables,
    journey_loading: journey.journey_loading,
    start_date,
    lives: isJoint(draft.joint, sample.answers) ? [life, life] : [life],
    cover_amount_pence: null,
    term_years: sample.term,
    components: draft.covers.map((cover) => ({
      cover_id: cover.id,
      cover_amount_pence: amountOf(cover, other.draft.covers.find(({ id }) => id === cover.id) ?? cover),
      term_years: sample.term,
    })),
  })
  switch (result.outcome) {
    case 'priced':
      return result.premium_pence
    case 'not_accepted':
      return result.decision
    case 'details_missing':
    case 'cover_missing':
    case 'no_quotable_cover':
    case 'rate_unavailable':
      return result.outcome
  }
}

/** An amount that both releases allow, where there is one: £100,000, or £12,000 a year. */
const amountOf = (one: ReleaseCover, other: ReleaseCover): number => {
  const levels = one.tiers.map(({ cover_amount_pence }) => cover_amount_pence)
  const both = levels.filter((level) => other.tiers.some(({ cover_amount_pence }) => cover_amount_pence === level))
  if (levels.length > 0) return middleOf(both.length > 0 ? both : levels) ?? 0
  const usual = one.benefit_basis === 'monthly_benefit' ? 1_200_000 : 10_000_000
  const [least, most] = [
    Math.max(one.sum_assured_min_pence, other.sum_assured_min_pence),
    Math.min(one.sum_assured_max_pence, other.sum_assured_max_pence),
  ]
  return Math.min(Math.max(usual, least), most)
}
