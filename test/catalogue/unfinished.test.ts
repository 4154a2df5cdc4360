import { expect, test } from 'vitest'
import { unfinished } from '#domain/catalogue/unfinished.ts'
import { draft, termLife } from './builders.ts'

const [web] = termLife.journeys[0]?.presentations ?? []
const asking = (fields: readonly string[], hasPayment = true) => {
  const stages = [
    { stage_type: 'personal_details', title: 'You', config: { fields } },
    ...(hasPayment ? [{ stage_type: 'payment', title: 'Payment' }] : []),
  ]
  const journeys = [{ ...termLife.journeys[0], presentations: [{ ...web, stages }] }]
  return unfinished(draft({ journeys }), { hasRpiFigures: true })
}
const withoutPages = termLife.journeys.map((journey) => ({ ...journey, presentations: [] }))
const whole = ['first_name', 'last_name', 'dob', 'email', 'address']

test('pages that lead to a purchase without asking what it needs are named with the plan', () => {
  expect(asking(['first_name', 'last_name', 'email'])).toEqual([
    'journeys[0].presentations[0] does not ask for dob, address: nobody can buy without',
  ])
  expect(asking(whole)).toEqual([])
  expect(asking(['email'], false)).toEqual([])
})

test('a cover that follows the retail prices without a figure of any year is named with the plan', () => {
  const covers = termLife.covers.map((cover) => ({ ...cover, indexation_method: 'rpi' }))
  const of = draft({ covers, journeys: withoutPages })
  expect(unfinished(of, { hasRpiFigures: false })).toEqual([
    'covers[0] follows the retail prices, and policy_rules has no figure in rpi: it waits for one',
  ])
  expect(unfinished(of, { hasRpiFigures: true })).toEqual([])
})

test('rules of underwriting that no cover is held against are named with the plan', () => {
  const rules = [{ code: 'x', label: 'X', when: { key: 'smoker', equals: true }, decision: 'decline' as const }]
  const listed = {
    ...termLife.covers[0],
    pricing_basis: 'fixed_tiers',
    rate_table: null,
    tiers: [{ cover_amount_pence: 1_000_000, premium_pence: 100 }],
  }
  const of = (covers: readonly object[]) =>
    unfinished(draft({ journeys: withoutPages, covers, underwriting: { rules } }), { hasRpiFigures: true })

  expect(of([listed])).toEqual([
    'has underwriting, and no rated cover: its rules decide nothing. An answer that declines is terminal_outcome',
  ])
  expect(of([listed, ...termLife.covers])).toEqual([])
})

test('a product without a journey is named with the plan: no application can be started', () => {
  expect(unfinished(draft({ journeys: [] }), { hasRpiFigures: true })).toEqual([
    'has no journeys: no application can be started',
  ])
})

test('a product whose statement of demands and needs is required and missing is named with the plan', () => {
  const { checkout } = draft()
  const asking = (demands_and_needs: typeof checkout.demands_and_needs) =>
    unfinished(draft({ journeys: withoutPages, checkout: { ...checkout, demands_and_needs } }), { hasRpiFigures: true })

  expect(asking({ required: true, statement: null })).toEqual([
    'checkout.demands_and_needs is required and has no statement: nobody can buy it',
  ])
  expect(asking({ required: true, statement: 'You want cover.' })).toEqual([])
  expect(asking({ required: false, statement: null })).toEqual([])
})
