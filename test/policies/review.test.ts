import { describe, expect, test } from 'vitest'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { ReviewBasis } from '#domain/policies/review.ts'
import { price } from '#domain/rating/price.ts'
import type { PricingRequest } from '#domain/rating/request.ts'
import type { RatedCover } from '#domain/rating/events.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { CustomerId } from '#domain/values.ts'
import { aged, coverOf, published, requestOf, tables } from '../rating/request.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { bound as boundWith, reviewable, sold } from './reviewable.ts'
import { everyDay } from './calendars.ts'

/** A policy sold at 34 for 25 years from 2 February 2026, whose premium is reviewed every five years; 35 is the age on 1 January 2027. */

const scenario = scenariosOf(policy)

const review_on = '2031-02-02'
const now = '2031-02-02T00:00:00.000Z'
const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
const bound = (...components: NonNullable<Parameters<typeof boundWith>[0]>): PolicyEvent =>
  boundWith(components, { premium_pence: 1100, annual_premium_pence: 13_200 })

const [firstRate] = [tables.get('life.level')]
if (!firstRate) throw new Error('There is no table of level life cover.')
/** Its rates are a tenth above those of the sale. */
const newer = {
  ...firstRate,
  version: 4,
  cells: Object.fromEntries(Object.entries(firstRate.cells).map(([key, rate]) => [key, Math.round(rate * 1.1)])),
}
const covers = (...changes: readonly Partial<RatedCover>[]) =>
  changes.map((change, index) => coverOf(index, { ...reviewable, ...change }))
const soldOn = (
  changes: Parameters<typeof requestOf>[0] = {},
  rate_tables = new Map([...tables, ['life.level', newer]]),
): PricingRequest => ({
  ...requestOf({ lives: [aged(35)], ...changes, release: { covers: covers({}), ...changes.release } }),
  rate_tables,
})
const call = (basis: ReviewBasis = { sold: soldOn() }, at = now) => ({ type: 'CallReview', now: at, basis }) as const

const decided = (given: readonly PolicyEvent[], basis?: ReviewBasis) =>
  policy.decide(call(basis), stateOf(policy, given, now))
const premiumsOf = (given: readonly PolicyEvent[], basis?: ReviewBasis) => {
  const [reviewed] = decided(given, basis)
  return reviewed?.type === 'PolicyReviewed' ? reviewed.components.map(({ premium_pence }) => premium_pence) : reviewed
}

/** What somebody of that age pays for that, without the limits at entry. */
const priced = (age: number, term_years: number, cover_amount_pence: number): number => {
  const result = price({
    ...soldOn({ lives: [aged(age)], cover_amount_pence, term_years }),
  })
  if (result.outcome !== 'priced') throw new Error(result.outcome)
  return result.components[0]?.premium_pence ?? 0
}

describe('a review that prices itself', () => {
  test('costs what the current table says at the age attained, for the years that are left', () => {
    const [reviewed, how] = decided([bound({}), activated])
    const premium_pence = priced(39, 20, 25_000_000)

    expect(premium_pence).toBeGreaterThan(950)
    expect(reviewed).toEqual({
      type: 'PolicyReviewed',
      premium_pence: premium_pence + 150,
      annual_premium_pence: 12 * (premium_pence + 150),
      components: [{ cover_index: 0, cover_amount_pence: 25_000_000, monthly_benefit_pence: null, premium_pence }],
      next_review_on: '2036-02-02',
      next_review_at: '2036-02-02T00:00:00.000Z',
    })
    expect(how).toMatchObject({
      type: 'PolicyReviewPriced',
      customer_id: sold.customer_id,
      life: 1,
      review_on,
      rate_tables: [{ key: 'life.level', version: 4 }],
      components: [
        {
          cover_index: 0,
          term_years: 20,
          steps: expect.arrayContaining([
            expect.objectContaining({ step: 'rate', name: 'life.level 4: 39|20|n', life: 1 }),
            expect.objectContaining({ name: 'premium_basis', value: '0.880', life: null }),
          ]) as unknown,
        },
      ],
    })
  })

  test('the steps add up to the premium', () => {
    const [reviewed, how] = decided([bound({}), activated])
    if (reviewed?.type !== 'PolicyReviewed' || how?.type !== 'PolicyReviewPriced') throw new Error('It was not priced.')
    const sum = how.components[0]?.steps.reduce((total, { adds_pence }) => total + Number(adds_pence), 0)
    expect(sum).toBeCloseTo(reviewed.components[0]?.premium_pence ?? 0, 5)
  })

  test('is for the amounts of now: what was indexed and amended since', () => {
    const indexed: PolicyEvent = {
      type: 'PolicyIndexed',
      index_on: '2030-02-02',
      premium_pence: 1195,
      annual_premium_pence: 14_340,
      components: [
        { cover_index: 0, cover_amount_pence: 27_500_000, monthly_benefit_pence: null, premium_pence: 1045 },
      ],
      next_indexation_on: null,
      next_indexation_at: null,
    }
    expect(premiumsOf([bound({}), activated, indexed])).toEqual([priced(39, 20, 27_500_000)])
  })

  test('asks nobody to be accepted again: neither the limits at entry nor underwriting end it', () => {
    const strict = covers({ age_at_entry_max: 35, term_years_min: 25, max_age_at_expiry: 50, sum_assured_max_pence: 1 })
    const answers = { smoker: false, alcohol_units: 40 }

    expect(premiumsOf([bound({}), activated], { sold: soldOn({ release: { covers: strict } }) })).toEqual([
      priced(39, 20, 25_000_000),
    ])
    expect(premiumsOf([bound({}), activated], { sold: soldOn({ lives: [aged(35, answers)] }) })).toEqual([
      priced(39, 20, 25_000_000),
    ])
  })

  test('keeps the loadings that the team accepted it on', () => {
    const loading = { code: 'team', label: 'Team', basis: 'percent', value: '50', cover_types: null, life: 1 } as const
    const [premium] = [
      premiumsOf([bound({}), activated], { sold: soldOn({ accepted_terms: { loadings: [loading] } }) }),
    ]
    expect(Number(Array.isArray(premium) && premium[0])).toBeGreaterThan(1.45 * priced(39, 20, 25_000_000))
  })

  test('changes no guaranteed premium, and none whose own period goes on', () => {
    const three = covers({}, { premium_basis: 'guaranteed', review_period_years: null }, { review_period_years: 10 })
    const [first, ...others] = [
      premiumsOf(
        [bound({}, { premium_basis: 'guaranteed', review_period_years: null }, { review_period_years: 10 }), activated],
        { sold: soldOn({ release: { covers: three } }) },
      ),
    ].flat()
    expect(first).toBe(priced(39, 20, 25_000_000))
    expect(others).toEqual([950, 950])
  })

  test('leaves out a cover that was not bought, and one that has come to its end', () => {
    const given = [bound({}, { term_years: 5, expires_on: review_on }), activated]
    const basis = { sold: soldOn({ release: { covers: covers({}, {}, {}) } }) }
    expect(premiumsOf(given, basis)).toEqual([priced(39, 20, 25_000_000), 950])
  })

  test('of joint cover tells each person’s steps under the key of that person', () => {
    const partner: PolicyEvent = {
      type: 'PolicyPartnerRecorded',
      customer_id: CustomerId.parse('c0000000-0000-4000-8000-000000000002'),
      partner: sold.customer,
    }
    const events = decided([bound({}), partner, activated], { sold: soldOn({ lives: [aged(35), aged(36)] }) })
    const told = events.flatMap((event) =>
      event.type === 'PolicyReviewPriced'
        ? [[event.customer_id, new Set(event.components.flatMap(({ steps }) => steps.map((step) => step.life)))]]
        : [],
    )
    expect(told).toEqual([
      [sold.customer_id, new Set([1, null])],
      [partner.customer_id, new Set([2])],
    ])
  })

  const done = decided([bound({}), activated]).filter((event): event is PolicyEvent => event.type in policyEvents)
  scenario('happens once', { given: [bound({}), activated, ...done], when: call(), then: [] })
  scenario('not before its day', {
    given: [bound({}), activated],
    when: call(undefined, '2031-02-01T23:59:59.000Z'),
    then: [],
  })
  const overridden: PolicyEvent = {
    type: 'PolicyReviewed',
    premium_pence: 1150,
    annual_premium_pence: 13_800,
    components: [{ cover_index: 0, cover_amount_pence: 25_000_000, monthly_benefit_pence: null, premium_pence: 1000 }],
    next_review_on: '2036-02-02',
    next_review_at: '2036-02-02T00:00:00.000Z',
  }
  const review = {
    type: 'ReviewPolicy',
    components: [{ cover_index: 0, cover_amount_pence: null, premium_pence: 1000 }],
    now: '2031-02-03T09:00:00.000Z',
  } as const
  scenario('can be concluded otherwise by the team, and the next one is due when it was', {
    given: [bound({}), activated, ...done],
    when: review,
    then: [overridden],
  })
  scenario('409 conflict: but once', {
    given: [bound({}), activated, ...done, overridden],
    when: review,
    then: rejected('conflict', undefined, '2036-02-02'),
  })
})

describe('a review that cannot be priced is left to the team', () => {
  const due = (reason: Extract<PolicyEvent, { type: 'PolicyReviewDue' }>['reason']): PolicyEvent => ({
    type: 'PolicyReviewDue',
    review_on,
    reason,
  })
  const table = (cells: Record<string, number>) => new Map([['life.level', published({ ...firstRate, cells })]])

  scenario('no rate at the age attained', {
    given: [bound({}), activated],
    when: call({ sold: soldOn({}, table({ '34|25|n': 45_818 })) }),
    then: [due('no_rate')],
  })
  scenario('nobody’s date of birth', {
    given: [bound({}), activated],
    when: call({ sold: soldOn({ lives: [{ dob: null, answers: { smoker: false } }] }) }),
    then: [due('no_answers')],
  })
  scenario('answers that were erased', {
    given: [bound({}), activated],
    when: call({ reason: 'no_answers' }),
    then: [due('no_answers')],
  })
  scenario('a cover that falls year by year', {
    given: [bound({ indexation_method: 'decreasing' }), activated],
    when: call(),
    then: [due('no_table_price')],
  })
  scenario('a cover whose price is from a list', {
    given: [bound({ pricing_basis: 'fixed_tiers' }), activated],
    when: call(),
    then: [due('no_table_price')],
  })
  scenario('not when cover ends on that day', {
    given: [{ ...sold, end_date: review_on, next_review_on: review_on }, activated],
    when: call(),
    then: [],
  })
  const suspended: PolicyEvent = { type: 'PolicySuspended', reason: 'operator', overdue_pence: 0 }
  const reinstated = (review_at: string | null) => ({
    type: 'PolicyReinstated' as const,
    from: 'suspended' as const,
    next_collection_on: sold.first_collection_on,
    next_collection_at: startOfDayIn('Europe/London', sold.first_collection_on),
    end_at: '2051-02-02T00:00:00.000Z',
    review_at,
    indexation_at: null,
  })
  for (const [name, told, review_at] of [
    ['is not called again when the policy is reinstated', [due('no_rate')], null],
    ['is called when a policy is reinstated that nobody was told of', [], now],
  ] as const)
    scenario(name, {
      given: [bound({}), activated, ...told, suspended],
      when: { type: 'ReinstatePolicy', calendar: everyDay, now: '2031-02-03T09:00:00.000Z' },
      then: [reinstated(review_at)],
    })
  scenario('and they are told once', {
    given: [bound({}), activated, due('no_rate')],
    when: call(),
    then: [],
  })
})
