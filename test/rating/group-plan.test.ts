import { expect, test } from 'vitest'
import { price } from '#domain/rating/price.ts'
import type { Life } from '#domain/rating/request.ts'
import { coverOf, priced, requestOf } from './request.ts'
import type { RatedCover } from '#domain/rating/events.ts'

const level = (index: number, title: string, member_premium_pence: number, cover: Partial<RatedCover> = {}) =>
  coverOf(index, {
    cover_type: 'healthcare',
    pricing_basis: 'per_member',
    title,
    member_premium_pence,
    members_factor: 'employee_count',
    members_min: 2,
    members_max: 250,
    rate_table: null,
    sum_assured_min_pence: 0,
    sum_assured_max_pence: 0,
    minimum_premium_pence: 0,
    ...cover,
  })

const covers = [
  level(0, 'Core', 1_150),
  level(1, 'Plus', 2_450),
  level(2, 'Comprehensive', 4_250),
  level(3, 'Dental', 790, { opt_in_factor: 'wants_dental' }),
]

const plan = (answers: Life['answers'], components: Parameters<typeof requestOf>[0] = {}) =>
  ({
    release: { product_type: 'healthcare', covers },
    lives: [{ dob: null, answers }],
    cover_amount_pence: null,
    term_years: null,
    ...components,
  }) as const

test('a plan costs its price for each person, without a fee, an amount, a term or anybody’s age', () => {
  expect(priced(plan({ employee_count: 12 }))).toMatchObject({
    premium_pence: 12 * 1_150,
    annual_premium_pence: 12 * 12 * 1_150,
    total_premium_pence: null,
    policy_fee_pence: 0,
    members: 12,
    rate_tables: [],
    components: [
      { title: 'Core', members: 12, member_premium_pence: 1_150, cover_amount_pence: null, expires_on: null },
    ],
    excluded_covers: [{ reason: 'not_selected' }, { reason: 'not_selected' }, { reason: 'not_selected' }],
  })
})

test('another level can be chosen', () => {
  const components = [{ cover_index: 2, selected: true }]
  const result = priced(plan({ employee_count: 12 }, { components }))
  expect(result.components.map(({ title }) => title)).toEqual(['Comprehensive'])
})

test('the first level can be turned down', () => {
  const components = [{ cover_index: 0, selected: false }]
  const result = priced(plan({ employee_count: 12 }, { components }))
  expect(result.components.map(({ title }) => title)).toEqual(['Plus'])
})

test('an add-on counts when its answer is yes', () => {
  const both = priced(plan({ employee_count: 12, wants_dental: true }))
  expect(both).toMatchObject({ premium_pence: 12 * (1_150 + 790), members: 12 })
  expect(priced(plan({ employee_count: 12, wants_dental: false })).premium_pence).toBe(12 * 1_150)
})

test('an add-on is nothing without a plan', () => {
  const components = [0, 1, 2].map((cover_index) => ({ cover_index, selected: false }))
  const request = requestOf(plan({ employee_count: 12, wants_dental: true }, { components }))
  expect(price(request)).toMatchObject({ outcome: 'no_quotable_cover' })
})

test('the journey’s loading is rounded once for each cover', () => {
  // 3 × 11.50 × 1.0050 is 34.6725 pounds.
  expect(priced(plan({ employee_count: 3 }, { journey_loading: '1.005' })).premium_pence).toBe(3_467)
})

test('a minimum is kept when one is set', () => {
  const release = {
    product_type: 'healthcare',
    covers: [level(0, 'Core', 1_150, { minimum_premium_pence: 5_000 })],
  } as const
  const result = priced(plan({ employee_count: 3 }, { release }))
  expect(result).toMatchObject({ premium_pence: 5_000, components: [{ minimum_premium_applied: true }] })
})

test.each([undefined, null, '12', 2.5])('a headcount of %s is missing', (employee_count) => {
  const request = requestOf(plan({ employee_count }))
  expect(price(request)).toEqual({ outcome: 'details_missing', fields: ['answers.employee_count'] })
})

test.each([
  [1, 'no_quotable_cover'],
  [2, 'priced'],
  [250, 'priced'],
  [251, 'no_quotable_cover'],
  [0, 'no_quotable_cover'],
])('for %i people: %s', (employee_count, outcome) => {
  expect(price(requestOf(plan({ employee_count }))).outcome).toBe(outcome)
})
