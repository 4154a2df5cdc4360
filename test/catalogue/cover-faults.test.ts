import { expect, test } from 'vitest'
import type { Draft } from '#domain/catalogue/events.ts'
import { draft, levelTable } from './builders.ts'
import { cover, faultless, faultsOf, faulty, journey, question, wholeOfMarket } from './faults.ts'

faulty('covers stand in the order of their indexes', (of) => Object.assign(cover(of), { cover_index: 3 }), {
  'covers[0].cover_index': 'must be 0',
})
faulty(
  'limits of a cover are the right way round',
  (of) => Object.assign(cover(of), { sum_assured_min_pence: 200_000_000, age_at_entry_min: 75, term_years_min: 50 }),
  {
    'covers[0].sum_assured_max_pence': 'must not be below',
    'covers[0].age_at_entry_max': 'must not be below',
    'covers[0].term_years_max': 'must not be below',
  },
)
faulty('cover ends after it can start', (of) => Object.assign(cover(of), { max_age_at_expiry: 18 }), {
  'covers[0].max_age_at_expiry': 'must be above age_at_entry_min',
})
faulty('a rated cover names a rate table', (of) => Object.assign(cover(of), { rate_table: null }), {
  'covers[0].rate_table': 'needs it',
})
faulty('a rated cover’s table has a version', (of) => Object.assign(cover(of), { rate_table: 'life.wol' }), {
  'covers[0].rate_table': 'rate_tables names no version of life.wol',
})
faulty(
  'the answers that choose a table are asked for',
  (of) => Object.assign(cover(of), { rate_table: 'ip.d{weeks}' }),
  {
    'covers[0].rate_table': 'no question with the key weeks',
  },
)
faulty(
  'each option that chooses a table has one',
  (of) => {
    for (const each of of.journeys)
      each.questions.push({ ...question(of, 'heart'), id: crypto.randomUUID(), key: 'level', position: 99 })
    Object.assign(cover(of), { rate_table: 'life.{level}' })
  },
  { 'covers[0].rate_table': 'rate_tables names no version of life.attack' },
)
faulty(
  'rates by term need a cover with a term',
  (of) => Object.assign(cover(of), { term_years_min: null, term_years_max: null }),
  {
    'covers[0].term_years_min': 'depend on the term',
  },
)
const perMember = {
  pricing_basis: 'per_member',
  rate_table: null,
  member_premium_pence: 1150,
  members_factor: 'heart',
} as const
faulty('a per_member cover has no amounts and no term, and a headcount', (of) => Object.assign(cover(of), perMember), {
  'covers[0].sum_assured_min_pence': 'is 0',
  'covers[0].sum_assured_max_pence': 'is 0',
  'covers[0].term_years_min': 'no term',
  'covers[0].members_factor': 'no question with the key heart',
})
faulty(
  'a per_member cover has a price and a headcount',
  (of) =>
    Object.assign(cover(of), {
      ...perMember,
      member_premium_pence: null,
      members_factor: null,
      sum_assured_min_pence: 0,
      sum_assured_max_pence: 0,
      term_years_min: null,
      term_years_max: null,
    }),
  {
    'covers[0].member_premium_pence': 'needs it',
    'covers[0].members_factor': 'needs it',
  },
)
faulty('only a per_member cover has a headcount', (of) => Object.assign(cover(of), { members_factor: 'height_cm' }), {
  'covers[0].members_factor': 'only for a per_member cover',
})
faulty(
  'a cover of fixed tiers has tiers',
  (of) => Object.assign(cover(of), { pricing_basis: 'fixed_tiers', rate_table: null }),
  {
    'covers[0].tiers': 'needs at least one',
  },
)
faulty(
  'tiers stand within the limits, each once',
  (of) => {
    const tiers = [100, 2_000_000, 2_000_000].map((cover_amount_pence) => ({ cover_amount_pence, premium_pence: 135 }))
    Object.assign(cover(of), { pricing_basis: 'fixed_tiers', rate_table: null, tiers })
  },
  {
    'covers[0].tiers[0].cover_amount_pence': 'is not within',
    'covers[0].tiers[2].cover_amount_pence': 'is the same as that of tiers[1]',
  },
)
faulty('covers are told apart', (of) => of.covers.push({ ...cover(of), cover_index: 1 }), {
  'covers[1].id': 'is the same as that of covers[0]',
})
faulty(
  'no limit of a cover is out of all bounds',
  (of) =>
    Object.assign(cover(of), {
      sum_assured_min_pence: -1,
      age_at_entry_min: -1,
      age_at_entry_max: 121,
      term_years_min: 0,
      minimum_premium_pence: -1,
      survival_period_days: -1,
      review_period_years: 0,
    }),
  {
    'covers[0].sum_assured_min_pence': 'must not be below 0',
    'covers[0].age_at_entry_min': 'must not be below 0',
    'covers[0].age_at_entry_max': 'must not be above 120',
    'covers[0].term_years_min': 'must not be below 1',
    'covers[0].minimum_premium_pence': 'must not be below 0',
    'covers[0].survival_period_days': 'must not be below 0',
    'covers[0].review_period_years': 'must not be below 1',
  },
)
faultless('each limit of a cover may be at its bound', (of) =>
  Object.assign(cover(of), {
    sum_assured_min_pence: 0,
    age_at_entry_min: 0,
    age_at_entry_max: 120,
    term_years_min: 1,
    minimum_premium_pence: 0,
    survival_period_days: 0,
    review_period_years: 1,
    max_age_at_expiry: 1,
  }),
)
faultless('a cover need not end at an age', (of) => Object.assign(cover(of), { max_age_at_expiry: null }))
const tiered = (cover_amounts: readonly number[], changes = {}) => ({
  pricing_basis: 'fixed_tiers',
  rate_table: null,
  tiers: cover_amounts.map((cover_amount_pence) => ({ cover_amount_pence, premium_pence: 0 })),
  ...changes,
})
faultless('the tiers may be the least and the greatest amount, and cost nothing', (of) =>
  Object.assign(cover(of), tiered([1_000_000, 100_000_000])),
)
faulty('no tier is beyond the limits', (of) => Object.assign(cover(of), tiered([999_999, 100_000_001])), {
  'covers[0].tiers[0].cover_amount_pence': 'is not within sum_assured_min_pence and sum_assured_max_pence',
  'covers[0].tiers[1].cover_amount_pence': 'is not within sum_assured_min_pence and sum_assured_max_pence',
})
faulty(
  'no tier costs less than nothing',
  (of) => Object.assign(cover(of), { ...tiered([]), tiers: [{ cover_amount_pence: 1_000_000, premium_pence: -1 }] }),
  { 'covers[0].tiers[0].premium_pence': 'must not be below 0' },
)
faulty(
  'only a rated cover has a rate table',
  (of) => Object.assign(cover(of), tiered([1_000_000], { rate_table: 'life.level' })),
  {
    'covers[0].rate_table': 'only for a rated cover',
  },
)
faulty(
  'a rated cover has neither tiers nor members',
  (of) =>
    Object.assign(cover(of), {
      tiers: [{ cover_amount_pence: 1_000_000, premium_pence: 1 }],
      member_premium_pence: 1,
      opt_in_factor: 'smoker',
    }),
  {
    'covers[0].tiers': 'only for a fixed_tiers cover',
    'covers[0].member_premium_pence': 'only for a per_member cover',
    'covers[0].opt_in_factor': 'only for a per_member cover',
  },
)
/** A product that is priced by headcount, with questions for it in its only journey. */
const plan = (of: Draft, changes = {}) => {
  of.journeys.splice(1)
  journey(of).questions.push({
    ...question(of, 'smoking_amount'),
    id: crypto.randomUUID(),
    key: 'people',
    position: 99,
    ask_if: undefined,
  })
  Object.assign(cover(of), {
    pricing_basis: 'per_member',
    rate_table: null,
    member_premium_pence: 0,
    members_factor: 'people',
    opt_in_factor: 'smoker',
    sum_assured_min_pence: 0,
    sum_assured_max_pence: 0,
    term_years_min: null,
    term_years_max: null,
    members_min: 2,
    members_max: 2,
    ...changes,
  })
}
faultless('a plan may cost nothing, and be for one headcount', (of) => plan(of))
faultless('a plan may be for any headcount', (of) => plan(of, { members_min: null, members_max: null }))
faultless('a plan may have a least headcount only', (of) => plan(of, { members_max: null }))
faultless('a plan may have a greatest headcount only', (of) => plan(of, { members_min: null }))
faulty(
  'a plan has its headcounts in order and no price below nothing',
  (of) => plan(of, { members_min: 3, member_premium_pence: -1 }),
  {
    'covers[0].members_max': 'must not be below members_min',
    'covers[0].member_premium_pence': 'must not be below 0',
  },
)
faulty(
  'a headcount is a whole number, and an add-on a yes or no',
  (of) => plan(of, { members_factor: 'height_cm', opt_in_factor: 'people' }),
  {
    'covers[0].members_factor': 'height_cm is not a question of type integer',
    'covers[0].opt_in_factor': 'people is not a question of type boolean',
  },
)
faulty('a headcount is asked in every journey, by its name', (of) => plan(of, { members_factor: 'employees' }), {
  'covers[0].members_factor': 'the journey standard has no question with the key employees',
})
/** The reasons against the rate table of the cover. */
const tableReasons = (rate_table: string, change: (of: Draft) => unknown = () => {}, table = levelTable) => {
  const of = structuredClone(draft())
  Object.assign(cover(of), { rate_table })
  change(of)
  return faultsOf(of, table).map(([, reason]) => reason)
}
const oneJourney = (of: Draft) => of.journeys.splice(1)
const noVersion = (...keys: string[]) => keys.map((key) => `rate_tables names no version of ${key}`)
test('each way to answer the questions that choose a rate table has one, and each is looked for once', () => {
  expect(tableReasons('life.{heart}', oneJourney)).toEqual(noVersion('life.none', 'life.attack'))
  const again = (of: Draft) => {
    oneJourney(of)
    const { answer_options } = question(of, 'heart')
    journey(of).questions.push({ ...question(of, 'heart'), id: crypto.randomUUID(), key: 'lungs', position: 98 })
    of.journeys.push({ ...journey(of), id: crypto.randomUUID() as never, slug: 'again', position: 1 })
    return answer_options
  }
  expect(tableReasons('life.{heart}.{lungs}', again)).toEqual(
    noVersion('life.none.none', 'life.none.attack', 'life.attack.none', 'life.attack.attack'),
  )
})
test('what a rate table is chosen by is asked in every journey, or derived', () => {
  expect(tableReasons('life.{heart}.{weeks}')).toEqual(['a journey has no question with the key heart, weeks'])
  const mapped = {
    key: 'class',
    kind: 'mapped' as const,
    from: 'occupation',
    values: { Nurse: '1', Clerk: '1', Miner: 2 },
  }
  expect(tableReasons('life.{class}', (of) => of.underwriting.derived.push(mapped))).toEqual(
    noVersion('life.1', 'life.2'),
  )
  expect(tableReasons('life.{class}', (of) => of.underwriting.derived.push({ ...mapped, otherwise: 3 }))).toEqual(
    noVersion('life.1', 'life.2', 'life.3'),
  )
  // What has no options, and a number that is derived, can be anything.
  expect(tableReasons('life.{occupation}', oneJourney)).toEqual([])
  const bmi = { key: 'bmi', kind: 'bmi' as const, height_cm: 'height_cm', weight_kg: 'weight_kg' }
  expect(tableReasons('life.{bmi}', (of) => of.underwriting.derived.push(bmi))).toEqual([])
})
test('rates by variant need an answer that tells it', () => {
  const byVariant = () => ({ dimensions: ['age' as const, 'variant' as const], currency_code: 'GBP' })

  expect(faultsOf(draft(), byVariant)).toEqual([
    ['covers[0].rate_table', 'the rates of life.level depend on a variant: write life.level:{answer_key}'],
  ])
  expect(tableReasons('life.level:{heart}', oneJourney, byVariant)).toEqual([])
  expect(
    tableReasons('life.level', (of) => Object.assign(cover(of), { term_years_min: null, term_years_max: null })),
  ).toEqual(['the rates of life.level depend on the term'])
})
test('a whole-of-market product has no rates of its own', () => {
  expect(tableReasons('life.wol', (of) => Object.assign(of, wholeOfMarket))).toEqual([])
})
