import fc from 'fast-check'
import { expect, test } from 'vitest'
import { explain } from '#domain/rating/explain.ts'
import { standardFactors } from '#domain/rating/factors.ts'
import { price } from '#domain/rating/price.ts'
import { roundHalfUp } from '#domain/rating/decimal.ts'
import { aged, coverOf, levelLife, published, requestOf } from './request.ts'

const illness = coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 })

const bands = [
  [1_000_000, 4_999_999],
  [5_000_000, 9_999_999],
  [10_000_000, 24_999_999],
  [25_000_000, 49_999_999],
  [50_000_000, 100_000_000],
] as const

const application = fc
  .record({
    ages: fc.array(fc.integer({ min: 16, max: 72 }), { minLength: 1, maxLength: 2 }),
    smoker: fc.boolean(),
    weight_kg: fc.integer({ min: 60, max: 129 }),
    hazardous_pursuits: fc.boolean(),
    cover_amount_pence: fc.integer({ min: 900_000, max: 101_000_000 }),
    illnessAmount: fc.integer({ min: 900_000, max: 101_000_000 }),
    term_years: fc.integer({ min: 4, max: 41 }),
    journey: fc.integer({ min: 1, max: 30_000 }),
    indexation_method: fc.constantFrom('none', 'rpi'),
    premium_basis: fc.constantFrom('guaranteed', 'reviewable'),
    product_type: fc.constantFrom('term', 'bundled'),
  })
  .map(({ ages, smoker, weight_kg, hazardous_pursuits, journey, illnessAmount, product_type, ...rest }) => {
    const { indexation_method, premium_basis, ...saved } = rest
    const life = (age: number) => aged(age, { smoker, height_cm: 180, weight_kg, hazardous_pursuits })
    const [first = 30, second] = ages
    const terms = { indexation_method, premium_basis, review_period_years: 5 }
    return requestOf({
      ...saved,
      release: {
        product_type,
        covers: [
          { ...levelLife, ...terms },
          { ...illness, ...terms },
        ],
      },
      journey_loading: `${Math.floor(journey / 10_000)}.${String(journey % 10_000).padStart(4, '0')}`,
      lives: second === undefined ? [life(first)] : [life(first), life(second)],
      components: [{ cover_index: 1, cover_amount_pence: illnessAmount }],
    })
  })

test('a price is whole, adds up, and is at least the minimum of each cover', () => {
  fc.assert(
    fc.property(application, (request) => {
      const result = price(request)
      if (result.outcome !== 'priced') {
        expect(result.outcome).toBe('no_quotable_cover')
        return
      }
      const { components, policy_fee_pence, premium_pence, total_premium_pence } = result
      for (const component of components) expect(Number.isSafeInteger(component.premium_pence)).toBe(true)
      expect(components.reduce((sum, component) => sum + component.premium_pence, policy_fee_pence)).toBe(premium_pence)
      expect(components[0]?.premium_pence).toBeGreaterThanOrEqual(500 - policy_fee_pence)
      for (const later of components.slice(1)) expect(later.premium_pence).toBeGreaterThanOrEqual(500)
      if (total_premium_pence !== null) expect(total_premium_pence).toBeLessThanOrEqual(premium_pence * 12 * 40)
    }),
    { numRuns: 500 },
  )
})

test('the steps that explain a price add up to it, component by component', () => {
  const millionths = (text: string) => {
    const [pounds = '', fraction = ''] = text.replace('-', '').split('.')
    const size = BigInt(pounds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
    return text.startsWith('-') ? -size : size
  }
  fc.assert(
    fc.property(application, (request) => {
      const result = price(request)
      const explained = explain(request)
      expect(explained?.premium_pence).toBe(result.outcome === 'priced' ? result.premium_pence : undefined)
      for (const { steps, premium_pence } of explained?.components ?? []) {
        const sum = steps.reduce((total, { adds_pence }) => total + millionths(adds_pence), 0n)
        expect(sum).toBe(BigInt(premium_pence) * 1_000_000n)
      }
    }),
    { numRuns: 500 },
  )
})

test('the same inputs give the same price under the same versions of the tables', () => {
  fc.assert(
    fc.property(application, (request) => {
      const again = structuredClone({ ...request, rate_tables: new Map() })
      expect(price({ ...again, rate_tables: new Map(request.rate_tables) })).toEqual(price(request))
    }),
  )
})

const premiumOf = (changes: Parameters<typeof requestOf>[0]) => {
  const result = price(requestOf(changes))
  return result.outcome === 'priced' ? result.premium_pence : NaN
}

test('where size is not rewarded, more cover never costs less', () => {
  const anyAmount = fc.integer({ min: 1_000_000, max: 100_000_000 })
  const factors = { ...standardFactors, size_bands: [{ below_pence: null, factor: 1000 }] }
  fc.assert(
    fc.property(anyAmount, anyAmount, fc.integer({ min: 18, max: 60 }), (one, other, age) => {
      const at = (cover_amount_pence: number) =>
        premiumOf({ release: { factors }, cover_amount_pence, term_years: 20, lives: [aged(age)] })
      expect(at(Math.max(one, other))).toBeGreaterThanOrEqual(at(Math.min(one, other)))
    }),
  )
})

test('where a band of size begins, more cover costs less by that band’s discount at most', () => {
  for (const [index, [min]] of bands.entries()) {
    if (index === 0) continue
    const factorOf = (at: number) => standardFactors.size_bands[at]?.factor ?? 1000
    const discount = factorOf(index) / factorOf(index - 1)
    for (const age of [18, 34, 60]) {
      const at = (cover_amount_pence: number) => premiumOf({ cover_amount_pence, term_years: 20, lives: [aged(age)] })
      expect(at(min)).toBeGreaterThanOrEqual(Math.floor((at(min - 1) - 150) * discount) - 1 + 150)
    }
  }
})

const wholeLife = { rate_table: 'life.wol', term_years_min: null, term_years_max: null, max_age_at_expiry: null }
test.each([
  ['level life', {}],
  ['decreasing life', { rate_table: 'life.decreasing.6pct', indexation_method: 'decreasing' }],
  ['critical illness', { cover_type: 'critical_illness', rate_table: 'ci.standalone', max_age_at_expiry: 70 }],
  ['life with critical illness', { rate_table: 'ci.accelerated', max_age_at_expiry: 70 }],
  ['whole of life', wholeLife],
] as const)('at an older age %s never costs less', (_name, cover) => {
  const release = { covers: [coverOf(0, cover)] }
  for (const smoker of [false, true])
    for (const term_years of [5, 10, 20, 25]) {
      const prices = Array.from({ length: 53 }, (_, index) =>
        premiumOf({ release, term_years, lives: [aged(18 + index, { smoker })] }),
      ).filter((pence) => !Number.isNaN(pence))
      expect(prices.length).toBeGreaterThan(20)
      expect(prices).toEqual(prices.toSorted((one, other) => one - other))
    }
})

test('within a band of size, more cover never costs less', () => {
  const amounts = fc
    .constantFrom(...bands)
    .chain(([min, max]) => fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })))
    .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const)
  const person = fc.record({ age: fc.integer({ min: 18, max: 60 }), smoker: fc.boolean() })

  fc.assert(
    fc.property(amounts, person, fc.integer({ min: 5, max: 20 }), ([less, more], { age, smoker }, term_years) => {
      const premiumOf = (cover_amount_pence: number) => {
        const result = price(requestOf({ cover_amount_pence, term_years, lives: [aged(age, { smoker })] }))
        return result.outcome === 'priced' ? result.premium_pence : NaN
      }
      expect(premiumOf(more)).toBeGreaterThanOrEqual(premiumOf(less))
    }),
  )
})

test('a price is the nearest penny of the exact product, and halves go up', () => {
  const rate = fc.integer({ min: 1, max: 10_000_000 })
  const amount = fc.integer({ min: 10_000_000, max: 24_999_999 })
  fc.assert(
    fc.property(rate, amount, (rateE4, cover_amount_pence) => {
      const key = 'life.level'
      const table = published({ key, dimensions: ['age', 'term', 'smoker'], cells: { '34|25|n': rateE4 } })
      const rate_tables = new Map([[key, table]])
      const release = { covers: [{ ...levelLife, minimum_premium_pence: 0 }], policy_fee_pence: 0 }
      const result = price(requestOf({ release, rate_tables, cover_amount_pence }))
      const pence = result.outcome === 'priced' ? BigInt(result.premium_pence) : -1n
      // In units of 10⁻⁹ pence: at most half a penny away, and exactly half only upwards.
      const above = pence * 1_000_000_000n - BigInt(rateE4) * BigInt(cover_amount_pence)
      expect(above > -500_000_000n && above <= 500_000_000n).toBe(true)
    }),
  )
  expect([roundHalfUp(5n, 2n), roundHalfUp(7n, 3n), roundHalfUp(8n, 3n), roundHalfUp(0n, 3n)]).toEqual([3, 2, 3, 0])
})
