import { expect, test } from 'vitest'
import { coverFaults } from '#domain/rating/cover.ts'
import { JourneyLoading, standardFactors } from '#domain/rating/factors.ts'
import { coverOf, levelLife } from './request.ts'
import { RatedCover, RatingFactors } from '#domain/rating/events.ts'

test('a cover that can be priced has no faults', () => {
  expect(coverFaults(levelLife)).toEqual({})
  expect(coverFaults(coverOf(0, { term_years_min: 40, age_at_entry_min: 70 }))).toEqual({})
  expect(RatedCover.parse(levelLife)).toEqual(levelLife)
})

test.each([
  [{ rate_table: null }, ['rate_table']],
  [{ pricing_basis: 'fixed_tiers' }, ['tiers']],
  [{ pricing_basis: 'per_member' }, ['member_premium_pence', 'members_factor']],
  [{ premium_basis: 'reviewable' }, ['review_period_years']],
  [{ indexation_method: 'fixed_percent' }, ['indexation_percent']],
  [{ sum_assured_min_pence: 100_000_001 }, ['sum_assured_max_pence']],
  [{ age_at_entry_min: 71 }, ['age_at_entry_max']],
  [{ term_years_min: 41 }, ['term_years_max']],
  [{ term_years_min: null }, ['term_years_max']],
] as const)('what a cover lacks is told: %o', (change, fields) => {
  expect(Object.keys(coverFaults(coverOf(0, change)))).toEqual(fields)
})

test('the standard factors are what a release may hold', () => {
  expect(RatingFactors.parse(JSON.parse(JSON.stringify(standardFactors)))).toEqual(standardFactors)
})

const sizes = (...bands: readonly (readonly [number | null, number])[]) => ({
  ...standardFactors,
  size_bands: bands.map(([below_pence, factor]) => ({ below_pence, factor })),
})

test.each([
  ['no bands', sizes()],
  ['no last band', sizes([5_000_000, 1150])],
  ['two last bands', sizes([null, 1150], [null, 1000])],
  ['bands that do not ascend', sizes([5_000_000, 1150], [5_000_000, 1050], [null, 1000])],
  ['a factor that is no whole number of thousandths', sizes([null, 1.5])],
])('factors with %s are refused', (_, factors) => {
  expect(RatingFactors.safeParse(factors).success).toBe(false)
})

test.each(['1', '1.00', '1.1', '0.9525'])('a journey may be loaded by %s', (loading) => {
  expect(JourneyLoading.safeParse(loading).success).toBe(true)
})

test.each(['', '0', '0.00', '-1', '1.', '.5', '1,10', '1.00001', '100'])(
  'a journey may not be loaded by “%s”',
  (loading) => {
    expect(JourneyLoading.safeParse(loading).success).toBe(false)
  },
)
