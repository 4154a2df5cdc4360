import { describe, expect, test } from 'vitest'
import { missingRates, mostMissing } from '#domain/catalogue/missing-rates.ts'
import type { Dimension } from '#domain/rating/events.ts'
import { draft } from './builders.ts'

const cover = {
  cover_type: 'life',
  rate_table: 'life.level',
  sum_assured_min_pence: 1_000_000,
  sum_assured_max_pence: 100_000_000,
  age_at_entry_min: 30,
  age_at_entry_max: 31,
  term_years_min: 5,
  term_years_max: 6,
}

const missing = (changes: object, dimensions: readonly Dimension[], cells: readonly string[], of: object = {}) =>
  missingRates(draft({ covers: [{ ...cover, ...changes }], rate_tables: { 'life.level': 1 }, ...of }), () => ({
    dimensions: [...dimensions],
    cells: Object.fromEntries(cells.map((cell) => [cell, 1])),
  }))

const all = ['30|5|n', '30|5|s', '30|6|n', '30|6|s', '31|5|n', '31|5|s', '31|6|n', '31|6|s']
const whole: readonly Dimension[] = ['age', 'term', 'smoker']

test('a table that has a rate for every age, term and smoker of a cover lacks nothing', () => {
  expect(missing({}, whole, all)).toEqual([])
})

test.each(all)('a cell that is missing within them is named: %s', (cell) => {
  const others = all.filter((each) => each !== cell)

  expect(missing({}, whole, others)).toEqual([{ cover_index: 0, rate_table: 'life.level', version: 1, cells: [cell] }])
})

describe('nothing is missed', () => {
  test('beyond the age by which the cover must end', () => {
    expect(missing({ max_age_at_expiry: 36 }, whole, all.slice(0, 6))).toEqual([])
    expect(missing({ max_age_at_expiry: 37 }, whole, all.slice(0, 6))).toMatchObject([{ cells: all.slice(6) }])
    expect(missing({ max_age_at_expiry: 34 }, whole, [])).toEqual([])
  })

  test('by what the table does not depend on', () => {
    expect(missing({}, ['age'], ['30'])).toMatchObject([{ cells: ['31'] }])
    expect(missing({ term_years_min: null, term_years_max: null }, ['age'], ['30', '31'])).toEqual([])
  })

  test('for a cover of another pricing basis, or a product of the whole market', () => {
    const tiers = [{ cover_amount_pence: 1_000_000, premium_pence: 100 }]

    expect(missing({ pricing_basis: 'fixed_tiers', tiers, rate_table: null }, whole, [])).toEqual([])
    expect(missing({}, whole, [], { whole_of_market: true })).toEqual([])
  })
})

test('each variant that an answer can choose is looked up', () => {
  const question = {
    key: 'work',
    label: 'Work?',
    question_type: 'enum',
    answer_options: { desk: 'Desk', field: 'Field' },
  }
  const journeys = [{ slug: 'standard', name: 'Standard', questions: [question] }]
  const found = missing({ rate_table: 'life.level:{work}' }, ['age', 'variant'], ['30|desk', '31|field'], { journeys })

  expect(found).toMatchObject([{ cells: ['30|field', '31|desk'] }])
})

test('of very many the first thousand are told', () => {
  const found = missing({ age_at_entry_min: 0, age_at_entry_max: 120, term_years_max: 1_000_000 }, whole, [])

  expect(found[0]?.cells).toHaveLength(mostMissing)
})
