import { describe, expect, test } from 'vitest'
import type { OutreachPersonEvent, StreamChoices } from '#domain/outreach/events.ts'
import { outreachPerson, type PersonCommand } from '#domain/outreach/person.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { messagesOf } from '#domain/outreach/sending.ts'
import { OutreachStreamId } from '#domain/values.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import {
  begun,
  circumstances,
  contact_id,
  earlier,
  ended,
  joined,
  message_id,
  now,
  ofMessage,
  place,
  queued,
  sent,
  startedStream,
  streamCreated,
} from './builders.ts'

const scenario = scenariosOf(outreachPerson)
const { stream_id, organisation_id } = streamCreated
const other_id = OutreachStreamId.parse('0e000000-0000-4000-8000-0000000000bb')
const otherMessage = '0e000000-0000-4000-8000-000000000002'
const mailshot = startedStream()
const archived = startedStream({}, 'mailshot', [{ type: 'OutreachStreamArchived', stream_id }])
const follow_up = { subject: 'Again', body: 'Still there?' }
const following = startedStream({ follow_up_after_days: 4, follow_up })
const later = (ms: number) => new Date(Date.parse(now) + ms).toISOString()
const dayMs = 86_400_000
const engaged: OutreachPersonEvent = { type: 'OutreachEngaged', ...place, by: 'activity', next_at: null }
const due = (next_at: string | null): OutreachPersonEvent => ({ type: 'OutreachRescheduled', ...place, next_at })

const skipped = (
  changes: Partial<Extract<OutreachPersonEvent, { type: 'OutreachMessageSkipped' }>> = {},
): OutreachPersonEvent => ({
  type: 'OutreachMessageSkipped',
  ...ofMessage,
  reason: 'no_consent',
  is_person_skipped: true,
  was_unwritten: false,
  ...changes,
})
const begin = (
  stream: OutreachStream = mailshot,
  changes: Partial<Extract<PersonCommand, { type: 'BeginSending' }>> = {},
): PersonCommand => ({ type: 'BeginSending', message_id, stream, reachable: ['email', 'sms'], now, ...changes })

describe('consent that is withdrawn', () => {
  const withdrawn = (isKnown = true): PersonCommand => ({
    type: 'NoteConsent',
    streams: () => (isKnown ? mailshot : undefined),
    isGranted: () => false,
  })
  const refused = {
    type: 'OutreachJoinRefused',
    ...place,
    organisation_id,
    contact_id,
    reason: 'no_consent',
  } as const satisfies OutreachPersonEvent
  const inOther: OutreachPersonEvent = { ...joined, stream_id: other_id }
  const queuedOther = { ...queued, stream_id: other_id, message_id: otherMessage } as const

  scenario('ends a stream, and drops what waits in it and in no other stream', {
    given: [joined, inOther, queued, queuedOther],
    when: { ...withdrawn(), streams: (id: string) => (id === stream_id ? mailshot : undefined) } as PersonCommand,
    then: [ended([message_id])],
  })
  scenario('of somebody who was erased ends each stream that they are in', {
    given: [joined, queued],
    when: { type: 'EndAll' },
    then: [ended([message_id])],
  })
  scenario('ends no stream that refused them', { given: [refused], when: withdrawn(), then: [] })
  scenario('ends no stream a second time', { given: [joined, ended()], when: withdrawn(), then: [] })
  scenario('ends no stream that is not known', { given: [joined], when: withdrawn(false), then: [] })
  test('is asked for by the purpose of the stream and each of its channels', () => {
    const asked: string[] = []
    const isGranted = (purpose: string, channel: string) => {
      asked.push(`${purpose} ${channel}`)
      return false
    }
    outreachPerson.decide(
      { type: 'NoteConsent', streams: () => mailshot, isGranted },
      stateOf(outreachPerson, [joined]),
    )
    expect(asked).toEqual(mailshot.channels.map((channel) => `${mailshot.purpose} ${channel}`))
  })
  test('leaves what was not dropped on its way, and nothing by time', () => {
    const given = [joined, queued, { ...queued, message_id: otherMessage }, due(now), ended([message_id])]
    const { messages, members } = stateOf(outreachPerson, given)
    expect(Object.keys(messages)).toEqual([otherMessage])
    expect(members[stream_id]).toMatchObject({ state: 'ended', subscribes: false, next_at: null })
  })
})

describe('a message that waits is checked before it is written', () => {
  const check = (stream: OutreachStream, reachable: readonly ('email' | 'sms')[] = []): PersonCommand => ({
    type: 'CheckMessage',
    message_id,
    ...circumstances(stream, { reachable }),
  })
  const draft = { ...queued, waits_for: 'draft' } as const
  const before = { ...queued, message_id: otherMessage } as const
  const sentBefore = [joined, before, begun(), sent({ message_id: otherMessage })]

  scenario('with consent it stays', { given: [joined, draft], when: check(mailshot, ['email']), then: [] })
  scenario('of no message, nothing follows', { given: [joined], when: check(mailshot), then: [] })
  scenario('the first one: the person is skipped, unwritten', {
    given: [joined, draft],
    when: check(mailshot),
    then: [skipped({ was_unwritten: true })],
  })
  scenario('one that was written: it was not unwritten', {
    given: [joined, queued],
    when: check(mailshot),
    then: [skipped()],
  })
  scenario('a further one after one was sent: the person is not skipped', {
    given: [...sentBefore, { ...draft, is_first: false }],
    when: check(mailshot),
    then: [skipped({ is_person_skipped: false })],
  })
  scenario('of somebody who never joined', {
    given: [queued],
    when: check(mailshot, ['email']),
    then: [skipped({ reason: 'ended', is_person_skipped: false })],
  })
})

describe('who is sent a message', () => {
  const begins: OutreachPersonEvent = { type: 'OutreachSendingBegun', ...ofMessage, channel: 'email' }
  const reason = (why: 'engaged' | 'cancelled') => [skipped({ reason: why })]

  for (const [what, changes, then] of [
    ['the first text', { role: 'text', number: 0 }, [begins]],
    ['a further text', { role: 'text', number: 1 }, reason('engaged')],
    ['the follow-up', { role: 'follow_up', number: 1 }, reason('engaged')],
    ['an issue', { role: 'issue', number: 3 }, [begins]],
    ['an answer', { role: 'answer', number: 1 }, [begins]],
  ] as const)
    scenario(`somebody who has replied already: ${what}`, {
      given: [joined, { ...queued, ...changes }, engaged],
      when: begin(),
      then,
    })
  scenario('somebody who has not replied: a further text too', {
    given: [joined, { ...queued, number: 1 }],
    when: begin(),
    then: [begins],
  })
  scenario('nobody of an archived stream', {
    given: [joined, queued],
    when: begin(archived),
    then: reason('cancelled'),
  })
  scenario('nobody who never joined', {
    given: [queued],
    when: begin(),
    then: [skipped({ reason: 'ended', is_person_skipped: false })],
  })
  scenario('nobody by a channel that has refused it, where no other reaches', {
    given: [
      joined,
      queued,
      begun(),
      {
        type: 'OutreachSendingFailed',
        ...ofMessage,
        channel: 'email',
        reason: 'no',
        retry_at: null,
        is_last: false,
        is_errored: false,
        next_at: null,
      },
    ],
    when: begin(mailshot, { reachable: ['email'] }),
    then: [skipped()],
  })
  scenario('somebody who had another one before and has withdrawn since was not skipped as a person', {
    given: [joined, { ...queued, message_id: otherMessage }, sent({ message_id: otherMessage }), queued],
    when: begin(mailshot, { reachable: [] }),
    then: [skipped({ is_person_skipped: false })],
  })
  scenario('nobody, where there is no such message', { given: [joined], when: begin(), then: [] })

  const failed = (retry_at: string): OutreachPersonEvent => ({
    type: 'OutreachSendingFailed',
    ...ofMessage,
    channel: 'email',
    reason: 'no',
    retry_at,
    is_last: false,
    is_errored: false,
    next_at: null,
  })
  for (const [what, retry_at, then] of [
    ['before it is to be tried again', later(1), []],
    ['when it is to be tried again', now, [begins]],
    ['after that', earlier, [begins]],
  ] as const)
    scenario(`a message that failed, ${what}`, {
      given: [joined, queued, begun(), failed(retry_at)],
      when: begin(),
      then,
    })

  test('it takes as many messages as channels are left, and one at least', () => {
    const message = stateOf(outreachPerson, [joined, queued]).messages[message_id]
    if (!message) throw new Error('There is no message.')
    const everywhere = startedStream({ all_channels: true })
    expect([
      messagesOf(mailshot, message, ['email', 'sms']),
      messagesOf(everywhere, message, ['email', 'sms']),
      messagesOf(everywhere, { ...message, sent: ['email'] }, ['email', 'sms']),
      messagesOf(everywhere, message, []),
    ]).toEqual([1, 2, 1, 1])
  })
})

describe('what follows a message that was sent', () => {
  const record = (
    stream: OutreachStream = following,
    changes: Partial<Extract<PersonCommand, { type: 'RecordSent' }>> = {},
  ): PersonCommand => ({
    type: 'RecordSent',
    message_id,
    stream,
    channel: 'email',
    reference: 'r-1',
    reachable: ['email'],
    now,
    ...changes,
  })
  const next = later(dayMs)

  for (const role of ['answer', 'issue', 'follow_up'] as const)
    scenario(`of the role ${role}: the person is due what they were due before`, {
      given: [joined, { ...queued, role, number: 1 }, due(next), begun()],
      when: record(),
      then: [sent({ role, reference: 'r-1', next_at: next })],
    })
  scenario('of the first text: the follow-up', {
    given: [joined, queued, due(next), begun()],
    when: record(),
    then: [sent({ reference: 'r-1', next_at: later(4 * dayMs) })],
  })
  scenario('to somebody who has replied: nothing', {
    given: [joined, queued, engaged, begun()],
    when: record(),
    then: [sent({ reference: 'r-1' })],
  })
  const two: StreamChoices['texts'] = [1, 2].map((after_days) => ({ after_days, subject: 'A', body: 'B' }))
  scenario('of a stream that is no sequence: no further text', {
    given: [joined, queued, begun()],
    when: record(startedStream({ texts: two }, 'conversation')),
    then: [sent({ reference: 'r-1' })],
  })
  for (const [what, given, channel] of [
    ['of a message that is not there', [joined], 'email'],
    ['of somebody who never joined', [queued, begun()], 'email'],
    ['over a channel by which it was not being sent', [joined, queued, begun()], 'sms'],
    ['of a message that was not being sent', [joined, queued], 'email'],
  ] as const) {
    scenario(`nothing ${what}`, { given, when: record(following, { channel }), then: [] })
    scenario(`nor when it failed, ${what}`, {
      given,
      when: { ...record(following, { channel }), type: 'RecordFailure', reason: 'no', is_final: true } as PersonCommand,
      then: [],
    })
  }
})

describe('what follows a message that a channel did not take', () => {
  const fail = (
    stream: OutreachStream,
    changes: Partial<Extract<PersonCommand, { type: 'RecordFailure' }>> = {},
  ): PersonCommand => ({
    type: 'RecordFailure',
    message_id,
    stream,
    channel: 'email',
    reason: 'no',
    is_final: true,
    reachable: ['email', 'sms'],
    now,
    ...changes,
  })
  const failed = (
    changes: Partial<Extract<OutreachPersonEvent, { type: 'OutreachSendingFailed' }>>,
  ): OutreachPersonEvent => ({
    type: 'OutreachSendingFailed',
    ...ofMessage,
    channel: 'email',
    reason: 'no',
    retry_at: null,
    is_last: true,
    is_errored: true,
    next_at: null,
    ...changes,
  })
  const everywhere = { ...following, all_channels: true }
  const next = later(dayMs)
  const byEmail = [joined, queued, begun(), sent({ is_last: false }), due(next), begun('sms')]

  scenario('for now, and no other channel reaches: it is tried again', {
    given: [joined, queued, begun()],
    when: fail(following, { is_final: false, reachable: ['email'] }),
    then: [failed({ retry_at: later(60_000), is_last: false, is_errored: false })],
  })
  scenario('for good, and no other channel reaches: it is errored, and what is due stays due', {
    given: [joined, queued, due(next), begun()],
    when: fail(following, { reachable: ['email'] }),
    then: [failed({ next_at: next })],
  })
  scenario('for good, and it went by another: it is no error, and the follow-up is due', {
    given: byEmail,
    when: fail(everywhere, { channel: 'sms' }),
    then: [failed({ channel: 'sms', is_errored: false, next_at: later(4 * dayMs) })],
  })
  scenario('for now, and it went by another: what is due stays due', {
    given: byEmail,
    when: fail(everywhere, { channel: 'sms', is_final: false }),
    then: [failed({ channel: 'sms', retry_at: later(60_000), is_last: false, is_errored: false, next_at: next })],
  })
  test('for good, by any channel: it is forgotten, and what is due is as was said', () => {
    const { messages, members } = stateOf(outreachPerson, [joined, queued, begun(), failed({ next_at: next })])
    expect([messages, members[stream_id]?.next_at]).toEqual([{}, next])
  })
})
