import { describe, expect, test } from 'vitest'
import { onTerms, underwrite, type Underwriting } from '#domain/rating/underwriting.ts'
import { price } from '#domain/rating/price.ts'
import type { AcceptedLoading } from '#domain/rating/request.ts'
import type { Loading, UnderwritingRules } from '#domain/rating/events.ts'
import { aged, coverOf, priced, requestOf } from './request.ts'

/** People have taken the place of the rules: nothing ends the application, and what they have added is charged. */

const percent = (value: string, code = 'hobby'): Loading => ({ code, label: 'Climbing', basis: 'percent', value })
const perMille = (value: string): Loading => ({ code: 'work', label: 'Roofing', basis: 'per_mille', value })
const forLife = (
  loading: Loading,
  life: 1 | 2 = 1,
  cover_types: AcceptedLoading['cover_types'] = null,
): AcceptedLoading => ({
  ...loading,
  life,
  cover_types,
})
const rules = (changes: Partial<UnderwritingRules> = {}): UnderwritingRules => ({
  rules: [],
  derived: [],
  refer_above_percent: 150,
  decline_above_percent: 300,
  ...changes,
})
const referred = rules({
  rules: [{ code: 'diabetes', label: 'Diabetes', when: { key: 'smoker', equals: false }, decision: 'refer' }],
})
const loaded = (extra: object) =>
  rules({ rules: [{ code: 'hobby', label: 'Climbing', when: { key: 'smoker', equals: false }, ...extra }] })

describe('a judgement on terms', () => {
  const judged: Underwriting = {
    ending: { decision: 'refer', reason: { code: 'diabetes', message: 'Diabetes' } },
    loadings: [percent('25', 'weight')],
    extraPercent: 25,
    extraPerMillePence: 100,
  }

  test('ends nothing, and keeps what the rules have charged', () => {
    expect(onTerms(judged, [])).toEqual({ ...judged, ending: undefined })
  })
  test('adds what people have decided, each kind to its own', () => {
    const added = [percent('50'), perMille('1.50'), percent('10'), perMille('0.25')]

    expect(onTerms(judged, added)).toEqual({
      ending: undefined,
      loadings: [percent('25', 'weight'), ...added],
      extraPercent: 85,
      extraPerMillePence: 275,
    })
  })
  test('shows of a loading nothing but the loading', () => {
    expect(onTerms(judged, [forLife(percent('50'))]).loadings).toEqual([percent('25', 'weight'), percent('50')])
  })
})

describe('a price on terms', () => {
  const terms = (...loadings: readonly AcceptedLoading[]) => ({ accepted_terms: { loadings } })

  test('is one although the rules would refer', () => {
    expect(price(requestOf({ release: { underwriting: referred } })).outcome).not.toBe('priced')
    expect(priced({ release: { underwriting: referred }, ...terms() }).premium_pence).toBe(1250)
  })
  test.each([
    ['a percentage', percent('50'), { extra_percent: 50 }],
    ['a sum for each thousand', perMille('1.50'), { extra_per_mille: '1.50' }],
  ])('charges %s as a rule would', (_name, loading, extra) => {
    const byRule = priced({ release: { underwriting: loaded(extra) } })

    expect(byRule.premium_pence).toBeGreaterThan(1250)
    expect(priced({ release: { underwriting: rules() }, ...terms(forLife(loading)) }).premium_pence).toBe(
      byRule.premium_pence,
    )
  })
  test('charges the life that it is for', () => {
    const both = (life: 1 | 2) =>
      priced({
        release: { underwriting: rules() },
        lives: [aged(34), aged(50)],
        ...terms(forLife(percent('50'), life)),
      }).premium_pence

    expect(both(1)).toBeLessThan(both(2))
    expect(
      priced({ release: { underwriting: rules() }, lives: [aged(34)], ...terms(forLife(percent('50'), 2)) })
        .premium_pence,
    ).toBe(1250)
  })
  test('charges the covers that it is for', () => {
    const components = (cover_types: AcceptedLoading['cover_types']) =>
      priced({
        release: {
          product_type: 'bundled',
          underwriting: rules(),
          covers: [coverOf(0, {}), coverOf(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone' })],
        },
        ...terms(forLife(percent('50'), 1, cover_types)),
      }).components
    const loadings = (cover_types: AcceptedLoading['cover_types']) =>
      components(cover_types).map(({ loading_percent }) => loading_percent)
    const premium = (place: number, cover_types: AcceptedLoading['cover_types']) =>
      components(cover_types)[place]?.premium_pence ?? 0

    expect([loadings([]), loadings(['life']), loadings(['critical_illness']), loadings(null)]).toEqual([
      [0, 0],
      [50, 0],
      [0, 50],
      [50, 50],
    ])
    expect(premium(0, ['life'])).toBeGreaterThan(premium(0, []))
    expect(premium(1, ['life'])).toBe(premium(1, []))
    expect(premium(0, ['critical_illness'])).toBe(premium(0, []))
    expect(premium(1, ['critical_illness'])).toBeGreaterThan(premium(1, []))
  })
})

test.each([
  [150, undefined],
  [151, 'refer'],
  [300, 'refer'],
  [301, 'decline'],
])('an extra premium of %i %% leads to %s', (extra_percent, decision) => {
  const { ending } = underwrite(loaded({ extra_percent }), { smoker: false }, 'life')

  expect(ending?.decision).toBe(decision)
  expect(ending?.reason.code).toBe(decision === undefined ? undefined : 'extra_premium_limit')
})
