import { describe, expect, test } from 'vitest'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { callReview, reviewDue, reviewRequest } from '#domain/policies/review.ts'
import type { RatedCover } from '#domain/rating/events.ts'
import { aged, coverOf, requestOf, tables } from '../rating/request.ts'
import { stateOf } from '../scenario.ts'
import { customer_id } from '../premiums/premium-builders.ts'
import { bound, reviewable, type Bound } from './reviewable.ts'

const stateAfter = (...events: readonly PolicyEvent[]) => {
  const state = stateOf(policy, events)
  if (!state) throw new Error('There is no policy.')
  return state
}
const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
const covers = (...changes: readonly Partial<RatedCover>[]) =>
  changes.map((change, index) => coverOf(index, { ...reviewable, ...change }))
const soldOn = (...changes: readonly Partial<RatedCover>[]) => ({
  ...requestOf({ lives: [aged(35)], release: { covers: covers(...changes) } }),
  rate_tables: tables,
})
const review = (sale: Bound, basis = soldOn({}), now = '2031-02-02T00:00:00.000Z') =>
  callReview({ type: 'CallReview', now, basis: { sold: basis } }, stateAfter(sale, activated))
/** The premium of each cover afterwards; 950 is what it was. */
const premiums = (events: readonly PolicyEvent[]) => {
  const [reviewed] = events
  return reviewed?.type === 'PolicyReviewed' ? reviewed.components.map(({ premium_pence }) => premium_pence) : reviewed
}

describe('a review is due', () => {
  const lapsed: PolicyEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2030-12-15', overdue_pence: 2875 }
  const on = (given: readonly PolicyEvent[], now = '2031-02-02T00:00:00.000Z') => reviewDue(stateAfter(...given), now)
  test.each([
    ['on its day', [bound()], '2031-02-02T00:00:00.000Z', '2031-02-02'],
    ['later', [bound()], '2031-03-02T00:00:00.000Z', '2031-02-02'],
    ['not before', [bound()], '2031-02-01T23:59:59.999Z', null],
    ['not where none is to come', [bound([{}], { next_review_on: null })], '2031-02-02T00:00:00.000Z', null],
    ['not of a policy that has lapsed', [bound(), lapsed], '2031-02-02T00:00:00.000Z', null],
    ['of a policy without an end', [bound([{}], { end_date: null })], '2031-02-02T00:00:00.000Z', '2031-02-02'],
    ['the day before cover ends', [bound([{}], { end_date: '2031-02-03' })], '2031-02-02T00:00:00.000Z', '2031-02-02'],
    ['not on the day when cover ends', [bound([{}], { end_date: '2031-02-02' })], '2031-02-02T00:00:00.000Z', null],
  ] as const)('%s', (_name, given, now, then) => {
    expect(on(given, now)).toBe(then)
  })
})

describe('reviewed is', () => {
  test('a cover without an end of its own', () => {
    expect(premiums(review(bound([{ expires_on: null }])))).not.toEqual([950])
  })
  test('no cover that ends that day; one that ends a day later is', () => {
    const two = soldOn({}, {})
    const [, at_end] = [premiums(review(bound([{}, { expires_on: '2031-02-02' }]), two))].flat()
    const [, later] = [premiums(review(bound([{}, { expires_on: '2031-02-03' }]), two))].flat()
    expect(at_end).toBe(950)
    expect(later).not.toBe(950)
  })
  test('no cover whose premium is guaranteed, whatever period stands beside it, and none without a period', () => {
    const others = [
      { premium_basis: 'guaranteed', review_period_years: 5 },
      { premium_basis: 'reviewable', review_period_years: null },
    ] as const
    const [first, ...rest] = [premiums(review(bound([{}, ...others]), soldOn({}, ...others)))].flat()
    expect(first).not.toBe(950)
    expect(rest).toEqual([950, 950])
  })
  test('a cover of ten years with every second review of one of five', () => {
    const two = [{}, { review_period_years: 10 }]
    const at = (date: string) =>
      [
        premiums(
          review(
            bound(two, { next_review_on: date }),
            soldOn({}, { review_period_years: 10 }),
            `${date}T00:00:00.000Z`,
          ),
        ),
      ]
        .flat()
        .map((premium_pence) => premium_pence === 950)
    expect(at('2031-02-02')).toEqual([false, true])
    expect(at('2036-02-02')).toEqual([false, false])
    expect(at('2041-02-02')).toEqual([false, true])
  })
  test('a cover of seven years with the first review of one of five after its time', () => {
    const other = { review_period_years: 7 }
    const at = (next_review_on: string) =>
      [premiums(review(bound([{}, other], { next_review_on }), soldOn({}, other), `${next_review_on}T00:00:00.000Z`))]
        .flat()
        .map((premium_pence) => premium_pence === 950)
    expect(at('2031-02-02')).toEqual([false, true])
    expect(at('2036-02-02')).toEqual([false, false])
  })
})

describe('the team reviews', () => {
  const due = (reason: string) => [{ type: 'PolicyReviewDue', review_on: '2031-02-02', reason }]
  test.each([
    ['a falling cover beside another', [{}, { indexation_method: 'decreasing' }], [{}, {}], 'no_table_price'],
    ['a cover from a list beside another', [{ pricing_basis: 'fixed_tiers' }, {}], [{}, {}], 'no_table_price'],
    ['a cover that is not sold any more beside another', [{}, {}], [{}], 'not_offered'],
  ] as const)('%s', (_name, held, on, reason) => {
    expect(review(bound(held), soldOn(...on))).toEqual(due(reason))
  })
})

test('each cover is told with its own steps and its own term', () => {
  const events = review(bound([{}, { term_years: 20, expires_on: '2046-02-02' }]), soldOn({}, {}))
  const told = events.find(({ type }) => type === 'PolicyReviewPriced')
  if (told?.type !== 'PolicyReviewPriced') throw new Error('It was not priced.')
  expect(
    told.components.map(({ cover_index, term_years, steps }) => [
      cover_index,
      term_years,
      steps.find(({ step }) => step === 'rate')?.name.split('|')[1],
    ]),
  ).toEqual([
    [0, 20, '20'],
    [1, 15, '15'],
  ])
})

describe('what is asked of the tables', () => {
  const at = { start_date: '2026-02-02', review_on: '2031-02-02' }
  const held = stateAfter(bound([{ term_years: null }, { cover_amount_pence: 7 }])).components
  test('is each cover that is held with its amount and the years that are left, and no other', () => {
    const { components, start_date } = reviewRequest(soldOn({}, {}, {}), held, at)
    expect(start_date).toBe('2031-02-02')
    expect(components).toMatchObject([
      { selected: true, cover_amount_pence: 25_000_000, term_years: null },
      { selected: true, cover_amount_pence: 7, term_years: 20 },
      { selected: false },
    ])
  })
  test('is without limits, and keeps whether there is a term', () => {
    const basis = soldOn({ term_years_min: null, term_years_max: null }, { term_years_min: 5, term_years_max: 40 })
    const { release } = reviewRequest(basis, held, at)
    expect(release.covers).toMatchObject([
      { term_years_min: null, term_years_max: null },
      { term_years_min: 0, term_years_max: Infinity, age_at_entry_min: 0, age_at_entry_max: Infinity },
    ])
    expect(release.earnings).toBeNull()
    const earning = { ...basis, release: { ...basis.release, earnings: { key: 'income', percent: 60 } } }
    expect(reviewRequest(earning, held, at).release.earnings).toBeNull()
  })
  test('is on the terms that were accepted, and on none where nobody set any', () => {
    const loading = { code: 'team', label: 'Team', basis: 'percent', value: '50', cover_types: null, life: 1 } as const
    const plain = soldOn({})
    expect(reviewRequest(plain, held, at).accepted_terms).toEqual({ loadings: [] })
    expect(reviewRequest({ ...plain, accepted_terms: { loadings: [loading] } }, held, at).accepted_terms).toEqual({
      loadings: [loading],
    })
  })
})
