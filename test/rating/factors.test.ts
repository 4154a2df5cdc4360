import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RateTableKey, RatingFactors, UnderwritingRule } from '#domain/rating/events.ts'
import { explain } from '#domain/rating/explain.ts'
import { JourneyLoading, neutralFactors, standardFactors } from '#domain/rating/factors.ts'
import { aged, coverOf, incomeProtection, levelLife, requestOf } from './request.ts'

type Changes = Parameters<typeof requestOf>[0]
const factorsOf = (changes: Changes) =>
  explain(requestOf(changes))?.components.map(({ steps }) =>
    Object.fromEntries(steps.filter(({ step }) => step === 'factor').map(({ name, value }) => [name, value])),
  )

const whyNot = (schema: z.ZodType, value: unknown): readonly string[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? []

describe('a product that states no factors', () => {
  const nothing = {
    size: '1.000',
    premium_basis: '1.000',
    indexation: '1.000',
    joint_first_event: '1.000',
    multi_cover: '1.000',
  }
  const lives = [aged(34), aged(36)] as const

  test.each([
    {},
    { premium_basis: 'reviewable', review_period_years: 5 },
    { indexation_method: 'rpi' },
    { indexation_method: 'decreasing' },
    { indexation_method: 'fixed_percent', indexation_percent: 5 },
  ] as const)('changes no rate of a cover with the terms %j', (terms) => {
    const covers = [coverOf(0, terms), coverOf(1, terms)]

    expect(factorsOf({ release: { product_type: 'bundled', covers, factors: neutralFactors }, lives })).toEqual([
      nothing,
      nothing,
    ])
  })

  test.each([1_000_000, 25_000_000, 100_000_000])('makes no difference of a sum of %i pence', (cover_amount_pence) => {
    expect(factorsOf({ release: { factors: neutralFactors }, cover_amount_pence })).toMatchObject([{ size: '1.000' }])
  })

  test('asks nothing of the class of an occupation', () => {
    const release = { covers: [coverOf(0, incomeProtection)], factors: neutralFactors }
    const lives = [aged(34, { smoker: false, deferred_weeks: 13 })] as const

    expect(factorsOf({ release, lives, cover_amount_pence: 2_160_000 })).toEqual([nothing])
  })

  test('has factors that a release may hold', () => {
    expect(RatingFactors.parse(neutralFactors)).toEqual(neutralFactors)
  })
})

test.each([
  [4_999_999, '1.150'],
  [5_000_000, '1.050'],
  [9_999_999, '1.050'],
  [10_000_000, '1.000'],
  [24_999_999, '1.000'],
  [25_000_000, '0.960'],
  [49_999_999, '0.960'],
  [50_000_000, '0.930'],
  [100_000_000, '0.930'],
])('the size factor of %i pence is %s', (cover_amount_pence, size) => {
  expect(factorsOf({ cover_amount_pence })).toMatchObject([{ size }])
})

test('of a benefit for each month the size makes no difference', () => {
  const release = { covers: [coverOf(0, incomeProtection)] }
  const lives = [aged(34, { smoker: false, deferred_weeks: 13, occupation_class: 1 })] as const

  expect(factorsOf({ release, lives, cover_amount_pence: 2_160_000 })).toMatchObject([{ size: '1.000' }])
})

test.each(['10', '10.5', '99.9999'])('a journey may be loaded by %s', (loading) => {
  expect(whyNot(JourneyLoading, loading)).toEqual([])
})

describe('whoever enters a wrong rule of the price is told what to do', () => {
  test('of the loading of a journey', () => {
    expect(whyNot(JourneyLoading, '1,10')).toEqual(['use a decimal number with at most four places, for example 1.10'])
    expect(whyNot(JourneyLoading, '0.00')).toEqual(['must be above 0'])
  })

  test('of an extra for each £1,000', () => {
    const rule = { code: 'diving', label: 'Diving', when: { key: 'diving', equals: true } }

    expect(whyNot(UnderwritingRule, { ...rule, extra_per_mille: '1.5' })).toEqual([
      'use pounds and pence, for example 1.50',
    ])
    expect(whyNot(UnderwritingRule, rule)).toEqual(['name one of extra_percent, extra_per_mille and decision'])
  })

  test('of the key of a rate table', () => {
    expect(whyNot(RateTableKey, 'Life Level')).toEqual([
      'use lower-case words of letters, digits and _, joined by dots',
    ])
  })

  test('of bands of sums', () => {
    const bands = (...below: readonly (number | null)[]) => ({
      ...standardFactors,
      size_bands: below.map((below_pence) => ({ below_pence, factor: 1000 })),
    })

    expect(whyNot(RatingFactors, bands(5_000_000))).toEqual(['the last band, and no other, has below_pence null'])
    expect(whyNot(RatingFactors, bands(5_000_000, 5_000_000, null))).toEqual(['the bands must ascend'])
  })
})

test('a second life cover of a product that is not bundled has no discount', () => {
  expect(factorsOf({ release: { covers: [levelLife, coverOf(1, {})] } })).toMatchObject([
    { multi_cover: '1.000' },
    { multi_cover: '1.000' },
  ])
})
