import { describe, expect, test } from 'vitest'
import type { OutreachEvent, StreamChoices } from '#domain/outreach/events.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { isOpen, isSpent, isWorking } from '#domain/outreach/stream-record.ts'
import { outreachStream, type OutreachCommand } from '#domain/outreach/stream.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import { contact_id, earlier, startedStream, streamCreated } from './builders.ts'

const scenario = scenariosOf(outreachStream)
const { stream_id } = streamCreated
const idOf = (number: number) => `0e300000-0000-4000-8000-${String(number).padStart(12, '0')}`
const after = (ms: number) => new Date(Date.parse(earlier) + ms).toISOString()
const minuteMs = 60_000

const created = (changes: Partial<StreamChoices>): OutreachEvent => {
  const choices = { ...streamCreated.choices, pace_per_hour: null, cost_ceiling_pence: 5, ...changes }
  return { ...streamCreated, choices }
}
const started: OutreachEvent = { type: 'OutreachStreamStarted', stream_id, next_issue_at: null }
const paused: OutreachEvent = { type: 'OutreachStreamPaused', stream_id }
const closed: OutreachEvent = { type: 'OutreachStreamClosed', stream_id }
const archived: OutreachEvent = { type: 'OutreachStreamArchived', stream_id }
const resumed: OutreachEvent = { type: 'OutreachStreamResumed', stream_id, next_issue_at: null }
const exceeded = (total_micro_pence: number, cost_ceiling_pence = 5): OutreachEvent => ({
  type: 'OutreachBudgetExceeded',
  total_micro_pence,
  cost_ceiling_pence,
})
/** Streams that do nothing at present, and why. */
const idle: readonly (readonly [string, readonly OutreachEvent[]])[] = [
  ['was not started', []],
  ['is paused', [started, paused]],
  ['is archived', [started, closed, archived]],
  ['was archived before it began', [archived]],
  ['has reached its ceiling', [started, exceeded(5_000_000)]],
]

describe('the messages that may be sent in an hour', () => {
  const asking = (...messages: readonly number[]) =>
    messages.map((count, index) => ({ message_id: idOf(index + 1), messages: count }))
  const permit = (requests: ReturnType<typeof asking>, now = earlier): OutreachCommand => ({
    type: 'PermitSends',
    requests,
    now,
  })
  const permitted = (...messages: readonly number[]): OutreachEvent => ({
    type: 'OutreachSendsPermitted',
    permits: asking(...messages),
  })
  const paced = (pace_per_hour: number | null) => [created({ pace_per_hour }), started]

  scenario('without a pace are all', {
    given: paced(null),
    when: permit(asking(1, 3, 500)),
    then: [permitted(1, 3, 500)],
  })
  scenario('are as many as the pace, and not one more', {
    given: paced(3),
    when: permit(asking(1, 1, 1, 1)),
    then: [permitted(1, 1, 1)],
  })
  scenario('are counted by each channel that a message goes by', {
    given: paced(4),
    when: permit(asking(2, 3, 1)),
    then: [permitted(2)],
  })
  scenario('are those of one message at least, also where it goes by more channels than the pace has places', {
    given: paced(2),
    when: permit(asking(3)),
    then: [permitted(2)],
  })
  scenario('are none where none is asked for', { given: paced(3), when: permit([]), then: [] })
  scenario('include all that were permitted before', {
    given: [...paced(4), permitted(1), permitted(2)],
    when: permit(asking(1, 1)),
    then: [permitted(1)],
  })
  scenario('are used up', { given: [...paced(3), permitted(1, 2)], when: permit(asking(1)), then: [] })
  scenario('are free again 62 minutes after they were permitted', {
    given: [...paced(3), permitted(3)],
    when: permit(asking(1), after(62 * minuteMs)),
    then: [permitted(1)],
  })
  scenario('are not free a moment before that', {
    given: [...paced(3), permitted(3)],
    when: permit(asking(1), after(62 * minuteMs - 1)),
    then: [],
  })
  scenario('are permitted again when a stream is resumed', {
    given: [...paced(1), paused, resumed],
    when: permit(asking(1)),
    then: [permitted(1)],
  })
  for (const [what, since] of idle)
    scenario(`are none of a stream that ${what}`, {
      given: [created({}), ...since],
      when: permit(asking(1)),
      then: [],
    })

  test('are forgotten when they count no longer', () => {
    const { evolve } = outreachStream
    const before = stateOf(outreachStream, [...paced(9), permitted(1)])
    const permitsAt = (ms: number) => evolve(before, permitted(2), { occurred_at: after(ms) }).permits
    const first = { at: earlier, messages: 1 }
    expect(permitsAt(62 * minuteMs - 1)).toEqual([first, { at: after(62 * minuteMs - 1), messages: 2 }])
    expect(permitsAt(62 * minuteMs)).toEqual([{ at: after(62 * minuteMs), messages: 2 }])
  })
})

const callOf = (number: number, message = number) => ({
  call_id: idOf(number),
  message_id: idOf(100 + message),
  contact_id,
})
const costing = (micro_pence: number, usd_micros = 1) => ({
  usd_micros,
  usd_rate: '0.8',
  rate_day: '2026-01-15',
  micro_pence,
  model: 'writer-1',
})
const reserved = (micro_pence: number, ...drafts: ReturnType<typeof callOf>[]): OutreachEvent => ({
  type: 'OutreachDraftsReserved',
  drafts,
  most: costing(micro_pence),
  asked_at: earlier,
})
const charged = (call: ReturnType<typeof callOf>, micro_pence: number): OutreachEvent => ({
  type: 'OutreachDraftCharged',
  ...call,
  ...costing(micro_pence),
})
const released = ({ call_id, message_id }: ReturnType<typeof callOf>): OutreachEvent => ({
  type: 'OutreachDraftReleased',
  call_id,
  message_id,
})
const reserve = (micro_pence: number, ...drafts: ReturnType<typeof callOf>[]): OutreachCommand => ({
  type: 'ReserveDrafts',
  drafts,
  most: costing(micro_pence),
  asked_at: earlier,
})

describe('a draft', () => {
  const [first, second, third] = [callOf(1), callOf(2), callOf(3)]
  const given = [created({ cost_ceiling_pence: 5 }), started]

  scenario('may be written while what was spent is below the ceiling', {
    given: [...given, reserved(1, first), charged(first, 4_999_999)],
    when: reserve(1, second, third),
    then: [reserved(1, second)],
  })
  scenario('may not be written while those under way can reach the ceiling', {
    given: [...given, reserved(5_000_000, first)],
    when: reserve(1, second),
    then: [],
  })
  scenario('may be written while those under way cannot reach the ceiling', {
    given: [...given, reserved(4_999_999, first)],
    when: reserve(1, second),
    then: [reserved(1, second)],
  })
  scenario('may be written when what was under way was released', {
    given: [...given, reserved(5_000_000, first), released(first)],
    when: reserve(1, second),
    then: [reserved(1, second)],
  })
  scenario('may be written when what was under way cost less', {
    given: [...given, reserved(5_000_000, first), charged(first, 10)],
    when: reserve(1, second),
    then: [reserved(1, second)],
  })
  scenario('may not be written when another one was released than the one that can reach the ceiling', {
    given: [...given, reserved(5_000_000, first), reserved(1, second), released(second)],
    when: reserve(1, third),
    then: [],
  })
  scenario('that is asked for again costs what the call before can have cost, and no call of another', {
    given: [...given, reserved(1_000_000, first, second)],
    when: reserve(1_000_000, callOf(4, 1)),
    then: [charged(first, 1_000_000), reserved(1_000_000, callOf(4, 1))],
  })
  scenario('that is asked for again is not written where the call before can have reached the ceiling', {
    given: [...given, reserved(5_000_000, first)],
    when: reserve(1, callOf(4, 1)),
    then: [charged(first, 5_000_000), exceeded(5_000_000)],
  })
  scenario('that is asked for again counts those of others that are under way', {
    given: [...given, reserved(2_500_000, first, second)],
    when: reserve(1, callOf(4, 1)),
    then: [charged(first, 2_500_000)],
  })
  scenario('that is asked for again counts once what the call before can have cost', {
    given: [...given, reserved(3_000_000, first)],
    when: reserve(1, callOf(4, 1)),
    then: [charged(first, 3_000_000), reserved(1, callOf(4, 1))],
  })
  scenario('that was free, and is asked for again where nothing may be spent, stops the stream once', {
    given: [created({ cost_ceiling_pence: 0 }), started, reserved(0, first)],
    when: reserve(1, callOf(4, 1)),
    then: [charged(first, 0), exceeded(0, 0)],
  })
  scenario('is not written where nothing is asked for', { given, when: reserve(1), then: [] })
  for (const [what, since] of idle)
    scenario(`is not written for a stream that ${what}`, {
      given: [created({}), ...since],
      when: reserve(1, first),
      then: [],
    })

  scenario('that was not asked for after all is released', {
    given: [...given, reserved(1, first)],
    when: { type: 'ReleaseDraft', call_id: first.call_id },
    then: [released(first)],
  })
  scenario('that nobody reserved is not released', {
    given: [...given, reserved(1, first)],
    when: { type: 'ReleaseDraft', call_id: second.call_id },
    then: [],
  })
  scenario('that cost nothing is released', {
    given: [...given, reserved(1, first)],
    when: { type: 'ChargeDraft', call_id: first.call_id, cost: costing(0, 0) },
    then: [released(first)],
  })
  scenario('is charged at what it cost', {
    given: [...given, reserved(3_000_000, first)],
    when: { type: 'ChargeDraft', call_id: first.call_id, cost: costing(2_000_000) },
    then: [charged(first, 2_000_000)],
  })
  scenario('is charged once', {
    given: [...given, reserved(3_000_000, first), charged(first, 2_000_000)],
    when: { type: 'ChargeDraft', call_id: first.call_id, cost: costing(2_000_000) },
    then: [],
  })
  scenario('that reaches the ceiling stops the stream', {
    given: [...given, reserved(5_000_000, first)],
    when: { type: 'ChargeDraft', call_id: first.call_id, cost: costing(5_000_000) },
    then: [charged(first, 5_000_000), exceeded(5_000_000)],
  })
  scenario('that passes the ceiling of a stopped stream does not stop it again', {
    given: [...given, reserved(1, first), exceeded(5_000_000)],
    when: { type: 'ChargeDraft', call_id: first.call_id, cost: costing(6_000_000) },
    then: [charged(first, 6_000_000)],
  })
  scenario('of nobody is settled, also where nothing may be spent', {
    given: [created({ cost_ceiling_pence: 0 }), started],
    when: { type: 'SettleDrafts', real_now: earlier },
    then: [],
  })
})

describe('a ceiling that is changed', () => {
  const call = callOf(1)
  const spent = [created({ cost_ceiling_pence: 5 }), started, reserved(1, call), charged(call, 3_000_000)]
  const chosen = (cost_ceiling_pence: number): OutreachEvent => ({
    type: 'OutreachStreamChanged',
    choices: { ...streamCreated.choices, pace_per_hour: null, cost_ceiling_pence },
    next_issue_at: null,
  })
  test.each([
    ['below what was spent stops the stream', 2, true],
    ['to what was spent stops it', 3, true],
    ['above what was spent does not', 4, false],
  ])('%s', (_what, ceiling, isStopped) => {
    expect(stateOf(outreachStream, [...spent, chosen(ceiling)]).stream?.budget_exceeded).toBe(isStopped)
  })
  test('of a stream that has spent nothing does not stop it, not even one of zero', () => {
    expect(stateOf(outreachStream, [created({}), started, chosen(0)]).stream?.budget_exceeded).toBe(false)
  })
  test.each([
    [4_999_999, false],
    [5_000_000, true],
    [5_000_001, true],
  ])('to five pence is reached by %d millionths of a penny: %s', (total, isReached) => {
    expect(isSpent(total, { cost_ceiling_pence: 5 })).toBe(isReached)
  })
})

describe('whether people join, and messages are drafted and sent,', () => {
  const streamAfter = (changes: Partial<OutreachStream>) => ({ ...startedStream(), ...changes })
  test.each<readonly [string, Partial<OutreachStream>, boolean, boolean]>([
    ['that runs', {}, true, true],
    ['that was not started', { started_at: null }, false, false],
    ['that was closed', { closed_at: earlier }, false, true],
    ['that is paused', { paused_at: earlier }, true, false],
    ['that is archived', { archived_at: earlier }, false, false],
    ['that has reached its ceiling', { budget_exceeded: true }, true, false],
    ['whose work was cancelled', { work_cancelled_at: earlier }, true, true],
  ])('in a stream %s', (_what, changes, joins, works) => {
    const stream = streamAfter(changes)
    expect([isOpen(stream), isWorking(stream)]).toEqual([joins, works])
  })
})
