import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysAfter, firstOnDay, monthsAfter } from '#domain/dates.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { workingDayFrom, workingDayUntil } from '#domain/working-days.ts'
import { stateOf } from '../scenario.ts'
import { england } from './calendars.ts'
import {
  activated,
  arrears,
  bound,
  customer_id,
  debit,
  due,
  failed,
  inArrears,
  retried,
  requested,
  scenario,
  settle,
} from '../premiums/premium-builders.ts'
import { byCard, setUp } from './sold.ts'

/** What is to be collected on a day on which no bank works is collected on the next working day. */

const calendar = england
const idOf = (number: number) => PremiumId.parse(`b1000000-0000-5000-8000-${String(number).padStart(12, '0')}`)
const midnight = (date: string) => startOfDayIn('Europe/London', date)

/** What a sale on `bought_on` leads to, whose cover starts on the day after. */
const sellOn = (bought_on: string, collection_day: number, card: Parameters<typeof setUp>[0] = {}) =>
  setUp({
    ...card,
    otherwise: (command) => {
      const bought = { ...command.sale.bought, bought_on, start_date: daysAfter(bought_on, 1), collection_day }
      return { ...command, calendar, sale: { ...command.sale, bought } }
    },
  })

describe('the first collection', () => {
  test.each([
    ['Christmas Day, a Friday before a weekend and the substitute for Boxing Day', '2026-12-25', '2026-12-29'],
    ['Good Friday', '2027-03-26', '2027-03-30'],
    ['a substitute day', '2027-12-28', '2027-12-29'],
    ['a Saturday', '2027-02-20', '2027-02-22'],
    ['a Sunday before a bank holiday', '2027-05-02', '2027-05-04'],
    ['a Sunday of a year of which no bank holiday is known', '2031-12-28', '2031-12-29'],
  ])('on %s is on the next working day', (_day, date, moved) => {
    const { bound: sold } = sellOn(daysAfter(date, -12), Number(date.slice(8)))

    expect(sold).toMatchObject({ first_collection_on: moved, collected_from: date })
  })

  test.each(['2026-12-24', '2031-12-25'])('on a working day, as far as is known, stays there: %s', (date) => {
    const { bound: sold } = sellOn(daysAfter(date, -12), Number(date.slice(8)))

    expect(sold.first_collection_on).toBe(date)
    expect(sold).not.toHaveProperty('collected_from')
  })

  test('is the next after a card has paid for the first month', () => {
    const { bound: sold, others } = sellOn('2026-11-10', 25, { direct_debit_first: false, paid: byCard })

    expect(sold).toMatchObject({ first_collection_on: '2026-12-29', collected_from: '2026-12-25' })
    expect(others).toMatchObject([
      { type: 'PremiumDue', due_on: '2026-11-10', next_due_on: '2026-12-29', next_due_at: midnight('2026-12-29') },
      { type: 'PremiumCollected' },
    ])
  })
})

/** Sold for the 25th; the first is moved from Christmas Day. */
const moved: PolicyStreamEvent = {
  ...bound,
  start_date: '2026-12-11',
  end_date: '2051-12-11',
  collection_day: 25,
  first_collection_on: '2026-12-29',
  collected_from: '2026-12-25',
}
const covered: PolicyStreamEvent = { type: 'PolicyActivated', start_date: '2026-12-11' }
const call = (day: string) => ({ type: 'CallPremium', calendar, now: midnight(day), idOf }) as const
const dueOn = (number: number, due_on: string, next_due_on: string): PolicyStreamEvent => ({
  ...due,
  premium_id: idOf(number),
  number,
  due_on,
  covers_from: monthsAfter('2026-12-11', number - 1),
  next_due_on,
  next_due_at: midnight(next_due_on),
})

describe('the next collection', () => {
  const firstThree = [
    dueOn(1, '2026-12-29', '2027-01-25'),
    dueOn(2, '2027-01-25', '2027-02-25'),
    dueOn(3, '2027-02-25', '2027-03-25'),
  ]

  scenario('is not asked for on the bank holiday', { given: [moved, covered], when: call('2026-12-28'), then: [] })
  scenario('is counted from the day that the one before it was moved from', {
    given: [moved, covered],
    when: call('2026-12-29'),
    then: [dueOn(1, '2026-12-29', '2027-01-25')],
  })
  scenario('falls on the Monday after a Sunday', {
    given: [moved, covered, ...firstThree],
    when: call('2027-03-25'),
    then: [dueOn(4, '2027-03-25', '2027-04-26')],
  })
  const { collected_from: _none, ...before } = moved
  scenario('of a policy that was sold before is asked for on the day that was told, and moved from then on', {
    given: [{ ...before, first_collection_on: '2026-12-25' }, covered],
    when: call('2026-12-25'),
    then: [dueOn(1, '2026-12-25', '2027-01-25')],
  })
})

describe('another day of collection', () => {
  const amend = (collection_day: number, now: string) =>
    ({
      type: 'AmendPolicy',
      calendar,
      components: [],
      collection_day,
      collection_days: [7, 25, 26, 27],
      note: null,
      now,
    }) as const
  const amended = (collection_day: number, next_collection_on: string) =>
    ({
      type: 'PolicyAmended',
      collection_day,
      next_collection_on,
      next_collection_at: midnight(next_collection_on),
    }) as const
  const decided = (...[command, given]: [PolicyCommand, readonly PolicyStreamEvent[]]) =>
    policy.decide(command, stateOf(policy, given))

  test('is moved to a working day, too', () => {
    expect(decided(amend(27, '2026-12-11T12:00:00.000Z'), [moved, covered])).toMatchObject([amended(27, '2026-12-29')])
    expect(decided(amend(7, '2026-12-11T12:00:00.000Z'), [moved, covered])).toMatchObject([amended(7, '2027-01-07')])
  })

  test('and later ones are counted from it as it was chosen', () => {
    const given = [moved, covered, ...decided(amend(27, '2026-12-11T12:00:00.000Z'), [moved, covered])]

    expect(decided(call('2026-12-29'), given)).toMatchObject([{ due_on: '2026-12-29', next_due_on: '2027-01-27' }])
  })

  test('leaves a collection where it is that there is no time left to tell of, counted to the working day', () => {
    expect(decided(amend(26, '2026-12-20T12:00:00.000Z'), [moved, covered])).toMatchObject([amended(26, '2026-12-29')])
    const late = decided(amend(26, '2027-01-17T12:00:00.000Z'), [moved, covered, dueOn(1, '2026-12-29', '2027-01-25')])
    expect(late).toMatchObject([amended(26, '2027-01-25')])
  })
})

describe('a policy that is reinstated', () => {
  const lapsed: PolicyStreamEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2027-03-10', overdue_pence: 0 }
  const given = [{ ...moved, collection_day: 26 }, covered, dueOn(1, '2026-12-29', '2027-01-26'), lapsed]
  const reinstate = { type: 'ReinstatePolicy', calendar, now: '2027-03-12T12:00:00.000Z' } as const
  const [reinstated = expect.fail()] = policy.decide(reinstate, stateOf(policy, given))

  test('is collected on the working day after Good Friday and Easter Monday', () => {
    expect(reinstated).toMatchObject({
      type: 'PolicyReinstated',
      next_collection_on: '2027-03-30',
      next_collection_at: midnight('2027-03-30'),
      collected_from: '2027-03-26',
    })
  })

  test('and from then on counted from Good Friday', () => {
    const state = stateOf(policy, [...given, reinstated], '2027-03-12T12:00:00.000Z')

    expect(policy.decide(call('2027-03-30'), state)).toMatchObject([
      { due_on: '2027-03-30', next_due_on: '2027-04-26' },
    ])
  })

  test('on a working day says nothing of another', () => {
    const [other] = policy.decide({ ...reinstate, now: '2027-04-12T12:00:00.000Z' }, stateOf(policy, given))

    expect(other).toMatchObject({ next_collection_on: '2027-04-26' })
    expect(other).not.toHaveProperty('collected_from')
  })

  test('as it was stored before is counted from the day on which it was collected', () => {
    const { collected_from: _none, ...stored } = reinstated as Extract<typeof reinstated, { type: 'PolicyReinstated' }>
    const state = stateOf(policy, [...given, stored], '2027-03-12T12:00:00.000Z')

    expect(state?.collected_from).toEqual({ number: 2, date: '2027-03-30' })
  })
})

describe('a premium that has failed', () => {
  const at = '2026-12-15T09:00:00.000Z'
  scenario('is collected again on a working day', {
    given: [bound, activated, due, requested],
    when: { ...settle(debit.refused()), now: at, calendar },
    then: [failed(1, midnight('2026-12-29')), arrears(midnight('2026-03-17'))],
  })

  scenario('is asked for again at once where the team asks', {
    given: inArrears,
    when: { type: 'RetryPremium', premium_id: idOf(1), by: 'operator', now: '2026-12-25T09:00:00.000Z' },
    then: [retried(2)],
  })
})

describe('as long as a policy lives', () => {
  const days = Array.from({ length: 28 }, (_, index) => index + 1)

  /** What is called in a whole term, with changes of the day on the way. */
  const lived = (start_date: string, months: number, day: number, moves: readonly { after: number; day: number }[]) => {
    const end_date = monthsAfter(start_date, months)
    const told = firstOnDay(daysAfter(start_date, 10), day)
    const first_collection_on = workingDayFrom(calendar, told)
    const sold = { ...bound, start_date, end_date, collection_day: day, first_collection_on, collected_from: told }
    let state: PolicyState | undefined = stateOf(policy, [sold])
    const called: Extract<PolicyStreamEvent, { type: 'PremiumDue' }>[] = []
    const run = (command: PolicyCommand, now: string) => {
      const events = policy.decide(command, state)
      for (const event of events) {
        state = policy.evolve(state, event, { occurred_at: now })
        if (event.type === 'PremiumDue') called.push(event)
      }
      return events
    }
    const callUntil = (date: string) => {
      const now = `${date}T12:00:00.000Z`
      for (const command = { type: 'CallPremium', calendar, now, idOf } as const; run(command, now).length > 0;);
    }
    let today = start_date
    for (const move of moves) {
      if (daysAfter(today, move.after) >= end_date) break
      today = daysAfter(today, move.after)
      callUntil(today)
      const now = `${today}T12:00:00.000Z`
      const asked = { components: [], collection_day: move.day, collection_days: days, note: null, now }
      run({ type: 'AmendPolicy', calendar, ...asked }, now)
    }
    callUntil(end_date)
    return { called, told, end_date }
  }

  test('each premium is due on a working day, told ten days before, and none a month or more later than on other days', () => {
    const day = fc.constantFrom(...days)
    const sales = fc.record({
      start_date: fc.integer({ min: 0, max: 900 }).map((offset) => daysAfter('2025-12-01', offset)),
      months: fc.integer({ min: 3, max: 24 }),
      day,
      moves: fc.array(fc.record({ after: fc.nat(60), day }), { maxLength: 20 }),
    })
    fc.assert(
      fc.property(sales, ({ start_date, months, day: first, moves }) => {
        const { called, told, end_date } = lived(start_date, months, first, moves)
        expect(called.map(({ number }) => number)).toEqual(Array.from({ length: months }, (_, index) => index + 1))
        for (const [index, { number, due_on }] of called.entries()) {
          if (due_on !== end_date) expect(workingDayFrom(calendar, due_on)).toBe(due_on)
          expect(due_on <= end_date).toBe(true)
          expect(due_on <= workingDayFrom(calendar, daysAfter(monthsAfter(told, number), -1))).toBe(true)
          if (number <= months - 2) expect(due_on >= monthsAfter(told, number - 1)).toBe(true)
          const before = called[index - 1]
          if (before && due_on < workingDayUntil(calendar, end_date))
            expect(due_on >= daysAfter(before.due_on, 10)).toBe(true)
        }
      }),
    )
  })
})
