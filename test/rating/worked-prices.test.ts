import { describe, expect, test } from 'vitest'
import { price } from '#domain/rating/price.ts'
import {
  aged,
  coverOf,
  incomeProtection,
  levelLife,
  priced,
  published,
  requestOf,
  tables,
  wholeOfLife,
} from './request.ts'

const smoker = (age: number) => aged(age, { smoker: true })
const premium = (changes: Parameters<typeof priced>[0]) => priced(changes).premium_pence

describe('prices a month', () => {
  test.each([
    [30, 25, 820, 1754],
    [40, 25, 1649, 3734],
    [50, 20, 3253, 7556],
  ])('level life £200,000 at %i over %i years', (age, term_years, nonSmokerPence, smokerPence) => {
    const terms = { cover_amount_pence: 20_000_000, term_years }
    expect(premium({ ...terms, lives: [aged(age)] })).toBe(nonSmokerPence)
    expect(premium({ ...terms, lives: [smoker(age)] })).toBe(smokerPence)
  })

  test.each([
    [30, 602, 1233],
    [40, 1153, 2557],
  ])('decreasing life £200,000 at %i over 25 years', (age, nonSmokerPence, smokerPence) => {
    const covers = [coverOf(0, { rate_table: 'life.decreasing.6pct', indexation_method: 'decreasing' })]
    const terms = { release: { product_type: 'decreasing_term', covers }, cover_amount_pence: 20_000_000 } as const
    expect(premium({ ...terms, lives: [aged(age)] })).toBe(nonSmokerPence)
    expect(premium({ ...terms, lives: [smoker(age)] })).toBe(smokerPence)
  })

  test.each([
    [30, 1973, 3391],
    [40, 4836, 8382],
  ])('life with accelerated critical illness £100,000 at %i over 25 years', (age, nonSmokerPence, smokerPence) => {
    const accelerated = coverOf(1, {
      cover_type: 'critical_illness',
      ci_payout_basis: 'accelerated',
      rate_table: 'ci.accelerated',
    })
    const alone = { ...accelerated, cover_index: 0 }
    for (const covers of [[levelLife, accelerated], [alone]]) {
      const terms = { release: { product_type: 'critical_illness', covers }, cover_amount_pence: 10_000_000 } as const
      expect(premium({ ...terms, lives: [aged(age)] })).toBe(nonSmokerPence)
      expect(premium({ ...terms, lives: [smoker(age)] })).toBe(smokerPence)
    }
  })

  test.each([
    [40, 6350, 8470],
    [60, 19563, 25182],
  ])('whole of life £100,000 at %i', (age, nonSmokerPence, smokerPence) => {
    const release = { product_type: 'whole_of_life', covers: [coverOf(0, wholeOfLife)] } as const
    const terms = { release, cover_amount_pence: 10_000_000, term_years: null }
    expect(premium({ ...terms, lives: [aged(age)] })).toBe(nonSmokerPence)
    expect(premium({ ...terms, lives: [smoker(age)] })).toBe(smokerPence)
  })

  test.each([
    [30, '1', { 4: 2926, 13: 2208, 26: 1800, 52: 1502 }],
    [40, '1', { 4: 4827, 13: 3502, 26: 2761, 52: 2220 }],
  ])('income protection £1,500 at %i in occupation class %s', (age, occupation_class, byWeeks) => {
    const release = { product_type: 'income_protection', covers: [coverOf(0, incomeProtection)] } as const
    for (const [deferred_weeks, pence] of Object.entries(byWeeks)) {
      const life = aged(age, { smoker: false, occupation_class, deferred_weeks })
      expect(premium({ release, cover_amount_pence: 1_800_000, lives: [life] }), `${deferred_weeks} weeks`).toBe(pence)
    }
  })
})

describe('worked in full', () => {
  test('(a) level life £250,000 at 34 over 25 years', () => {
    expect(premium({})).toBe(1250)
    expect(premium({ journey_loading: '1.10' })).toBe(1360)
    const release = { covers: [coverOf(0, { indexation_method: 'rpi' })] }
    expect(premium({ release })).toBe(1294)
  })

  test('(a) the same with half as much again for health', () => {
    const lives = [aged(34, { smoker: false, blood_pressure: 'controlled', height_cm: 180, weight_kg: 100 })] as const
    expect(priced({ lives })).toMatchObject({
      premium_pence: 1799,
      decision: 'loaded',
      components: [{ loading_percent: 50 }],
    })
  })

  test('(b) a joint policy costs less than two single ones', () => {
    const second = smoker(36)
    expect(premium({ lives: [aged(34), second] })).toBe(4217)
    expect(premium({}) + premium({ lives: [second] })).toBe(4493)
  })

  test('(c) a bundle of life £200,000 and additional critical illness £50,000', () => {
    const illness = coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 })
    const result = priced({
      release: { product_type: 'bundled', covers: [levelLife, illness] },
      cover_amount_pence: 20_000_000,
      components: [{ cover_index: 1, cover_amount_pence: 5_000_000 }],
    })
    expect(result).toMatchObject({
      premium_pence: 2282,
      policy_fee_pence: 150,
      components: [{ premium_pence: 1066 - 150 }, { premium_pence: 1216 }],
      rate_tables: [
        { key: 'life.level', version: 3 },
        { key: 'ci.standalone', version: 3 },
      ],
    })
  })

  test('(d) income protection £1,800 a month at 34, 13 weeks, class 2', () => {
    const release = { product_type: 'income_protection', covers: [coverOf(0, incomeProtection)] } as const
    const lives = [aged(34, { smoker: false, occupation_class: 2, deferred_weeks: 13 })] as const
    expect(priced({ release, lives, cover_amount_pence: 2_160_000 })).toMatchObject({
      premium_pence: 3944,
      components: [{ monthly_benefit_pence: 180_000, term_years: null, expires_on: '2057-07-01' }],
      rate_tables: [{ key: 'ip.to65.d13', version: 3 }],
    })
  })

  test('(e) level life £25,000 at 20 over 10 years costs the minimum, fee included', () => {
    expect(priced({ lives: [aged(20)], cover_amount_pence: 2_500_000, term_years: 10 })).toMatchObject({
      premium_pence: 500,
      policy_fee_pence: 150,
      components: [{ premium_pence: 350, minimum_premium_applied: true }],
    })
  })
})

describe('other products', () => {
  const child = coverOf(1, {
    cover_type: 'child_benefit',
    pricing_basis: 'fixed_tiers',
    rate_table: null,
    tiers: [
      { cover_amount_pence: 1_000_000, premium_pence: 135 },
      { cover_amount_pence: 2_000_000, premium_pence: 245 },
      { cover_amount_pence: 2_500_000, premium_pence: 295 },
    ],
    term_years_min: null,
    term_years_max: null,
    max_age_at_expiry: null,
    minimum_premium_pence: 0,
  })

  test('a child cover costs what its list says', () => {
    const release = { product_type: 'child_cover', covers: [child] } as const
    const changes = { release, cover_amount_pence: 2_000_000, term_years: null, lives: [aged(34, {})] } as const
    expect(priced(changes)).toMatchObject({
      premium_pence: 245,
      policy_fee_pence: 0,
      total_premium_pence: null,
      rate_tables: [],
    })
    expect(premium({ ...changes, journey_loading: '1.10' })).toBe(270)
  })

  test('an amount that is no level of a child cover cannot be quoted', () => {
    const release = { product_type: 'child_cover', covers: [child] } as const
    const result = price(requestOf({ release, cover_amount_pence: 1_500_000 }))
    const message = 'Child cover comes in these amounts: £10,000, £20,000, £25,000.'
    expect(result).toMatchObject({ outcome: 'no_quotable_cover', excluded_covers: [{ reason: 'amount', message }] })
  })

  test('a child cover beside a joint life cover is the first person’s', () => {
    const release = { product_type: 'bundled', covers: [levelLife, { ...child, age_at_entry_max: 35 }] } as const
    const components = [{ cover_index: 1, cover_amount_pence: 2_000_000 }]
    expect(premium({ release, components, lives: [aged(34), smoker(36)] })).toBe(4217 + 245)
  })

  test('accidental death is priced by age alone', () => {
    const accident = coverOf(0, { cover_type: 'accidental_death', rate_table: 'accident' })
    const table = published({ key: 'accident', dimensions: ['age'], cells: { '34': 20_000 } })
    const rate_tables = new Map([...tables, ['accident', table]])
    expect(premium({ release: { covers: [accident] }, rate_tables, lives: [aged(34, {})] })).toBe(480 + 150)
  })

  test('a variant of a table is chosen by an answer', () => {
    const accident = coverOf(0, { cover_type: 'accidental_death', rate_table: 'accident:{work}' })
    const table = published({ key: 'accident', dimensions: ['variant'], cells: { desk: 20_000, field: 40_000 } })
    const rate_tables = new Map([...tables, ['accident', table]])
    const at = (work: string) => premium({ release: { covers: [accident] }, rate_tables, lives: [aged(34, { work })] })
    expect([at('desk'), at('field')]).toEqual([480 + 150, 960 + 150])
  })

  test('life cover beyond an accelerated illness cover is priced on what is left of it', () => {
    const accelerated = coverOf(1, {
      cover_type: 'critical_illness',
      ci_payout_basis: 'accelerated',
      rate_table: 'ci.accelerated',
    })
    const result = priced({
      release: { product_type: 'critical_illness', covers: [levelLife, accelerated] },
      lives: [aged(30)],
      cover_amount_pence: 30_000_000,
      components: [{ cover_index: 1, cover_amount_pence: 10_000_000 }],
    })
    // 33476 × £200,000 × 0.960 for a policy of £300,000, and 182319 × £100,000.
    expect(result.components.map(({ premium_pence }) => premium_pence)).toEqual([643, 1823])
    expect(result.components[0]?.cover_amount_pence).toBe(30_000_000)
  })

  test.each([
    ['reviewable premiums', { premium_basis: 'reviewable', review_period_years: 5 }, 968],
    ['a rise of 5 % a year', { indexation_method: 'fixed_percent', indexation_percent: 5 }, 1166],
  ] as const)('%s', (_, terms, withoutFee) => {
    const result = priced({ release: { covers: [coverOf(0, terms)] } })
    expect(result).toMatchObject({ premium_pence: withoutFee + 150, total_premium_pence: null })
  })
})

test('a year costs twelve months, and a guaranteed level premium is known to the end', () => {
  expect(priced({})).toMatchObject({ annual_premium_pence: 15_000, total_premium_pence: 15_000 * 25 })
})

test('what is paid in total counts each cover for its own term', () => {
  const illness = coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 })
  const result = priced({
    release: { product_type: 'bundled', covers: [levelLife, illness] },
    components: [{ cover_index: 1, cover_amount_pence: 5_000_000, term_years: 10 }],
  })
  const [life = 0, ci = 0] = result.components.map(({ premium_pence }) => premium_pence)
  expect(result.total_premium_pence).toBe((life + 150) * 12 * 25 + ci * 12 * 10)
})
