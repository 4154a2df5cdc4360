import { describe, expect, test } from 'vitest'
import { acceptCovers } from '#domain/rating/acceptance.ts'
import type { EndingDecision, UnderwritingRule } from '#domain/rating/events.ts'
import { standardFactors } from '#domain/rating/factors.ts'
import { birthdayThatChangesPrice, costsTheSame, price } from '#domain/rating/price.ts'
import type { PricingRequest } from '#domain/rating/request.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import type { CoverType } from '#domain/values.ts'
import { aged, coverOf, incomeProtection, levelLife, priced, requestOf } from './request.ts'

const illness = coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 })
const bundle = { product_type: 'bundled', covers: [levelLife, illness] } as const
const priceOf = (changes: Parameters<typeof requestOf>[0]) => price(requestOf(changes))

const withRule = (rule: Partial<UnderwritingRule>) => ({
  ...standardUnderwriting,
  rules: [{ code: 'x', label: 'X', when: { key: 'x', equals: true }, ...rule }],
})

describe('what is missing is named', () => {
  const release = { covers: [coverOf(0, incomeProtection)] }
  const missing = (fields: readonly string[]) => ({ outcome: 'details_missing', fields })

  test('of each person, also while the first is not known', () => {
    const lives = [{ dob: null, answers: { smoker: false } }, aged(36, {})] as const

    expect(priceOf({ lives })).toEqual(missing(['customer.dob', 'partner.answers.smoker']))
  })

  test('whether one smokes, in the table that the answers choose', () => {
    const lives = [aged(30, { deferred_weeks: 4, occupation_class: 1 })] as const

    expect(priceOf({ release, lives })).toEqual(missing(['answers.smoker']))
  })

  test('not whether one smokes, where there is no table', () => {
    expect(priceOf({ lives: [aged(34, {})], rate_tables: new Map() }).outcome).toBe('rate_unavailable')
  })

  test('by its own key when it is derived from more than one answer', () => {
    const by_answer = [{ key: 'bmi', cover_types: ['life' as const], values: {} }]

    expect(priceOf({ release: { factors: { ...standardFactors, by_answer } } })).toEqual(missing(['answers.bmi']))
  })

  test('once, whichever covers need it', () => {
    expect(priceOf({ release: bundle, lives: [aged(34, {})] })).toEqual(missing(['answers.smoker']))
  })
})

describe('a cover that is not offered says why', () => {
  const lives = [aged(34, { smoker: false, x: true })] as const

  test('because underwriting declined it', () => {
    const underwriting = withRule({ decision: 'decline', cover_types: ['critical_illness'], message: 'It is so.' })

    expect(priced({ release: { ...bundle, underwriting }, lives }).excluded_covers).toEqual([
      {
        cover_id: illness.id,
        cover_type: 'critical_illness',
        reason: 'declined',
        message: 'Critical illness cover is not offered: It is so.',
      },
    ])
  })

  test('because it cannot be more than the life cover that it is paid from', () => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const result = priced({
      release: { product_type: 'critical_illness', covers: [levelLife, accelerated] },
      components: [{ cover_index: 1, cover_amount_pence: 25_000_001 }],
    })

    expect(result.excluded_covers[0]?.message).toBe(
      'Critical illness cover is paid from the life cover and cannot be more than its £250,000.',
    )
  })

  test.each([
    [10, 25],
    [26, 25],
  ])('because it runs for %i years, and the life cover that it is paid from for %i', (term_years, ofLife) => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const result = priced({
      release: { product_type: 'critical_illness', covers: [levelLife, accelerated] },
      term_years: ofLife,
      components: [{ cover_index: 1, term_years }],
    })

    expect(result.excluded_covers).toEqual([
      {
        cover_id: illness.id,
        cover_type: 'critical_illness',
        reason: 'term',
        message: 'Critical illness cover is paid from the life cover and must run as long as that: for 25 years.',
      },
    ])
    expect(result.components.map(({ cover_type, premium_pence }) => [cover_type, premium_pence])).toEqual([
      ['life', 1100],
    ])
  })

  test('because the life cover that it is paid from has no fixed term', () => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const whole = { ...levelLife, rate_table: 'life.wol', term_years_min: null, term_years_max: null } as const
    const covers = [{ ...whole, max_age_at_expiry: null }, accelerated] as const
    const result = priced({ release: { product_type: 'critical_illness', covers } })

    expect(result.excluded_covers).toMatchObject([
      { reason: 'term', message: expect.stringMatching('as long as that: without a fixed term') as unknown },
    ])
  })

  test('and may be as much as that', () => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const result = priced({ release: { product_type: 'critical_illness', covers: [levelLife, accelerated] } })

    expect(result.excluded_covers).toEqual([])
  })

  test('and is not held against a life cover from a list, which pays beside it', () => {
    const accelerated = { ...illness, ci_payout_basis: 'accelerated', rate_table: 'ci.accelerated' } as const
    const tiers = [{ cover_amount_pence: 5_000_000, premium_pence: 300 }]
    const listed = { ...levelLife, pricing_basis: 'fixed_tiers', tiers, rate_table: null } as const
    const result = priced({
      release: { product_type: 'critical_illness', covers: [listed, accelerated] },
      components: [{ cover_index: 0, cover_amount_pence: 5_000_000 }],
    })

    expect(result.excluded_covers).toEqual([])
    expect(result.components.map(({ cover_amount_pence }) => cover_amount_pence)).toEqual([5_000_000, 25_000_000])
  })

  test('in the order of the covers of the product', () => {
    const third = coverOf(2, { cover_type: 'accidental_death', rate_table: 'life.level' })
    const release = { product_type: 'bundled', covers: [coverOf(0, { age_at_entry_max: 30 }), illness, third] } as const
    const components = [{ cover_index: 2, selected: false }]

    expect(priced({ release, components, cover_amount_pence: 5_000_000 }).excluded_covers).toMatchObject([
      { cover_id: levelLife.id, reason: 'age' },
      { cover_id: third.id, reason: 'not_selected' },
    ])
  })
})

describe('of several ends', () => {
  type Told = readonly [decision: EndingDecision, of: CoverType]
  const chosen = [levelLife, illness].map((cover) => ({ cover, amount: 1, term: 1 }))
  const life = { dob: '1990-01-01', age: 36, answers: { x: true }, smoker: false }
  const endedBy = (...told: readonly Told[]) => {
    const when = { key: 'x', equals: true }
    const rules = told.map(([decision, of]) => ({
      code: `${decision} ${of}`,
      label: 'X',
      when,
      cover_types: [of],
      decision,
    }))
    return acceptCovers({ ...standardUnderwriting, rules }, chosen, [life]).ending?.reason.code
  }

  test('the most severe counts when nothing is left', () => {
    expect(endedBy(['postpone', 'life'], ['decline', 'critical_illness'])).toBe('decline critical_illness')
    expect(endedBy(['refer', 'life'], ['postpone', 'critical_illness'])).toBe('postpone critical_illness')
  })

  test('a referral counts while something is left, and no other', () => {
    expect(endedBy(['refer', 'critical_illness'])).toBe('refer critical_illness')
    expect(endedBy(['decline', 'critical_illness'])).toBeUndefined()
  })
})

test('each loading of a life is told', () => {
  const answers = { smoker: false, height_cm: 180, weight_kg: 100, blood_pressure: 'controlled' }
  const codes = (lives: PricingRequest['lives']) => priced({ lives }).loadings.map(({ code }) => code)

  expect(codes([aged(34, answers)])).toEqual(['bmi_30', 'blood_pressure'])
  expect(codes([aged(34, answers), aged(36, answers)])).toEqual([
    'bmi_30',
    'blood_pressure',
    'bmi_30',
    'blood_pressure',
  ])
})

test('a loading that is another one for each cover is shown for each, and one that is the same once', () => {
  const rule = { code: 'x', label: 'X', when: { key: 'x', equals: true } }
  const rules = [
    { ...rule, extra_percent: 25, cover_types: ['life' as const] },
    { ...rule, extra_percent: 50, cover_types: ['critical_illness' as const] },
    { ...rule, code: 'y', label: 'Y', extra_percent: 10 },
  ]
  const lives = [aged(34, { smoker: false, x: true })] as const

  const { loadings } = priced({ release: { ...bundle, underwriting: { ...standardUnderwriting, rules } }, lives })

  expect(loadings.map(({ code, value }) => [code, value])).toEqual([
    ['x', '25'],
    ['y', '10'],
    ['x', '50'],
  ])
})

describe('what is paid in total', () => {
  const total = (cover: Parameters<typeof coverOf>[1], changes: Parameters<typeof requestOf>[0] = {}) =>
    priced({ ...changes, release: { covers: [coverOf(0, cover)] } }).total_premium_pence

  test('is known for a cover that decreases', () => {
    const decreasing = { indexation_method: 'decreasing', rate_table: 'life.decreasing.6pct' } as const

    expect(total(decreasing)).toBe(priced({ release: { covers: [coverOf(0, decreasing)] } }).premium_pence * 12 * 25)
  })

  test('is not known for premiums that rise or are reviewed, or a cover without an end', () => {
    expect(total({ indexation_method: 'rpi' })).toBeNull()
    expect(total({ premium_basis: 'reviewable', review_period_years: 5 })).toBeNull()
    expect(total({ rate_table: 'life.wol', term_years_min: null, term_years_max: null })).toBeNull()
  })
})

describe('a group plan', () => {
  const plan = (index: number, changes: Parameters<typeof coverOf>[1]) =>
    coverOf(index, {
      cover_type: 'healthcare',
      pricing_basis: 'per_member',
      member_premium_pence: 1_000,
      members_factor: 'people',
      rate_table: null,
      ...changes,
    })
  const dental = plan(1, { opt_in_factor: 'wants_dental', members_factor: 'dental_people' })
  const answers = { people: 10, dental_people: 4, wants_dental: true }
  const of = (changes: Parameters<typeof requestOf>[0]) =>
    priced({
      release: { product_type: 'healthcare', covers: [plan(0, {}), dental] },
      lives: [aged(34, answers)],
      ...changes,
    })

  test('counts the people of the plan, and not those of an add-on', () => {
    expect(of({})).toMatchObject({ members: 10, premium_pence: 14_000, joint: false })
  })

  test('counts nobody where there is none', () => {
    expect(priced({}).members).toBeNull()
  })

  test('leaves an add-on out that was turned down, whatever the answer', () => {
    expect(of({ components: [{ cover_index: 1, selected: false }] }).premium_pence).toBe(10_000)
  })

  test('does not end at anybody’s age, and pays no part of an amount each month', () => {
    const covers = [plan(0, { max_age_at_expiry: 65, benefit_basis: 'monthly_benefit' })]

    expect(of({ release: { product_type: 'healthcare', covers } }).components).toMatchObject([
      { expires_on: null, monthly_benefit_pence: null, cover_amount_pence: null },
    ])
  })
})

test('a monthly benefit is a whole twelfth of the amount', () => {
  const release = { product_type: 'income_protection', covers: [coverOf(0, incomeProtection)] } as const
  const lives = [aged(34, { smoker: false, occupation_class: 2, deferred_weeks: 13 })] as const

  expect(priced({ release, lives, cover_amount_pence: 2_160_011 }).components).toMatchObject([
    { monthly_benefit_pence: 180_000, expires_on: '2057-07-01' },
  ])
})

test('cover to an age ends when the first of two people attains it', () => {
  const release = { covers: [coverOf(0, { rate_table: 'life.wol', term_years_min: null, term_years_max: null })] }
  const expiresOn = (...ages: readonly [number, number]) =>
    priced({ release, term_years: null, lives: [aged(ages[0]), aged(ages[1])] }).components[0]?.expires_on

  expect(expiresOn(34, 40)).toBe('2066-07-01')
  expect(expiresOn(40, 34)).toBe('2066-07-01')
})

test('cover for two is joint', () => {
  expect(priced({ lives: [aged(34), aged(36)] }).joint).toBe(true)
  expect(priced({}).joint).toBe(false)
})

test('a birthday that changes no premium but ends a cover changes the price', () => {
  const listed = (index: number, premium_pence: number, age_at_entry_max: number) =>
    coverOf(index, {
      cover_type: 'child_benefit',
      pricing_basis: 'fixed_tiers',
      rate_table: null,
      tiers: [{ cover_amount_pence: 1_000_000, premium_pence }],
      term_years_min: null,
      term_years_max: null,
      max_age_at_expiry: null,
      minimum_premium_pence: 0,
      age_at_entry_max,
    })
  const request = (last: number) =>
    requestOf({
      release: { product_type: 'child_cover', covers: [listed(0, 135, 70), listed(1, 0, last)] },
      cover_amount_pence: 1_000_000,
      start_date: '2027-06-15',
    })

  expect(birthdayThatChangesPrice(request(34), '2027-07-15')).toBe('2027-07-01')
  expect(birthdayThatChangesPrice(request(35), '2027-07-15')).toBeNull()
})

test('a quote costs the same on another day while the same covers cost the same, not while their sum does', () => {
  const before = priced({ release: bundle })
  const [first, second, ...others] = before.components
  const shifted = [
    { ...first, premium_pence: (first?.premium_pence ?? 0) + 1 },
    { ...second, premium_pence: (second?.premium_pence ?? 0) - 1 },
    ...others,
  ] as typeof before.components
  const other = before.components.map((each) => ({ ...each, cover_index: each.cover_index + 1 }))

  expect(costsTheSame(before, structuredClone(before))).toBe(true)
  expect(costsTheSame(before, { ...before, components: shifted })).toBe(false)
  expect(costsTheSame(before, { ...before, components: other })).toBe(false)
})
