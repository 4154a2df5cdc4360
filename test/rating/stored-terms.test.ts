import { expect, test } from 'vitest'
import { isAccelerated } from '#domain/rating/components.ts'
import { Condition, RatedCover, UnderwritingRule } from '#domain/rating/events.ts'
import { coverOf } from './request.ts'

test.each([
  { premium_basis: 'guaranteed' },
  { premium_basis: 'reviewable', review_period_years: 5 },
  { ci_payout_basis: 'additional' },
  { ci_payout_basis: 'accelerated' },
  { indexation_method: 'none' },
  { indexation_method: 'rpi' },
  { indexation_method: 'fixed_percent', indexation_percent: 5 },
  { indexation_method: 'decreasing' },
  { benefit_basis: 'lump_sum' },
  { benefit_basis: 'monthly_benefit' },
  { pricing_basis: 'fixed_tiers', tiers: [{ cover_amount_pence: 1, premium_pence: 2 }] },
  { pricing_basis: 'per_member', members_min: 2, members_max: 50 },
] as const)('a cover may have the terms %o', (terms) => {
  const cover = coverOf(2, { ...terms, tiers: 'tiers' in terms ? [...terms.tiers] : [] })

  expect(RatedCover.parse(cover)).toEqual(cover)
})

test.each([
  { premium_basis: '' },
  { ci_payout_basis: '' },
  { indexation_method: '' },
  { benefit_basis: '' },
  { pricing_basis: '' },
  { members_min: 0 },
  { members_max: 0 },
  { indexation_percent: -1 },
  { cover_index: -1 },
])('a cover may not have the terms %o', (terms) => {
  expect(RatedCover.safeParse({ ...coverOf(0, {}), ...terms }).success).toBe(false)
})

test.each([
  [{ key: 'work', equals: ['pilot', 'miner'] }, true],
  [{ key: 'work', equals: 5 }, true],
  [{ key: 'work', equals: [] }, false],
  [{ key: '', equals: 5 }, false],
  [{ key: 'bmi', min: 1 }, true],
  [{ key: 'bmi', above: 1 }, true],
  [{ key: 'bmi', max: 1 }, true],
  [{ key: 'bmi', below: 1 }, true],
  [{ key: 'bmi' }, false],
  [{ key: '', min: 1 }, false],
])('%j is a condition: %s', (condition, isOne) => {
  expect(Condition.safeParse(condition).success).toBe(isOne)
})

test('a condition without a limit is told what it needs', () => {
  expect(JSON.stringify(Condition.safeParse({ key: 'bmi' }).error?.issues)).toContain(
    'name at least one of min, above, max and below',
  )
})

const rule = { code: 'pilot', label: 'A pilot', when: { key: 'work', equals: 'pilot' } }
test.each([
  [{ extra_percent: 1 }, true],
  [{ extra_percent: 1000 }, true],
  [{ extra_percent: 0 }, false],
  [{ extra_percent: 1001 }, false],
  [{ extra_per_mille: '999.99' }, true],
  [{ extra_per_mille: '1000.00' }, false],
  [{ extra_per_mille: '1.5' }, false],
  [{ extra_per_mille: 'x1.50' }, false],
  [{ extra_per_mille: '1.500' }, false],
  [{ decision: 'refer', message: 'We look at it.' }, true],
  [{ decision: 'decline', cover_types: ['life', 'healthcare'] }, true],
  [{ decision: 'postpone', when: [rule.when, { key: 'bmi', min: 1 }] }, true],
  [{ decision: 'other' }, false],
  [{ decision: 'refer', message: '' }, false],
  [{ decision: 'refer', cover_types: [] }, false],
  [{ decision: 'refer', when: [] }, false],
  [{ decision: 'refer', code: '' }, false],
  [{ decision: 'refer', label: '' }, false],
  [{ decision: 'refer', extra_percent: 1 }, false],
  [{}, false],
])('a rule may have the effect %j: %s', (effect, isOne) => {
  expect(UnderwritingRule.safeParse({ ...rule, ...effect }).success).toBe(isOne)
})

test.each([
  [{}, true],
  [{ pricing_basis: 'fixed_tiers' }, false],
  [{ cover_type: 'life' }, false],
  [{ ci_payout_basis: 'additional' }, false],
] as const)('a rated illness cover that is paid early comes out of the life cover; with %j: %s', (changes, isSo) => {
  const illness = { cover_type: 'critical_illness', ci_payout_basis: 'accelerated' } as const

  expect(isAccelerated(coverOf(1, { ...illness, ...changes }))).toBe(isSo)
})
