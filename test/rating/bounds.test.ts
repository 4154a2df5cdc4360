import { describe, expect, test } from 'vitest'
import { exclusion } from '#domain/rating/bounds.ts'
import type { RatedCover } from '#domain/rating/events.ts'
import { coverOf, incomeProtection } from './request.ts'

type Asked = {
  readonly cover?: Partial<RatedCover>
  readonly amount?: number | null
  readonly term?: number | null
  readonly ages?: readonly number[]
  readonly members?: number | null
}

const excluded = ({ cover = {}, amount = 25_000_000, term = 25, ages = [34], members = null }: Asked) =>
  exclusion({ cover: coverOf(0, cover), amount, term }, ages, members, 'GBP')

describe('a rated cover', () => {
  const age = (years: number) => ({
    reason: 'age',
    message: `Life cover starts at ages 18 to 70; the age would be ${years}.`,
  })
  const amount = { reason: 'amount', message: 'Life cover can be £10,000 to £1,000,000.' }
  const term = { reason: 'term', message: 'Life cover runs for 5 to 40 years.' }
  const toSixtyFive = { max_age_at_expiry: 65 }
  const tooLate = { reason: 'expiry_age', message: 'Life cover must end by the age of 65.' }
  const expiry = { reason: 'expiry_age', message: 'Life cover must end by the age of 80.' }

  for (const [name, asked, expected] of [
    ['can start at 18', { ages: [18] }, undefined],
    ['cannot start at 17', { ages: [17] }, age(17)],
    ['can start at 70', { ages: [70], term: 10 }, undefined],
    ['cannot start at 71', { ages: [71], term: 5 }, age(71)],
    ['cannot start when the second life is too old', { ages: [34, 71], term: 5 }, age(71)],
    ['can be £10,000', { amount: 1_000_000 }, undefined],
    ['cannot be £9,999.99', { amount: 999_999 }, amount],
    ['can be £1,000,000', { amount: 100_000_000 }, undefined],
    ['cannot be £1,000,000.01', { amount: 100_000_001 }, amount],
    ['has no bounds of an amount that it does not have', { amount: null }, undefined],
    ['can run for 5 years', { term: 5 }, undefined],
    ['cannot run for 4 years', { term: 4 }, term],
    ['can run for 40 years', { term: 40 }, undefined],
    ['cannot run for 41 years', { term: 41 }, term],
    ['without a shortest term has no bounds of a term', { term: 1, cover: { term_years_min: null } }, undefined],
    ['without a longest term has no bounds of a term', { term: 41, cover: { term_years_max: null } }, undefined],
    ['can end at 80', { ages: [55], term: 25 }, undefined],
    ['cannot end at 81', { ages: [56], term: 25 }, expiry],
    ['cannot end when one of two lives is 81', { ages: [34, 56], term: 25 }, expiry],
    ['without an age at expiry can end at any age', { ages: [70], cover: { max_age_at_expiry: null } }, undefined],
    ['without a term starts below the age at which it ends', { ages: [64], term: null, cover: toSixtyFive }, undefined],
    [
      'without a term cannot start at the age at which it ends',
      { ages: [65], term: null, cover: toSixtyFive },
      tooLate,
    ],
  ] satisfies [string, Asked, unknown][])
    test(name, () => {
      expect(excluded(asked)).toEqual(expected)
    })

  test('that pays a benefit each month has bounds for a year', () => {
    expect(excluded({ cover: incomeProtection, amount: 599_999, term: null })).toEqual({
      reason: 'amount',
      message: 'Income protection can be £6,000 to £1,000,000 a year.',
    })
  })
})

describe('a cover of fixed tiers', () => {
  const tiers = [
    { cover_amount_pence: 1_000_050, premium_pence: 300 },
    { cover_amount_pence: 2_000_000, premium_pence: 500 },
  ]
  const cover = { pricing_basis: 'fixed_tiers', title: 'Accident plan', tiers } as const

  for (const [name, asked, reason] of [
    ['can be an amount that is a tier', { amount: 2_000_000 }, undefined],
    ['cannot be an amount between two tiers', { amount: 1_500_000 }, 'amount'],
    ['starts only within its ages', { amount: 2_000_000, ages: [71] }, 'age'],
    ['runs only for its terms', { amount: 2_000_000, term: 41 }, 'term'],
    ['ends by its age', { amount: 2_000_000, ages: [56] }, 'expiry_age'],
  ] satisfies [string, Asked, unknown][])
    test(name, () => {
      expect(excluded({ ...asked, cover })?.reason).toBe(reason)
    })

  test('says which amounts there are', () => {
    const message = 'Accident plan comes in these amounts: £10,000.50, £20,000.'

    expect(excluded({ cover, amount: 1 })?.message).toBe(message)
  })
})

describe('a cover priced by member', () => {
  const cover = { pricing_basis: 'per_member', cover_type: 'healthcare', members_min: 3, members_max: 50 } as const
  const bounded = { reason: 'amount', message: 'Healthcare is for 3 to 50 people.' }
  const unbounded = { ...cover, members_min: null, members_max: null }

  for (const [name, asked, expected] of [
    ['can have as few as its least', { cover, members: 3 }, undefined],
    ['cannot have fewer', { cover, members: 2 }, bounded],
    ['can have as many as its most', { cover, members: 50 }, undefined],
    ['cannot have more', { cover, members: 51 }, bounded],
    ['cannot have an unknown number', { cover, members: null }, bounded],
    ['without bounds can have one', { cover: unbounded, members: 1 }, undefined],
    [
      'without bounds cannot have none',
      { cover: unbounded, members: 0 },
      { reason: 'amount', message: 'Healthcare is for 1 people or more.' },
    ],
    [
      'without a least number cannot have none',
      { cover: { ...cover, members_min: null }, members: 0 },
      { reason: 'amount', message: 'Healthcare is for 1 to 50 people.' },
    ],
    [
      'without a most number cannot have fewer than its least',
      { cover: { ...cover, members_max: null }, members: 2 },
      { reason: 'amount', message: 'Healthcare is for 3 people or more.' },
    ],
    ['is for any age', { cover, members: 3, ages: [99] }, undefined],
  ] satisfies [string, Asked, unknown][])
    test(name, () => {
      expect(excluded(asked)).toEqual(expected)
    })
})

for (const [cover_type, name] of [
  ['life', 'Life cover'],
  ['critical_illness', 'Critical illness cover'],
  ['income_protection', 'Income protection'],
  ['accidental_death', 'Accidental death cover'],
  ['child_benefit', 'Child cover'],
  ['healthcare', 'Healthcare'],
] as const)
  test(`a cover of the type ${cover_type} without a title is called ${name}`, () => {
    expect(excluded({ cover: { cover_type }, term: 41 })?.message).toBe(`${name} runs for 5 to 40 years.`)
  })
