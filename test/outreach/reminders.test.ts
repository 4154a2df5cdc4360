import { describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import type { OutreachPersonEvent } from '#domain/outreach/events.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import type { Circumstances } from '#domain/outreach/queueing.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import { CustomerId } from '#domain/values.ts'
import { stateOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'

const created = samples.find(({ event }) => event.type === 'OutreachStreamCreated')?.event
if (!created) throw new Error('There is no sample of OutreachStreamCreated.')
const first = fromStored(outreachStream.events, created)
if (first.type !== 'OutreachStreamCreated') throw new Error('The sample is of another event.')
const choices = { ...first.choices, date_field: 'renewal_on', offset_days: -7, send_at_local_time: '10:00' }
const { stream } = stateOf(outreachStream, [
  { ...first, kind: 'reminder', choices: { ...choices, message_mode: 'fixed', auto_send: true } },
  { type: 'OutreachStreamStarted', stream_id: first.stream_id, next_issue_at: null },
])
if (!stream) throw new Error('There is no stream.')

const message_id = '0e000000-0000-4000-8000-000000000001'
const place = { stream_id: stream.id, member_id: '0e000000-0000-4000-8000-0000000000aa' }
const joined: OutreachPersonEvent = {
  type: 'OutreachJoined',
  ...place,
  organisation_id: first.organisation_id,
  contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000001'),
  columns: {},
  last_issue: 0,
  subscribes: false,
  next_at: '2026-03-25T10:00:00.000Z',
  by: { type: 'operator', id: null },
  was_refused: false,
}
const queued: OutreachPersonEvent = {
  type: 'OutreachMessageQueued',
  ...place,
  message_id,
  role: 'text',
  number: 0,
  waits_for: 'sending',
  is_first: true,
  subject: null,
  body: 'Your cover is to be renewed.',
  answers: null,
}

const now = '2026-01-20T12:00:00.000Z'
const circumstances = (date: string | null, at = now): Circumstances => ({
  stream,
  now: at,
  time_zone: 'Europe/London',
  reachable: ['email'],
  known: {},
  date,
  messageIdOf: () => message_id,
})
const put = (date: string | null, at = now, given: readonly OutreachPersonEvent[] = [joined]) =>
  outreachPerson.decide(
    { type: 'Reschedule', reminders: [circumstances(date, at)] },
    stateOf(outreachPerson, given, '2026-01-15T12:00:00.000Z'),
  )
const movedTo = (next_at: string | null) => [{ type: 'OutreachRescheduled', ...place, next_at }]

describe('a reminder of somebody whose date', () => {
  test('moves earlier is due earlier', () => {
    expect(put('2026-02-10')).toEqual(movedTo('2026-02-03T10:00:00.000Z'))
  })

  test('moves later is due later', () => {
    expect(put('2026-06-10')).toEqual(movedTo('2026-06-03T09:00:00.000Z'))
  })

  test('is the same as before stays as it is', () => {
    expect(put('2026-04-01')).toEqual([])
  })

  test.each([
    ['moves so far that the time is over', '2026-01-26'],
    ['is no date any more', null],
  ])('%s is not sent, until the date moves once more', (_what, date) => {
    expect(put(date)).toEqual(movedTo(null))
    const without: OutreachPersonEvent = { type: 'OutreachRescheduled', ...place, next_at: null }
    expect(put('2026-02-10', now, [joined, without])).toEqual(movedTo('2026-02-03T10:00:00.000Z'))
  })

  test('moves when it is due already is left to its timer', () => {
    expect(put('2026-01-26', '2026-03-25T10:00:00.000Z')).toEqual([])
  })

  test('moves when it was written already is not written again', () => {
    expect(put('2026-02-10', now, [joined, queued])).toEqual([])
  })

  test('moves when the person has left is not sent', () => {
    const left: OutreachPersonEvent = {
      type: 'OutreachEnded',
      ...place,
      reason: 'consent_withdrawn',
      was_subscribed: false,
      dropped: [],
    }
    expect(put('2026-02-10', now, [joined, left])).toEqual([])
  })
})

describe('what could not be delivered', () => {
  const told = {
    type: 'NoteUndelivered',
    stream_id: stream.id,
    message_id,
    channel: 'sms',
    address: '+447400100001',
    reason: null,
  } as const
  const note = (given: readonly OutreachPersonEvent[]) =>
    outreachPerson.decide(told, stateOf(outreachPerson, given, '2026-01-15T12:00:00.000Z')).map(({ type }) => type)

  test('is recorded although the gateway tells of it before it is recorded that the first message was taken', () => {
    const begun: OutreachPersonEvent = { type: 'OutreachSendingBegun', ...place, message_id, channel: 'sms' }
    expect(note([joined, queued, begun])).toEqual(['OutreachMessageUndelivered'])
  })

  test('is of no message that was never on its way', () => {
    expect(note([joined])).toEqual([])
  })
})
