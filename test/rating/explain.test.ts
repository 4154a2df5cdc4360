import { expect, test } from 'vitest'
import { explain, workOut } from '#domain/rating/explain.ts'
import { aged, coverOf, incomeProtection, levelLife, requestOf } from './request.ts'

type Changes = Parameters<typeof requestOf>[0]
const stepsOf = (changes: Changes) =>
  explain(requestOf(changes))?.components.map(({ steps }) =>
    steps.map(({ step, name, value, life, adds_pence }) => [step, name, value, life, adds_pence]),
  )

test('the worked price of £250,000 at 34 for 25 years: the cell, each factor and the rounding', () => {
  expect(stepsOf({})).toEqual([
    [
      ['rate', 'life.level 3: 34|25|n', '45818', 1, '1145.45'],
      ['factor', 'size', '0.960', null, '-45.818'],
      ['factor', 'premium_basis', '1.000', null, '0'],
      ['factor', 'indexation', '1.000', null, '0'],
      ['factor', 'joint_first_event', '1.000', null, '0'],
      ['factor', 'multi_cover', '1.000', null, '0'],
      ['journey_loading', 'journey_loading', '1.00', null, '0'],
      ['rounding', 'half up to a penny', '1100', null, '0.368'],
    ],
  ])
  expect(explain(requestOf({}))).toMatchObject({ policy_fee_pence: 150, premium_pence: 1250 })
})

test('loadings for health are told by person, and those for each £1,000 after the factors', () => {
  const answers = { smoker: false, height_cm: 180, weight_kg: 100, hazardous_pursuits: true }
  const [steps = []] = stepsOf({ lives: [aged(34), aged(36, answers)] }) ?? []
  const ofSecond = steps.filter(([, , , life]) => life === 2)

  expect(ofSecond.map(([step, name, value]) => [step, name, value])).toEqual([
    ['rate', expect.stringMatching(/^life\.level 3: 36\|25\|n$/), expect.any(String)],
    ['loading', 'bmi_30', '25 %'],
    ['loading', 'hazardous_pursuits', '£1.50 for each £1,000 a year'],
  ])
  // £1.50 a year for each of 250 thousands, a month.
  expect(ofSecond.at(-1)?.at(-1)).toBe('3125')
})

test('the class of an occupation is a factor of the person whose it is', () => {
  const release = { product_type: 'income_protection', covers: [coverOf(0, incomeProtection)] } as const
  const lives = [aged(34, { smoker: false, occupation_class: 2, deferred_weeks: 13 })] as const
  const [steps = []] = stepsOf({ release, lives, cover_amount_pence: 2_160_000 }) ?? []

  expect(steps[1]).toEqual(['answer_factor', 'occupation_class 2', '1.250', 1, expect.any(String)])
})

test('what is raised to the minimum premium says so', () => {
  const [steps = []] = stepsOf({ lives: [aged(20)], cover_amount_pence: 2_500_000, term_years: 10 }) ?? []

  expect(steps.slice(-2)).toEqual([
    ['rounding', 'half up to a penny', '36', null, expect.any(String)],
    ['minimum_premium', 'minimum_premium_pence', '350', null, '314'],
  ])
})

test('a life cover that a critical illness pays out in full costs nothing of its own', () => {
  const illness = {
    cover_type: 'critical_illness',
    ci_payout_basis: 'accelerated',
    rate_table: 'ci.accelerated',
  } as const
  const release = { product_type: 'critical_illness', covers: [levelLife, coverOf(1, illness)] } as const

  expect(stepsOf({ release })?.[0]).toEqual([['part_of_life_cover', 'paid on a critical illness', '0', null, '0']])
})

test('a price from a list is told with its list', () => {
  const people = { pricing_basis: 'per_member', member_premium_pence: 2_450, members_factor: 'people' } as const
  const plan = coverOf(0, { ...people, cover_type: 'healthcare', rate_table: null, minimum_premium_pence: 0 })
  const release = { product_type: 'healthcare', covers: [plan] } as const

  expect(stepsOf({ release, lives: [aged(34, { people: 12 })], journey_loading: '1.10' })).toEqual([
    [
      ['list', '12 people at 2450 pence', '29400', null, '29400'],
      ['journey_loading', 'journey_loading', '1.10', null, '2940'],
      ['rounding', 'half up to a penny', '32340', null, '0'],
    ],
  ])
})

test('where there is no price there is nothing to explain', () => {
  expect(explain(requestOf({ lives: [aged(90)] }))).toBeUndefined()
})

test('each step begins with the price with which the one before it ends, and a rate names its cell', () => {
  const answers = { smoker: true, height_cm: 180, weight_kg: 100, hazardous_pursuits: true }
  const request = requestOf({ lives: [aged(34), aged(36, answers)] })
  const worked = workOut(request)

  const [{ premium_pence, steps } = { premium_pence: 0, steps: [] }] = worked?.components ?? []
  expect(steps.map(({ before_pence }) => before_pence)).toEqual([
    '0',
    ...steps.slice(0, -1).map(({ after_pence }) => after_pence),
  ])
  expect(steps.at(-1)?.after_pence).toBe(String(premium_pence))
  expect(steps.flatMap(({ used }) => (used ? [used] : []))).toMatchObject([
    { table: 'life.level', version: 3, cell: '34|25|n', at: { age: '34', term: '25', smoker: 'n' } },
    { cell: '36|25|s', at: { age: '36', term: '25', smoker: 's' }, benefit_pence: 25_000_000 },
  ])
  // What is stored of a review has no more fields than it ever had.
  expect(Object.keys(explain(request)?.components[0]?.steps[0] ?? {})).toEqual([
    'step',
    'name',
    'value',
    'life',
    'adds_pence',
  ])
})
