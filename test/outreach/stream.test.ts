import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OutreachEvent, Schedule } from '#domain/outreach/events.ts'
import { microPenceOf, penceOf, rateOn } from '#domain/outreach/money.ts'
import { noSettings, type OutreachStream } from '#domain/outreach/record.ts'
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
const open = (changes: object, kind: OutreachStream['kind'] = 'sequence') => {
  const { decide, evolve, events, initialState } = outreachStream
  const first = fromStored(events, created)
  if (first.type !== 'OutreachStreamCreated') throw new Error('The sample is of another event.')
  const given: readonly OutreachEvent[] = [
    { ...first, kind, choices: { ...first.choices, ...changes } },
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

const callFor = (message_id: string, call_id = message_id) => ({ call_id, message_id, contact_id })
const costing = (micro_pence: number) => ({ usd_micros: 1, usd_rate: '1', rate_day: null, micro_pence, model: 'm' })
const reservedBy = (events: readonly OutreachEvent[]) =>
  events.flatMap((event) =>
    event.type === 'OutreachDraftsReserved' ? event.drafts.map((each) => each.message_id) : [],
  )

test('drafts pass the ceiling by one at most, however many are written at the same time', () => {
  const each = fc.integer({ min: 1, max: 900_000 })
  fc.assert(
    fc.property(fc.array(fc.array(each, { minLength: 1, maxLength: 8 }), { maxLength: 40 }), (rounds) => {
      const { put, stream } = open({ cost_ceiling_pence: 5 })
      let number = 0
      for (const costs of rounds) {
        const wanted = costs.map((cost) => ({ id: idOf(++number), cost }))
        const drafts = wanted.map(({ id }) => callFor(id))
        const granted = reservedBy(put({ type: 'ReserveDrafts', drafts, most: costing(900_000), asked_at: at(0) }))
        for (const { id, cost } of wanted.filter((one) => granted.includes(one.id)))
          put({ type: 'ChargeDraft', call_id: id, cost: costing(cost) })
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
  put({ type: 'ReserveDrafts', drafts: [callFor(idOf(1))], most: costing(1_000_000), asked_at: at(0) })
  const charged = put({ type: 'ChargeDraft', call_id: idOf(1), cost: costing(1_000_000) })
  const stopped = put({ type: 'PermitSends', requests: requests(1), now: at(1) })
  put({ type: 'ChangeStream', choices: { cost_ceiling_pence: 9 }, now: at(2), time_zone: 'Europe/London' })
  const resumed = put({ type: 'PermitSends', requests: requests(1), now: at(3) })

  expect(charged.map(({ type }) => type)).toEqual(['OutreachDraftCharged', 'OutreachBudgetExceeded'])
  expect([permitted(stopped), permitted(resumed)]).toEqual([0, 1])
})

describe('a stream of drafted messages without a ceiling above zero', () => {
  const reserving = (micro_pence: number): OutreachCommand => ({
    type: 'ReserveDrafts',
    drafts: [callFor(idOf(1))],
    most: costing(micro_pence),
    asked_at: at(0),
  })

  test('stops at once, and shows it, where drafts cost something', () => {
    const { put, stream } = open({ cost_ceiling_pence: 0 })
    const stopped = put(reserving(1))
    put({ type: 'ChangeStream', choices: { cost_ceiling_pence: 5 }, now: at(1), time_zone: 'Europe/London' })
    const raised = put(reserving(1))

    expect(stopped).toMatchObject([{ type: 'OutreachBudgetExceeded', cost_ceiling_pence: 0 }])
    expect(reservedBy(raised)).toEqual([idOf(1)])
    expect(stream()?.budget_exceeded).toBe(false)
  })

  test('is written where they cost nothing', () => {
    expect(reservedBy(open({ cost_ceiling_pence: 0 }).put(reserving(0)))).toEqual([idOf(1)])
  })
})

test('a newsletter whose work is cancelled has no further issue, until it is reopened', () => {
  const schedule = { cadence: 'weekly', weekday: 1, starts_on: '2026-01-01' } as const
  const { put, stream } = open({ schedule, send_at_local_time: '09:00', skip_if_unchanged: false }, 'newsletter')
  const steer = (act: 'pause' | 'resume' | 'stop' | 'cancel_work' | 'reopen') =>
    put({ type: 'SteerStream', act, now: at(0), time_zone: 'Europe/London' })
  steer('pause')
  steer('resume')
  steer('stop')
  const carriesOn = stream()?.next_issue_at
  steer('cancel_work')
  const cancelled = stream()?.next_issue_at
  const released = put({ type: 'ReleaseIssue', now: '2026-01-19T09:00:00.000Z', time_zone: 'Europe/London' })
  steer('reopen')

  expect([carriesOn, cancelled, stream()?.next_issue_at]).toEqual([
    '2026-01-19T09:00:00.000Z',
    null,
    '2026-01-19T09:00:00.000Z',
  ])
  expect(released).toEqual([])
})

describe('a call of the writer that nobody hears the end of', () => {
  const most = costing(700_000)
  const reserving = (message_id: string, call_id: string, ms = 0): OutreachCommand => ({
    type: 'ReserveDrafts',
    drafts: [callFor(message_id, call_id)],
    most,
    asked_at: at(ms),
  })
  const minutes = (count: number) => count * 60_000
  const settle = (ms: number): OutreachCommand => ({ type: 'SettleDrafts', real_now: at(ms) })
  const [message, first, second] = [idOf(1), idOf(11), idOf(12)]
  const lost = { type: 'OutreachDraftCharged', ...callFor(message, first), ...most }

  test('costs the most that it can have cost, after ten minutes', () => {
    const { put, stream } = open({ cost_ceiling_pence: 5 })
    put(reserving(message, first))
    expect(put(settle(minutes(9)))).toEqual([])
    expect(put(settle(minutes(10)))).toEqual([lost])
    expect(put(settle(minutes(11)))).toEqual([])
    expect(stream()?.total_micro_pence).toBe(700_000)
  })

  test('is not over because business time is moved meanwhile', () => {
    const { put, stream } = open({ cost_ceiling_pence: 5 })
    put(reserving(message, first), -minutes(60))
    expect(put(settle(minutes(9)))).toEqual([])
    expect(stream()?.total_micro_pence).toBe(0)
  })

  test('or when the message is asked for again, which may cost as much once more', () => {
    const { put, stream } = open({ cost_ceiling_pence: 5 })
    put(reserving(message, first))
    const again = put(reserving(message, second, minutes(1)), minutes(1))
    put({ type: 'ChargeDraft', call_id: second, cost: costing(100_000) })
    expect(again.map(({ type }) => type)).toEqual(['OutreachDraftCharged', 'OutreachDraftsReserved'])
    expect(stream()?.total_micro_pence).toBe(800_000)
  })

  test('stays counted as it was when it is heard of after all', () => {
    const { put, stream } = open({ cost_ceiling_pence: 5 })
    put(reserving(message, first))
    put(settle(minutes(10)))
    expect(put({ type: 'ChargeDraft', call_id: first, cost: costing(1) })).toEqual([])
    expect(put({ type: 'ReleaseDraft', call_id: first })).toEqual([])
    expect(stream()?.total_micro_pence).toBe(700_000)
  })

  test('can reach the ceiling', () => {
    const { put } = open({ cost_ceiling_pence: 1 })
    put({ type: 'ReserveDrafts', drafts: [callFor(message, first)], most: costing(1_000_000), asked_at: at(0) })
    expect(put(settle(minutes(10))).map(({ type }) => type)).toEqual(['OutreachDraftCharged', 'OutreachBudgetExceeded'])
    expect(put(reserving(message, second, minutes(11)))).toEqual([])
  })
})

describe('the reminders of a stream that runs', () => {
  const texts = [{ after_days: 0, subject: 'Hello', body: 'Hello' }]
  const reminder = { date_field: 'renewal_on', offset_days: -7, send_at_local_time: '10:00', texts }
  const change = (choices: object): OutreachCommand => ({ type: 'ChangeStream', choices, now: at(0), time_zone: 'UTC' })
  const moved = (events: readonly OutreachEvent[]) => events.some(({ type }) => type === 'OutreachRemindersToMove')

  test.each([
    { offset_days: -3 },
    { send_at_local_time: '09:00' },
    { date_field: 'born_on' },
    { date_field: null, date_column: 'birthday' },
  ])('are moved when %j is chosen', (choices) => {
    const { put } = open(reminder, 'reminder')
    expect([moved(put(change(choices))), moved(put(change(choices)))]).toEqual([true, false])
  })

  test('stay when something else is chosen', () => {
    expect(moved(open(reminder, 'reminder').put(change({ name: 'Another name' })))).toBe(false)
  })

  test('are moved until the last change is over', () => {
    const { put, stream } = open(reminder, 'reminder')
    put(change({ offset_days: -3 }))
    put(change({ offset_days: -2 }))
    put({ type: 'RemindersMoved', timing: 1 })
    expect(stream()).toMatchObject({ timing: 2, timing_moved: 1 })
    put({ type: 'RemindersMoved', timing: 2 })
    expect(put({ type: 'RemindersMoved', timing: 2 })).toEqual([])
  })
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
