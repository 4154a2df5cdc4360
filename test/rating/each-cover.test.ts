import { describe, expect, test } from 'vitest'
import { explain } from '#domain/rating/explain.ts'
import { standardFactors } from '#domain/rating/factors.ts'
import { birthdayThatChangesPrice, price } from '#domain/rating/price.ts'
import { aged, coverOf, incomeProtection, levelLife, priced, requestOf } from './request.ts'

type Changes = Parameters<typeof requestOf>[0]
const priceOf = (changes: Changes) => price(requestOf(changes))

describe('earnings limit the benefit of a month', () => {
  const earnings = { key: 'annual_income', percent: 60 }

  test('and not a sum that is paid once', () => {
    const release = { earnings }

    expect(priceOf({ release, lives: [aged(34, { smoker: false, annual_income: 30_000 })] }).outcome).toBe('priced')
  })

  test('so that nobody who wants only such a sum is asked what they earn', () => {
    expect(priceOf({ release: { earnings } }).outcome).toBe('priced')
  })
})

describe('a price from a list of levels', () => {
  const covers = [
    coverOf(0, {
      cover_type: 'child_benefit',
      pricing_basis: 'fixed_tiers',
      rate_table: null,
      tiers: [
        { cover_amount_pence: 1_000_000, premium_pence: 135 },
        { cover_amount_pence: 2_000_000, premium_pence: 245 },
      ],
    }),
  ]
  const changes = { release: { product_type: 'child_cover', covers }, cover_amount_pence: 2_000_000 } as const

  test('says which level it is of', () => {
    expect(explain(requestOf(changes))?.components[0]?.steps[0]).toMatchObject({
      step: 'list',
      name: 'the level of 2000000 pence',
      value: '245',
    })
  })

  test('is standard, whatever the health of those who apply is', () => {
    const pilot = aged(36, { smoker: true, height_cm: 180, weight_kg: 100, hazardous_pursuits: true })

    expect(priced({ ...changes, lives: [pilot, pilot] })).toMatchObject({ decision: 'standard', loadings: [] })
  })

  test('needs the date of birth of the person who applies', () => {
    expect(priceOf({ ...changes, lives: [{ dob: null, answers: {} }] })).toEqual({
      outcome: 'details_missing',
      fields: ['customer.dob'],
    })
  })
})

test('a sum that is paid once is no benefit of a month, and covers no number of people', () => {
  const [life] = priced({ lives: [aged(34, { smoker: false, people: 12 })] }).components

  expect(life).toMatchObject({ cover_amount_pence: 25_000_000, monthly_benefit_pence: null, members: null })
})

test('a benefit of a month is a twelfth of that of a year', () => {
  const lives = [aged(34, { smoker: false, deferred_weeks: 13, occupation_class: 1 })] as const
  const release = { covers: [coverOf(0, incomeProtection)] }

  expect(priced({ release, lives, cover_amount_pence: 2_160_000 }).components).toMatchObject([
    { cover_amount_pence: 2_160_000, monthly_benefit_pence: 180_000 },
  ])
})

test('an extra for each £1,000 is told of the person whose it is, also of the first', () => {
  const lives = [aged(34, { smoker: false, hazardous_pursuits: true }), aged(36)] as const
  const steps = explain(requestOf({ lives }))?.components[0]?.steps ?? []

  expect(steps.filter(({ step }) => step === 'loading')).toMatchObject([{ name: 'hazardous_pursuits', life: 1 }])
})

test('a missing answer is asked for by the question that the factor follows from', () => {
  const mapped = (key: string, from: string) => ({ kind: 'mapped' as const, key, from, values: {} })
  const underwriting = {
    derived: [mapped('region_class', 'region'), mapped('work_class', 'occupation')],
    rules: [],
    refer_above_percent: 200,
    decline_above_percent: 350,
  }
  const by_answer = [{ key: 'work_class', cover_types: ['life' as const], values: {} }]

  expect(priceOf({ release: { underwriting, factors: { ...standardFactors, by_answer } } })).toEqual({
    outcome: 'details_missing',
    fields: ['answers.occupation'],
  })
})

describe('an illness cover that is paid from the life cover', () => {
  const illness = {
    cover_type: 'critical_illness',
    ci_payout_basis: 'accelerated',
    rate_table: 'ci.accelerated',
    max_age_at_expiry: 70,
  } as const
  const bundle = (...covers: readonly ReturnType<typeof coverOf>[]) => ({
    release: { product_type: 'bundled', covers } as const,
    components: [
      { cover_index: 0, selected: true, cover_amount_pence: 12_000_000, term_years: 25 },
      { cover_index: 1, selected: true, cover_amount_pence: 10_000_000, term_years: 25 },
    ],
  })

  test('cannot be more than the life cover, whichever of them comes first', () => {
    const [first, second] = [coverOf(0, illness), coverOf(1, {})]

    expect(priced(bundle(first, second)).excluded_covers).toEqual([
      {
        cover_id: first.id,
        cover_type: 'critical_illness',
        reason: 'amount',
        message: expect.stringContaining('£100,000') as string,
      },
    ])
  })

  test('fits into a life cover of more than its amount', () => {
    expect(priced(bundle(levelLife, coverOf(1, illness))).excluded_covers).toEqual([])
  })
})

test('a group plan has no price that a birthday changes', () => {
  const plan = coverOf(0, {
    cover_type: 'healthcare',
    pricing_basis: 'per_member',
    member_premium_pence: 1_150,
    members_factor: 'employee_count',
    rate_table: null,
  })
  const request = requestOf({
    release: { product_type: 'healthcare', covers: [plan] },
    lives: [{ dob: null, answers: { employee_count: 12 } }],
  })

  expect(price(request).outcome).toBe('priced')
  expect(birthdayThatChangesPrice(request, '2027-12-31')).toBeNull()
})
