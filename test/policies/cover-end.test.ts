import { describe, expect, test } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { policySchedule } from '../../command-api/policies/documents.ts'
import { termRelease } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { active, bound, mandateMade } from '../premiums/premium-builders.ts'
import { everyDay } from './calendars.ts'

/** Two covers with terms of their own: £10.00 for two years, £15.00 for three, and £2.50 policy fee. */

const scenario = scenariosOf(policy)
const [life] = bound.components
if (!life) throw new Error('The sample covers nothing.')
const short = { ...life, premium_pence: 1_000, term_years: 2, expires_on: '2028-02-02' }
const long = { ...life, cover_index: 1, premium_pence: 1_500, term_years: 3, expires_on: '2029-02-02' }
const sold: readonly PolicyEvent[] = [
  { ...bound, components: [short, long], premium_pence: 2_750, annual_premium_pence: 33_000, end_date: '2029-02-02' },
  ...active.slice(1),
  mandateMade,
]
const idOf = (number: number) => PremiumId.parse(derivedId('premium', String(number)))
const call = { type: 'CallPremium', calendar: everyDay, now: '2029-02-02T00:00:00.000Z', idOf } as const
const over: PolicyEvent = {
  type: 'PolicyCoverEnded',
  cover_indexes: [0],
  premium_pence: 1_750,
  annual_premium_pence: 21_000,
}

/** All that is called for the term of the policy. */
const called = (given: readonly PolicyStreamEvent[]): readonly PolicyStreamEvent[] => {
  const events = policy.decide(call, stateOf(policy, given))
  return events.length === 0 ? given : called([...given, ...events])
}
const amounts = (events: readonly PolicyStreamEvent[]) =>
  events.flatMap((event) => (event.type === 'PremiumDue' ? [event.amount_pence] : []))

describe('a cover whose term is over while another goes on', () => {
  test('is paid for as long as its own term: all premiums are what the quote says for the terms', () => {
    const events = called(sold)

    const total = amounts(events).reduce((sum, pence) => sum + pence, 0)
    expect(total).toBe(24 * 1_000 + 36 * 1_500 + 36 * 250)
    expect(events.filter(({ type }) => type === 'PolicyCoverEnded')).toEqual([over])
    expect(amounts(events).slice(22, 26)).toEqual([2_750, 2_750, 1_750, 1_750])
  })

  const ended = called(sold).slice(0, sold.length + 26)
  test('is shown as ended, and the policy costs so much less', () => {
    const state = stateOf(policy, ended)
    expect(state).toMatchObject({ status: 'active', premium_pence: 1_750, annual_premium_pence: 21_000 })
    expect(state?.components.map(({ status, ends_on }) => [status, ends_on])).toEqual([
      ['ended', '2028-02-02'],
      ['active', '2029-02-02'],
    ])
  })
  test('stays ended when the policy lapses and is reinstated', () => {
    const state = stateOf(policy, [
      ...ended,
      { type: 'PolicyLapsed', customer_id: bound.customer_id, lapsed_on: '2028-06-01', overdue_pence: 0 },
      {
        type: 'PolicyReinstated',
        from: 'lapsed',
        next_collection_on: null,
        next_collection_at: null,
        end_at: null,
        review_at: null,
        indexation_at: null,
      },
    ])
    expect(state?.components.map(({ status, ends_on }) => [status, ends_on])).toEqual([
      ['ended', '2028-02-02'],
      ['active', '2029-02-02'],
    ])
  })
  test('is not on the schedule any more, which adds up', () => {
    const state = stateOf(policy, ended) ?? expect.fail()
    const { blocks } = policySchedule({ policy: state, release: termRelease, firm: 'Northlight Life' })
    const facts = blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : []))
    expect(facts.filter(([name]) => name === 'Ends on')).toEqual([['Ends on', '2 February 2029']])
    expect(facts).toContainEqual(['Of it, the policy fee', '£2.50 a month'])
  })
  scenario('422 validation_failed: it cannot be changed', {
    given: ended,
    when: {
      type: 'AmendPolicy',
      calendar: everyDay,
      components: [{ cover_index: 0, cover_amount_pence: null, premium_pence: 2_000 }],
      collection_day: null,
      collection_days: [],
      note: null,
      now: '2028-03-01T00:00:00.000Z',
    },
    then: rejected('validation_failed', { 'components[0].cover_index': 'the term of this cover is over' }),
  })
})
