import { describe, expect, test } from 'vitest'
import { dueAfter } from '#domain/premiums/collection.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import type { ComponentChange } from '#domain/policies/terms.ts'
import type { PremiumEvent } from '#domain/premiums/events.ts'
import { termRelease } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { bound, cancelledOn, customer_id, due, premium_id, requested } from '../premiums/premium-builders.ts'
import { everyDay } from './calendars.ts'

/** What amendments, reviews and time make of a policy with more than one cover. */

const scenario = scenariosOf(policy)

type Component = (typeof bound.components)[number]

/** £250,000 for £27.25 a month, and £50,000 for £5.00; the fee is £1.50. */
const selling = (
  changes: Partial<Component> = {},
  ofSecond: Partial<Component> = {},
  ofPolicy: Partial<typeof bound> = {},
): readonly PolicyStreamEvent[] => {
  const [life] = bound.components
  if (!life) throw new Error('The sample covers nothing.')
  const second = { ...life, cover_index: 1, cover_amount_pence: 5_000_000, premium_pence: 500, ...ofSecond }
  return [
    { ...bound, premium_pence: 3375, components: [{ ...life, ...changes }, second], ...ofPolicy },
    { type: 'PolicyActivated', start_date: '2026-02-02' },
  ]
}
const component = (cover_index: number, cover_amount_pence: number, premium_pence: number) => ({
  cover_index,
  cover_amount_pence,
  monthly_benefit_pence: null,
  premium_pence,
})
const conflict = (says: string) => rejected('conflict', undefined, says)

describe('an amendment', () => {
  const amend = (
    components: readonly ComponentChange[],
    collection_day: number | null = null,
    now = '2026-02-02T09:00:00.000Z',
    collection_days = [7, 15],
  ) =>
    ({ type: 'AmendPolicy', calendar: everyDay, components, collection_day, collection_days, note: null, now }) as const
  const amended = (first: ReturnType<typeof component>, second = component(1, 5_000_000, 500)): PolicyEvent => {
    const premium_pence = first.premium_pence + second.premium_pence + 150
    return {
      type: 'PolicyAmended',
      customer_id,
      premium_pence,
      annual_premium_pence: 12 * premium_pence,
      components: [first, second],
      collection_day: 15,
      next_collection_on: '2026-02-15',
      next_collection_at: '2026-02-15T00:00:00.000Z',
      note: null,
    }
  }
  const changing = (cover_index: number, cover_amount_pence: number | null, premium_pence: number | null) =>
    amend([{ cover_index, cover_amount_pence, premium_pence }])

  scenario('changes the amount alone', {
    given: selling(),
    when: changing(0, 20_000_000, null),
    then: [amended(component(0, 20_000_000, 2725))],
  })
  scenario('changes the premium alone', {
    given: selling(),
    when: changing(0, null, 2500),
    then: [amended(component(0, 25_000_000, 2500))],
  })
  scenario('makes a cover the same as another one', {
    given: selling(),
    when: changing(0, 5_000_000, 500),
    then: [amended(component(0, 5_000_000, 500))],
  })
  scenario('exchanges what two covers are for', {
    given: selling(),
    when: amend([
      { cover_index: 0, cover_amount_pence: 5_000_000, premium_pence: 500 },
      { cover_index: 1, cover_amount_pence: 25_000_000, premium_pence: 2725 },
    ]),
    then: [amended(component(0, 5_000_000, 500), component(1, 25_000_000, 2725))],
  })
  scenario('of nothing changes nothing, also of a policy with two covers', {
    given: selling(),
    when: changing(0, 25_000_000, 2725),
    then: [],
  })
  scenario('leaves the day of collection as it is, although the product is not collected on it any more', {
    given: selling(),
    when: amend([{ cover_index: 0, cover_amount_pence: null, premium_pence: 2500 }], null, undefined, [7]),
    then: [amended(component(0, 25_000_000, 2500))],
  })
  scenario('leaves the day of the next collection as it was told', {
    given: [...selling(), { ...due, next_due_on: '2026-03-20', next_due_at: '2026-03-20T00:00:00.000Z' }, requested],
    when: amend([{ cover_index: 0, cover_amount_pence: null, premium_pence: 2500 }], 15),
    then: [
      {
        ...amended(component(0, 25_000_000, 2500)),
        next_collection_on: '2026-03-20',
        next_collection_at: '2026-03-20T00:00:00.000Z',
      } as PolicyEvent,
    ],
  })
  scenario('422 validation_failed: of the day says what to do', {
    given: selling(),
    when: amend([], 8),
    then: rejected('validation_failed', { collection_day: 'must be one of 7, 15' }, 'Choose another day of collection'),
  })
  scenario('422 validation_failed: of a cover whose term is over', {
    given: [
      ...selling(),
      { type: 'PolicyCoverEnded', cover_indexes: [1], premium_pence: 2875, annual_premium_pence: 34_500 },
    ] as readonly PolicyStreamEvent[],
    when: changing(1, null, 1),
    then: rejected(
      'validation_failed',
      { 'components[0].cover_index': 'the term of this cover is over' },
      'Correct components and send the request again.',
    ),
  })
  scenario('409 conflict: the policy has ended', {
    given: [...selling(), cancelledOn('2026-02-10')],
    when: changing(0, null, 1),
    then: conflict('This policy has ended (cancelled).'),
  })
})

describe('a cover whose term is over while another goes on', () => {
  const idOf = () => premium_id
  const firstDue = { ...due, amount_pence: 3375 }
  const secondDue = (amount_pence: number): PremiumEvent => ({
    ...due,
    number: 2,
    amount_pence,
    due_on: '2026-03-15',
    covers_from: '2026-03-02',
    next_due_on: '2026-04-15',
    next_due_at: '2026-04-14T23:00:00.000Z',
  })
  const over: PolicyEvent = {
    type: 'PolicyCoverEnded',
    cover_indexes: [1],
    premium_pence: 2875,
    annual_premium_pence: 34_500,
  }
  const call = { type: 'CallPremium', calendar: everyDay, now: '2026-03-15T09:00:00.000Z', idOf } as const
  const until = (expires_on: string) => [...selling({ expires_on: null }, { expires_on }), firstDue]

  scenario('is not paid for from the day on which it ends', {
    given: until('2026-03-02'),
    when: call,
    then: [over, secondDue(2875)],
  })
  scenario('is paid for while its term still runs when a month begins', {
    given: until('2026-03-03'),
    when: call,
    then: [secondDue(3375)],
  })
  scenario('ends once', { given: [...until('2026-03-02'), over], when: call, then: [secondDue(2875)] })
})

describe('a review', () => {
  const reviewing = (period: number): Partial<Component> => ({
    premium_basis: 'reviewable',
    review_period_years: period,
  })
  const review = (now: string) => ({ type: 'ReviewPolicy', components: [], now }) as const
  const reviewed = (next: string | null): PolicyEvent => ({
    type: 'PolicyReviewed',
    premium_pence: 3375,
    annual_premium_pence: 12 * 3375,
    components: [component(0, 25_000_000, 2725), component(1, 5_000_000, 500)],
    next_review_on: next,
    next_review_at: next === null ? null : `${next}T00:00:00.000Z`,
  })
  const onDay = { next_review_on: '2029-02-02' }

  for (const [first, second] of [
    [5, 3],
    [3, 5],
  ] as const)
    scenario(`is followed by one after the shorter period: of ${first} and ${second} years`, {
      given: selling(reviewing(first), reviewing(second), onDay),
      when: review('2029-02-02T09:00:00.000Z'),
      then: [reviewed('2032-02-02')],
    })
  scenario('is for reviewable premiums: the period of a guaranteed one does not count', {
    given: selling(reviewing(5), { premium_basis: 'guaranteed', review_period_years: 1 }, onDay),
    when: review('2029-02-02T09:00:00.000Z'),
    then: [reviewed('2034-02-02')],
  })
  scenario('is the last one when the next would be on the day on which the policy ends', {
    given: selling(reviewing(5), reviewing(5), { ...onDay, end_date: '2034-02-02' }),
    when: review('2029-02-02T09:00:00.000Z'),
    then: [reviewed(null)],
  })
  scenario('409 conflict: there is none where premiums are guaranteed', {
    given: selling(),
    when: review('2029-02-02T09:00:00.000Z'),
    then: conflict('The premiums of this policy are guaranteed.'),
  })
  scenario('409 conflict: the policy has ended', {
    given: [...selling(reviewing(5), reviewing(5), onDay), cancelledOn('2026-02-10')],
    when: review('2029-02-02T09:00:00.000Z'),
    then: conflict('This policy has ended (cancelled).'),
  })
})

describe('indexation', () => {
  const rpi = { indexation_method: 'rpi' as const }
  const rules = { rpi: [{ year: 2027, percent: '4' }], rpi_cap_percent: '10' }
  const index = { type: 'IndexPolicy', now: '2027-02-02T00:00:00.000Z', rules, release: termRelease } as const
  const indexed = (second: ReturnType<typeof component>): PolicyEvent => {
    const premium_pence = 2889 + second.premium_pence + 150
    return {
      type: 'PolicyIndexed',
      index_on: '2027-02-02',
      premium_pence,
      annual_premium_pence: 12 * premium_pence,
      // £27.25 × 1.06, half a penny up.
      components: [component(0, 26_000_000, 2889), second],
      next_indexation_on: '2028-02-02',
      next_indexation_at: '2028-02-02T00:00:00.000Z',
    }
  }
  const onDay = { next_indexation_on: '2027-02-02' }

  scenario('raises every cover that goes on', {
    given: selling(rpi, { ...rpi, expires_on: '2027-02-03' }, onDay),
    when: index,
    then: [indexed(component(1, 5_200_000, 530))],
  })
  scenario('does not raise a cover whose term ends on its day', {
    given: selling(rpi, { ...rpi, expires_on: '2027-02-02' }, onDay),
    when: index,
    then: [indexed(component(1, 5_000_000, 500))],
  })
  scenario('does not raise a cover that stays the same for its whole term', {
    given: selling(rpi, {}, onDay),
    when: index,
    then: [indexed(component(1, 5_000_000, 500))],
  })
})

test('the last premium is due on its own day while there is cover, and at the latest as cover ends', () => {
  const dueOn = (first_collection_on: string, former: string) => {
    const collection_day = Number(first_collection_on.slice(-2))
    const sold = selling({}, {}, { end_date: '2029-02-02', first_collection_on, collection_day })
    return dueAfter(stateOf(policy, sold) ?? expect.fail(), 35, former, everyDay)
  }

  expect(dueOn('2026-02-27', '2028-12-27')).toBe('2029-01-27')
  expect(dueOn('2026-03-15', '2029-01-15')).toBe('2029-02-02')
})
