import { expect, test } from 'vitest'
import { coverFaults } from '#domain/rating/cover.ts'
import type { RatedCover } from '#domain/rating/events.ts'
import { coverOf } from './request.ts'

const perMember = { pricing_basis: 'per_member', member_premium_pence: 100, members_factor: 'employees' } as const
const tiers = [{ cover_amount_pence: 100, premium_pence: 1 }]

for (const [name, cover, faults] of [
  ['a rated cover names its rate table', { rate_table: null }, { rate_table: 'a rated cover needs it' }],
  ['a rated cover with a rate table can be priced', {}, {}],
  [
    'a cover of fixed tiers has at least one',
    { pricing_basis: 'fixed_tiers', tiers: [] },
    { tiers: 'a cover of fixed tiers needs at least one' },
  ],
  ['a cover of one tier can be priced', { pricing_basis: 'fixed_tiers', tiers }, {}],
  [
    'a cover priced by member has a price and the question about the headcount',
    { pricing_basis: 'per_member' },
    {
      member_premium_pence: 'a cover priced per member needs it',
      members_factor: 'a cover priced per member needs it',
    },
  ],
  ['a cover priced by member with both can be priced', perMember, {}],
  [
    'reviewable premiums have a period',
    { premium_basis: 'reviewable' },
    { review_period_years: 'reviewable premiums need it' },
  ],
  ['reviewable premiums with a period are priced', { premium_basis: 'reviewable', review_period_years: 5 }, {}],
  [
    'indexation by a fixed percentage has a percentage',
    { indexation_method: 'fixed_percent' },
    { indexation_percent: 'indexation by a fixed percentage needs it' },
  ],
  ['indexation with a percentage is priced', { indexation_method: 'fixed_percent', indexation_percent: 3 }, {}],
  [
    'the largest amount is not below the smallest',
    { sum_assured_min_pence: 2, sum_assured_max_pence: 1 },
    { sum_assured_max_pence: 'must not be below sum_assured_min_pence' },
  ],
  ['there may be one amount only', { sum_assured_min_pence: 2, sum_assured_max_pence: 2 }, {}],
  [
    'the highest age is not below the lowest',
    { age_at_entry_min: 41, age_at_entry_max: 40 },
    { age_at_entry_max: 'must not be below age_at_entry_min' },
  ],
  ['there may be one age only', { age_at_entry_min: 40, age_at_entry_max: 40 }, {}],
  [
    'the longest term is not below the shortest',
    { term_years_min: 11, term_years_max: 10 },
    { term_years_max: 'must not be below term_years_min' },
  ],
  ['there may be one term only', { term_years_min: 10, term_years_max: 10 }, {}],
  ['there may be no fixed term', { term_years_min: null, term_years_max: null }, {}],
  [
    'there is no shortest term without a longest',
    { term_years_max: null },
    { term_years_max: 'term_years_min and term_years_max go together' },
  ],
  [
    'there is no longest term without a shortest',
    { term_years_min: null },
    { term_years_max: 'term_years_min and term_years_max go together' },
  ],
] satisfies [string, Partial<RatedCover>, Readonly<Record<string, string>>][])
  test(name, () => {
    expect(coverFaults(coverOf(0, cover))).toEqual(faults)
  })
