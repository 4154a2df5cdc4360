import { expect, test } from 'vitest'
import { usualStages } from '../../demo/sales-page/page/usual-stages.ts'

const bounds = { sum_assured_min_pence: 600_000, sum_assured_max_pence: 6_000_000, term_min: 5, term_max: 40 }
const withoutTerm = { ...bounds, term_min: null, term_max: null }
const cover = {
  cover_index: 0,
  title: null,
  pricing_basis: 'rated',
  benefit_basis: 'lump_sum',
  member_premium_pence: null,
  opt_in_factor: null,
}
const typesOf = (...product: Parameters<typeof usualStages>) =>
  usualStages(...product).map(({ stage_type }) => stage_type)
const captured = (...product: Parameters<typeof usualStages>) => usualStages(...product)[0]?.config

test('a journey without a presentation leads from the cover to the policy', () => {
  expect(typesOf({ covers: [cover], cover_bounds: bounds })).toEqual([
    'cover_capture',
    'questions',
    'personal_details',
    'quote',
    'before_you_buy',
    'payment',
    'confirmation',
  ])
})

test('the amount and the term are asked within the limits of the product, a monthly benefit by the year', () => {
  expect(captured({ covers: [cover], cover_bounds: bounds })).toEqual({
    mode: 'amount_term',
    amount: { min_pence: 600_000, max_pence: 6_000_000 },
    term: { min: 5, max: 40 },
    benefit_label: null,
  })
  const income = { ...cover, benefit_basis: 'monthly_benefit' }
  expect(captured({ covers: [income], cover_bounds: withoutTerm })).toMatchObject({
    term: null,
    benefit_label: 'How much should we pay out in a year?',
  })
})

test('a price for each person of a group depends on the level that is chosen, and on no amount', () => {
  const core = { ...cover, title: 'Core', pricing_basis: 'per_member', member_premium_pence: 1_150 }
  const plus = { ...core, cover_index: 1, title: 'Plus', member_premium_pence: 2_450 }
  const dental = { ...core, cover_index: 2, title: 'Dental', opt_in_factor: 'wants_dental' }

  expect(typesOf({ covers: [core, dental], cover_bounds: bounds })[0]).toBe('questions')
  expect(captured({ covers: [core, plus, dental], cover_bounds: bounds })).toEqual({
    mode: 'members',
    levels: [
      { cover_index: 0, label: 'Core', member_premium_pence: 1_150 },
      { cover_index: 1, label: 'Plus', member_premium_pence: 2_450 },
    ],
  })
})
