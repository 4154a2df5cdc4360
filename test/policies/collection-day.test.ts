import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysAfter, firstOnDay, monthsAfter } from '#domain/dates.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { stateOf } from '../scenario.ts'
import { bound } from '../premiums/premium-builders.ts'
import { everyDay } from './calendars.ts'

/** What becomes of the schedule of premiums when the day of collection changes. */

const idOf = (number: number) => PremiumId.parse(`b1000000-0000-5000-8000-${String(number).padStart(12, '0')}`)
const days = Array.from({ length: 28 }, (_, index) => index + 1)
const at = (date: string) => `${date}T12:00:00.000Z`

type Sold = { readonly start_date: string; readonly months: number; readonly collection_day: number }

const sell = ({ start_date, months, collection_day }: Sold): PolicyStreamEvent => ({
  ...bound,
  start_date,
  end_date: monthsAfter(start_date, months),
  collection_day,
  first_collection_on: firstOnDay(daysAfter(start_date, 10), collection_day),
})

/** A policy that lives: what is decided becomes part of it. */
const policyOf = (sale: PolicyStreamEvent) => {
  const history: PolicyStreamEvent[] = [sale]
  let state: PolicyState | undefined = stateOf(policy, history)
  const run = (command: PolicyCommand, now: string): readonly PolicyStreamEvent[] => {
    const events = policy.decide(command, state)
    for (const event of events) state = policy.evolve(state, event, { occurred_at: now })
    history.push(...events)
    return events
  }
  return {
    next: () => state?.next_collection_on ?? null,
    moveTo: (collection_day: number, date: string) =>
      run(
        {
          type: 'AmendPolicy',
          calendar: everyDay,
          components: [],
          collection_day,
          collection_days: days,
          note: null,
          now: at(date),
        },
        at(date),
      ),
    /** Calls what is due until this day, as the timer does. */
    callUntil: (date: string) => {
      for (const now = at(date); run({ type: 'CallPremium', calendar: everyDay, now, idOf }, now).length > 0;);
    },
    called: () => history.flatMap((event) => (event.type === 'PremiumDue' ? [event] : [])),
  }
}

describe('another day of collection', () => {
  const sold = { start_date: '2026-11-22', months: 24, collection_day: 20 }

  test('moves the first collection by less than a month, however often it changes', () => {
    const { next, moveTo } = policyOf(sell(sold))
    expect(next()).toBe('2026-12-20')
    moveTo(7, '2026-11-22')
    expect(next()).toBe('2027-01-07')
    moveTo(5, '2026-11-22')
    expect(next()).toBe('2027-01-05')
    moveTo(20, '2026-11-23')
    expect(next()).toBe('2026-12-20')
  })

  test('leaves a collection where it is that there is no time left to tell of', () => {
    const { next, moveTo, callUntil } = policyOf(sell(sold))
    moveTo(22, '2026-12-13')
    expect(next()).toBe('2026-12-20')
    callUntil('2026-12-20')
    expect(next()).toBe('2027-01-22')
  })

  test('never collects a premium twice or not at all, nor earlier than told, nor a month later', () => {
    const moves = fc.array(fc.record({ after: fc.nat(60), day: fc.constantFrom(...days) }), { maxLength: 30 })
    const sales = fc.record({
      start_date: fc.integer({ min: 0, max: 730 }).map((offset) => daysAfter('2026-01-01', offset)),
      months: fc.integer({ min: 3, max: 36 }),
      collection_day: fc.constantFrom(...days),
    })
    fc.assert(
      fc.property(sales, moves, (sale, changes) => {
        const lived = policyOf(sell(sale))
        const end_date = monthsAfter(sale.start_date, sale.months)
        let today = sale.start_date
        for (const { after, day } of changes) {
          if (daysAfter(today, after) >= end_date) break
          today = daysAfter(today, after)
          lived.callUntil(today)
          lived.moveTo(day, today)
        }
        lived.callUntil(end_date)
        const called = lived.called()
        expect(called.map(({ number, covers_from }) => [number, covers_from])).toEqual(
          Array.from({ length: sale.months }, (_, index) => [index + 1, monthsAfter(sale.start_date, index)]),
        )
        expect(called.reduce((sum, { amount_pence }) => sum + amount_pence, 0)).toBe(sale.months * bound.premium_pence)
        const told = firstOnDay(daysAfter(sale.start_date, 10), sale.collection_day)
        for (const { number, due_on } of called) {
          expect(due_on <= end_date).toBe(true)
          expect(due_on < monthsAfter(told, number)).toBe(true)
          // The last two are due while there is cover, even where the first was collected late.
          if (number <= sale.months - 2) expect(due_on >= monthsAfter(told, number - 1)).toBe(true)
        }
      }),
    )
  })

  test('back and forth ends where it began', () => {
    fc.assert(
      fc.property(fc.constantFrom(...days), fc.array(fc.constantFrom(...days)), (collection_day, moves) => {
        const { next, moveTo } = policyOf(sell({ ...sold, collection_day }))
        const before = next()
        for (const day of moves) moveTo(day, sold.start_date)
        moveTo(collection_day, sold.start_date)
        expect(next()).toBe(before)
      }),
    )
  })
})
