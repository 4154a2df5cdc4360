import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OutreachEvent, Schedule } from '#domain/outreach/events.ts'
import { microPenceOf, penceOf, rateOn } from '#domain/outreach/money.ts'
import { noSettings } from '#domain/outreach/record.ts'
import { nextIssueAfter, reminderAt } from '#domain/outreach/schedule.ts'
import { outreachStream, type OutreachCommand } from '#domain/outreach/stream.ts'
import { fromStored } from '#domain/event.ts'
import { CustomerId } from '#domain/values.ts'
import { samples } from '../stored-events/samples.ts'

const created = samples.find(({ event }) => event.type === 'OutreachStreamCreated')?.event
if (!created) throw new Error('There is no sample of OutreachStreamCreated.')
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const start = Date.parse('2026-01-16T12:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()
const idOf = (number: number) => `0e200000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** A started stream that commands are put to, one after the other. */
const open = (changes: object) => {
  const { decide, evolve, events, initialState } = outreachStream
  const first = fromStored(events, created)
  if (first.type !== 'OutreachStreamCreated') throw new Error('The sample is of another event.')
  const given: readonly OutreachEvent[] = [
    { ...first, choices: { ...first.choices, ...changes } },
    { type: 'OutreachStreamStarted', stream_id: first.stream_id, next_issue_at: null },
  ]
  let state = given.reduce((before, event) => evolve(before, event, { occurred_at: at(0) }), initialState)
  return {
    put: (command: OutreachCommand, ms = 0) => {
      const decided = decide(command, state)
      state = decided.reduce((before, event) => evolve(before, event, { occurred_at: at(ms) }), state)
      return decided
    },
    stream: () => state.stream,
  }
}

const permitted = (events: readonly OutreachEvent[]) =>
  events
    .flatMap((event) => (event.type === 'OutreachSendsPermitted' ? event.permits : []))
    .reduce((sum, { messages }) => sum + messages, 0)
const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ message_id: idOf(index), messages: 1 }))

test('no hour has more messages than the pace, wherever it begins and whenever within a minute they leave', () => {
  const asked = fc.array(
    fc.record({ after: fc.integer({ min: 0, max: 3_000_000 }), count: fc.integer({ min: 1, max: 9 }) }),
    {
      maxLength: 60,
    },
  )
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 12 }), (rounds, pace_per_hour) => {
      const { put } = open({ pace_per_hour })
      const sent: { readonly earliest: number; readonly latest: number }[] = []
      let ms = 0
      for (const { after, count } of rounds) {
        ms += after
        const granted = permitted(put({ type: 'PermitSends', requests: requests(count), now: at(ms) }, ms))
        for (let each = 0; each < granted; each++) sent.push({ earliest: ms, latest: ms + 60_000 })
      }
      for (const { latest } of sent) {
        const within = sent.filter((other) => other.latest >= latest && other.earliest < latest + 3_600_000)
        expect(within.length).toBeLessThanOrEqual(pace_per_hour)
      }
    }),
    { numRuns: 200 },
  )
})

test('drafts pass the ceiling by one at most, however many are written at the same time', () => {
  const each = fc.integer({ min: 1, max: 900_000 })
  fc.assert(
    fc.property(fc.array(fc.array(each, { minLength: 1, maxLength: 8 }), { maxLength: 40 }), (rounds) => {
      const { put, stream } = open({ cost_ceiling_pence: 5 })
      let number = 0
      for (const costs of rounds) {
        const wanted = costs.map((cost) => ({ id: idOf(++number), cost }))
        const message_ids = wanted.map(({ id }) => id)
        const reserved = put({ type: 'ReserveDrafts', message_ids, each_micro_pence: 900_000, now: at(0) })
        const granted = reserved.flatMap((event) => (event.type === 'OutreachDraftsReserved' ? event.message_ids : []))
        for (const { id, cost } of wanted.filter((one) => granted.includes(one.id)))
          put({
            type: 'ChargeDraft',
            message_id: id,
            contact_id,
            usd_micros: 1,
            usd_rate: '1',
            rate_day: null,
            micro_pence: cost,
            model: 'm',
          })
      }
      const { total_micro_pence, budget_exceeded } = stream() ?? { total_micro_pence: 0, budget_exceeded: false }
      expect(total_micro_pence).toBeLessThan(5_000_000 + 900_000)
      expect(budget_exceeded).toBe(total_micro_pence >= 5_000_000)
    }),
    { numRuns: 200 },
  )
})

test('a stream whose ceiling is reached permits nothing until it is raised', () => {
  const { put } = open({ cost_ceiling_pence: 1 })
  const cost = { contact_id, usd_micros: 1, usd_rate: '1', rate_day: null, micro_pence: 1_000_000, model: 'm' }
  const charged = put({ type: 'ChargeDraft', message_id: idOf(1), ...cost })
  const stopped = put({ type: 'PermitSends', requests: requests(1), now: at(1) })
  put({ type: 'ChangeStream', choices: { cost_ceiling_pence: 9 }, now: at(2), time_zone: 'Europe/London' })
  const resumed = put({ type: 'PermitSends', requests: requests(1), now: at(3) })

  expect(charged.map(({ type }) => type)).toEqual(['OutreachDraftCharged', 'OutreachBudgetExceeded'])
  expect([permitted(stopped), permitted(resumed)]).toEqual([0, 1])
})

describe('the next issue of a newsletter', () => {
  const next = (schedule: Schedule, instant: string, time = '09:00') =>
    nextIssueAfter(schedule, time, 'Europe/London', instant)
  const starts_on = '2026-01-01'

  test.each<readonly [string, Schedule, string, string]>([
    ['weekly', { cadence: 'weekly', weekday: 1, starts_on }, '2026-01-16T12:00:00.000Z', '2026-01-19T09:00:00.000Z'],
    [
      'not the same instant again',
      { cadence: 'weekly', weekday: 1, starts_on },
      '2026-01-19T09:00:00.000Z',
      '2026-01-26T09:00:00.000Z',
    ],
    [
      'across the change to summer time',
      { cadence: 'weekly', weekday: 1, starts_on },
      '2026-03-23T09:00:00.000Z',
      '2026-03-30T08:00:00.000Z',
    ],
    [
      'across the change to winter time',
      { cadence: 'weekly', weekday: 1, starts_on },
      '2026-10-19T08:00:00.000Z',
      '2026-10-26T09:00:00.000Z',
    ],
    [
      'fortnightly from the first such day',
      { cadence: 'fortnightly', weekday: 5, starts_on },
      '2026-01-02T09:00:00.000Z',
      '2026-01-16T09:00:00.000Z',
    ],
    [
      'on the 31st of a month of 30 days: its last',
      { cadence: 'monthly', day: 31, starts_on },
      '2026-04-01T00:00:00.000Z',
      '2026-04-30T08:00:00.000Z',
    ],
    [
      'on the last day of February',
      { cadence: 'monthly', day: 'last', starts_on },
      '2026-02-01T00:00:00.000Z',
      '2026-02-28T09:00:00.000Z',
    ],
    [
      'on the second Tuesday',
      { cadence: 'monthly', week: 'second', weekday: 2, starts_on },
      '2026-02-01T00:00:00.000Z',
      '2026-02-10T09:00:00.000Z',
    ],
    [
      'on the last Friday',
      { cadence: 'monthly', week: 'last', weekday: 5, starts_on },
      '2026-02-01T00:00:00.000Z',
      '2026-02-27T09:00:00.000Z',
    ],
    [
      'not before it starts',
      { cadence: 'weekly', weekday: 1, starts_on: '2026-06-01' },
      '2026-01-01T00:00:00.000Z',
      '2026-06-01T08:00:00.000Z',
    ],
  ])('%s', (_name, schedule, instant, expected) => {
    expect(next(schedule, instant)).toBe(expected)
  })

  test('at a time that the clocks leave out, and at one that comes twice', () => {
    const sunday: Schedule = { cadence: 'weekly', weekday: 7, starts_on }
    expect(next(sunday, '2026-03-28T00:00:00.000Z', '01:30')).toBe('2026-03-29T01:30:00.000Z')
    expect(next(sunday, '2026-10-24T00:00:00.000Z', '01:30')).toBe('2026-10-25T00:30:00.000Z')
  })
})

test('a reminder is due at its time on a day before its date', () => {
  expect(reminderAt('2026-04-02', -7, '10:00', 'Europe/London')).toBe('2026-03-26T10:00:00.000Z')
  expect(reminderAt('2026-03-25', 7, '10:00', 'Europe/London')).toBe('2026-04-01T09:00:00.000Z')
})

test('a cost in dollars is converted at the rate of its day, or the last known one, and rounded to a penny', () => {
  const rates = [
    { day: '2026-01-01', usd_rate: '0.8' },
    { day: '2026-01-10', usd_rate: '0.7912' },
  ]
  const settings = { ...noSettings, exchange_rates: rates }
  expect(rateOn(settings, '2026-01-09')).toEqual(rates[0])
  expect(rateOn(settings, '2026-02-01')).toEqual(rates[1])
  expect(microPenceOf(3_100, '0.7912')).toBe(245_272)
  expect([penceOf(1_499_999), penceOf(1_500_000)]).toEqual([1, 2])
})
