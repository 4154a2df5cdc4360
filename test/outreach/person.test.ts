import { describe, expect, test } from 'vitest'
import { expectingOf } from '#domain/outreach/member.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import type { OutreachPersonEvent, StreamChoices } from '#domain/outreach/events.ts'
import type { PersonCommand } from '#domain/outreach/person.ts'
import {
  begun,
  circumstances,
  decided,
  ended,
  join,
  joined,
  message_id,
  note,
  now,
  ofMessage,
  place,
  queued,
  returned,
  sent,
  startedStream,
} from './builders.ts'
import { stateOf } from '../scenario.ts'

const mailshot = startedStream()
const types = (events: readonly OutreachPersonEvent[]) => events.map(({ type }) => type)
const begin = (stream = mailshot, changes = {}): PersonCommand => ({
  type: 'BeginSending',
  message_id,
  stream,
  reachable: ['email', 'sms'],
  now,
  ...changes,
})
const recordSent = (stream = mailshot, changes = {}): PersonCommand => ({
  type: 'RecordSent',
  message_id,
  stream,
  channel: 'email',
  reference: null,
  reachable: ['email', 'sms'],
  now,
  ...changes,
})
const recordFailure = (changes: object = {}, stream = mailshot): PersonCommand => ({
  type: 'RecordFailure',
  message_id,
  stream,
  channel: 'email',
  reason: 'no',
  is_final: false,
  reachable: ['email', 'sms'],
  now,
  ...changes,
})
const later = (days: number) => new Date(Date.parse(now) + days * 86_400_000).toISOString()

describe('each person is checked against consent as they join', () => {
  test('with it they are in, and their message is made with what is known of them', () => {
    expect(decided([], join(mailshot))).toMatchObject([
      { type: 'OutreachJoined', was_refused: false },
      { type: 'OutreachMessageQueued', subject: 'Hello Ann', body: 'Hello Ann, a word from us.', waits_for: 'sending' },
    ])
  })
  test('without it they are refused, once', () => {
    const [refused] = decided([], join(mailshot, { reachable: [] }))
    expect(refused).toMatchObject({ type: 'OutreachJoinRefused', reason: 'no_consent' })
    expect(refused && decided([refused], join(mailshot, { reachable: [] }))).toEqual([])
    expect(refused && decided([refused], join(mailshot))[0]).toMatchObject({
      type: 'OutreachJoined',
      was_refused: true,
    })
  })
  test('who is in it, or was, does not join again', () => {
    expect(decided([joined], join(mailshot))).toEqual([])
    expect(decided([joined, ended()], join(mailshot))).toEqual([])
  })
  test('409: nobody joins a stream that is closed or archived', () => {
    const { id: stream_id } = mailshot
    const closed = { type: 'OutreachStreamClosed', stream_id } as const
    const archived = { type: 'OutreachStreamArchived', stream_id } as const
    for (const since of [[closed], [closed, archived]])
      expect(() => decided([], join(startedStream({}, 'mailshot', since)))).toThrow('cannot join')
  })
  test('without auto_send a message waits for approval; drafted ones wait to be written first', () => {
    const waiting = (changes: Partial<StreamChoices>) => decided([], join(startedStream(changes)))[1]
    expect(waiting({ auto_send: false })).toMatchObject({ waits_for: 'approval' })
    expect(waiting({ message_mode: 'drafted' })).toMatchObject({ waits_for: 'draft', subject: null, body: null })
  })
})

describe('each person is checked against consent as each message sends', () => {
  test('with it, it goes by the first channel that reaches', () => {
    expect(decided([joined, queued], begin())).toMatchObject([{ type: 'OutreachSendingBegun', channel: 'email' }])
    expect(decided([joined, queued], begin(mailshot, { reachable: ['sms'] }))).toMatchObject([{ channel: 'sms' }])
  })
  test('without it nothing is sent', () => {
    expect(decided([joined, queued], begin(mailshot, { reachable: [] }))).toMatchObject([
      { type: 'OutreachMessageSkipped', reason: 'no_consent', is_person_skipped: true },
    ])
  })
  test('nor written: that would cost', () => {
    const check = { type: 'CheckMessage', message_id, ...circumstances(mailshot, { reachable: [] }) } as const
    expect(decided([joined, { ...queued, waits_for: 'draft' }], check)).toMatchObject([
      { type: 'OutreachMessageSkipped', reason: 'no_consent', was_unwritten: true },
    ])
  })
  test('who has left is sent nothing', () => {
    expect(decided([joined, queued, ended()], begin())).toMatchObject([{ reason: 'ended' }])
  })
  test('what is under way is cancelled for those who are in it, not for those who join afterwards', () => {
    const { id: stream_id } = mailshot
    const since = [
      { type: 'OutreachStreamClosed', stream_id },
      { type: 'OutreachWorkCancelled', stream_id },
      { type: 'OutreachStreamReopened', stream_id, next_issue_at: null },
    ] as const
    const stream = startedStream({}, 'mailshot', since)
    expect(decided([joined, queued], begin(stream))).toMatchObject([{ reason: 'cancelled' }])
    expect(types(decided([joined, queued], begin(stream), now))).toEqual(['OutreachSendingBegun'])
  })
  test('one that another process sends at this moment is left to it, for a minute', () => {
    const at = (ms: number) => new Date(Date.parse(now) + ms).toISOString()
    const given = [joined, queued, begun('sms')]
    expect(decided(given, begin(mailshot, { now: at(59_999) }), now)).toEqual([])
    // It may have gone out by then: the channel knows a repeated one.
    expect(decided(given, begin(mailshot, { now: at(60_000) }), now)).toMatchObject([{ channel: 'sms' }])
  })
  test('one that waits for approval or a draft is not sent', () => {
    for (const waits_for of ['approval', 'draft'] as const)
      expect(decided([joined, { ...queued, waits_for }], begin())).toEqual([])
  })
})

describe('all_channels', () => {
  const everywhere = startedStream({ all_channels: true })
  test('true: the message goes on every channel, one after the other', () => {
    const [one] = decided([joined, queued, begun()], recordSent(everywhere))
    expect(one).toMatchObject({ type: 'OutreachMessageSent', is_last: false })
    const after = one ? [joined, queued, begun(), one] : []
    expect(decided(after, begin(everywhere))).toMatchObject([{ channel: 'sms' }])
    expect(decided([...after, begun('sms')], recordSent(everywhere, { channel: 'sms' }))).toMatchObject([
      { is_last: true },
    ])
  })
  test('false: the first that reaches is the last', () => {
    expect(decided([joined, queued, begun()], recordSent())).toMatchObject([{ is_last: true }])
  })
})

describe('a message that a channel did not take', () => {
  test('is tried again after 1, 5, 30 and 120 minutes, then over the next channel', () => {
    const given: OutreachPersonEvent[] = [joined, queued]
    const minutes: (number | null)[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      given.push(begun())
      const [failed] = decided(given, recordFailure())
      if (failed?.type !== 'OutreachSendingFailed') throw new Error('It did not fail.')
      given.push(failed)
      minutes.push(failed.retry_at === null ? null : (Date.parse(failed.retry_at) - Date.parse(now)) / 60_000)
    }
    expect(minutes).toEqual([1, 5, 30, 120, null])
    expect(decided(given, begin(mailshot, { now: later(1) }))).toMatchObject([{ channel: 'sms' }])
  })
  test('is not tried before its time', () => {
    const [failed] = decided([joined, queued, begun()], recordFailure())
    expect(failed && decided([joined, queued, begun(), failed], begin())).toEqual([])
  })
  test('for good goes over the next channel at once; by none, it is errored', () => {
    const [one] = decided([joined, queued, begun()], recordFailure({ is_final: true }))
    expect(one).toMatchObject({ retry_at: null, is_last: false, is_errored: false })
    const after = one ? [joined, queued, begun(), one, begun('sms')] : []
    expect(decided(after, recordFailure({ is_final: true, channel: 'sms' }))).toMatchObject([
      { is_last: true, is_errored: true },
    ])
  })
})

describe('a message that was sent and could not be delivered', () => {
  const gone = [joined, queued, begun(), sent()]
  const back = decided(gone, returned(mailshot))

  test('goes by the next channel that reaches', () => {
    expect(back).toMatchObject([{ type: 'OutreachMessageUndelivered', goes_on: true }])
    expect(decided([...gone, ...back], begin())).toMatchObject([{ type: 'OutreachSendingBegun', channel: 'sms' }])
    const again = [...gone, ...back, begun('sms')]
    expect(decided(again, recordSent(mailshot, { channel: 'sms' }))).toMatchObject([{ is_last: true }])
  })
  test('is told once', () => {
    expect(decided([...gone, ...back], returned(mailshot))).toEqual([])
  })
  test('by the last channel is over', () => {
    const again = [...gone, ...back, begun('sms'), sent({ channel: 'sms' })]
    expect(decided(again, returned(mailshot, { channel: 'sms' }))).toMatchObject([{ goes_on: false }])
  })
  test.each([
    ['to whom nothing may be sent by another', returned(mailshot, { reachable: ['email'] }), gone],
    ['where it goes by every channel anyway', returned(startedStream({ all_channels: true })), gone],
    ['to somebody who has left', returned(mailshot), [...gone, ended()]],
    ['when a later one has gone out since', returned(mailshot), [...gone, sent({ message_id: place.member_id })]],
    ['of a stream that is not known', returned(undefined), gone],
  ] as const)('%s does not', (_what, told, given) => {
    expect(decided(given, told)).toMatchObject([{ type: 'OutreachMessageUndelivered', goes_on: false }])
  })
  test('before it is recorded that it was sent, goes on as soon as that is', () => {
    const early = [joined, queued, begun()]
    const news = decided(early, returned(mailshot))
    expect(news).toMatchObject([{ goes_on: true }])
    const then = decided([...early, ...news], recordSent())
    expect(then).toMatchObject([{ type: 'OutreachMessageSent', is_last: false }])
    expect(decided([...early, ...news, ...then], begin())).toMatchObject([{ channel: 'sms' }])
  })
  test('is of no message that was never on its way', () => {
    expect(decided([joined], returned(mailshot))).toEqual([])
  })
})

describe('follow_up_after_days', () => {
  const follow_up = { subject: 'Again', body: 'Still there?' }
  const stream = startedStream({ follow_up_after_days: 4, follow_up })
  const due = circumstances(stream, { now: later(4) })

  test('so long after the message, the follow-up is sent, once', () => {
    const [first] = decided([joined, queued, begun()], recordSent(stream))
    expect(first).toMatchObject({ next_at: later(4) })
    const given = first ? [joined, queued, begun(), first] : []
    expect(decided(given, { type: 'NextDue', ...due, now: later(3) })).toEqual([])
    const second = decided(given, { type: 'NextDue', ...due })
    expect(second).toMatchObject([{ role: 'follow_up', body: 'Still there?' }])
    expect(decided([...given, ...second], { type: 'NextDue', ...due })).toEqual([])
  })
  test('0: none', () => {
    expect(decided([joined, queued, begun()], recordSent())).toMatchObject([{ next_at: null }])
  })
  test('nobody who has left while a message was sent is due another', () => {
    expect(decided([joined, queued, begun(), ended()], recordSent(stream))).toMatchObject([{ next_at: null }])
  })
  test('who has replied, or came by the link, is sent none, also when it waits already', () => {
    const given = [joined, queued, begun(), sent({ next_at: later(4) })]
    for (const command of [note(stream), { type: 'NoteLanding', stream_id: stream.id } as const]) {
      const engaged = decided(given, command, now)
      expect(engaged.at(-1)).toMatchObject({ type: 'OutreachEngaged', next_at: null })
      const waiting = { ...queued, role: 'follow_up', number: 1, is_first: false } as const
      expect(decided([...given, waiting, ...engaged], begin(stream))).toMatchObject([{ reason: 'engaged' }])
    }
  })
})

describe('a sequence', () => {
  const text = (after_days: number, body: string) => ({ after_days, subject: body, body })
  const stream = startedStream({ texts: [text(0, 'one'), text(3, 'two')] }, 'sequence')
  test('has each text so many days after the one before', () => {
    const [first] = decided([joined, queued, begun()], recordSent(stream))
    expect(first).toMatchObject({ next_at: later(3) })
    const given = first ? [joined, queued, begun(), first] : []
    const due = circumstances(stream, { now: later(3) })
    expect(decided(given, { type: 'NextDue', ...due })).toMatchObject([{ role: 'text', number: 1, body: 'two' }])
  })
})

describe('outcomes', () => {
  const given = [joined, queued, begun(), sent()]
  test('replied, booked, applications and bound are counted once a person', () => {
    for (const outcome of ['replied', 'booked', 'applications', 'bound'] as const) {
      const counted = decided(given, note(mailshot, { outcome }))
      expect(counted[0]).toMatchObject({ type: 'OutreachOutcomeCounted', outcome })
      expect(decided([...given, ...counted], note(mailshot, { outcome }))).toEqual([])
    }
  })
  test('what happened before a message was sent counts for nothing', () => {
    expect(decided([joined, queued], note(mailshot))).toEqual([])
    expect(decided(given, note(mailshot, { happened_at: '2026-01-15T11:59:59.999Z' }))).toEqual([])
  })
  test('what happens before it is recorded that the channel took the message counts', () => {
    expect(types(decided([joined, queued, begun()], note(mailshot)))).toContain('OutreachOutcomeCounted')
  })
  test('also when that is recorded by the time that it is counted', () => {
    const taking = stateOf(outreachPerson, [joined, queued, begun()], '2026-01-15T12:00:00.000Z')
    const taken = outreachPerson.evolve(taking, sent(), { occurred_at: '2026-01-15T12:00:02.000Z' })
    const counted = (happened_at: string) => types(outreachPerson.decide(note(mailshot, { happened_at }), taken))
    expect(counted('2026-01-15T12:00:00.000Z')).toContain('OutreachOutcomeCounted')
    expect(counted('2026-01-15T11:59:59.999Z')).toEqual([])
  })
  test('what answers a message of the stream counts, though the clock of who heard of it is behind', () => {
    const happened_at = '2026-01-15T11:59:59.999Z'
    expect(types(decided(given, note(mailshot, { happened_at, answered: place.stream_id })))).toContain(
      'OutreachOutcomeCounted',
    )
    expect(decided(given, note(mailshot, { happened_at, answered: place.member_id }))).toEqual([])
    expect(decided([joined, queued], note(mailshot, { happened_at, answered: place.stream_id }))).toEqual([])
  })
  test('of somebody who has left still count', () => {
    expect(types(decided([...given, ended()], note(mailshot)))).toEqual(['OutreachOutcomeCounted'])
  })
})

describe('a drafted conversation', () => {
  const stream = startedStream({ message_mode: 'drafted' }, 'conversation')
  const given = [joined, queued, begun(), sent()]
  const answer = { role: 'answer', number: 1, waits_for: 'draft', answers: 'Yes' }
  test('answers what the person writes, ten times at most', () => {
    expect(decided(given, note(stream)).at(-1)).toMatchObject(answer)
    const tenth: OutreachPersonEvent = { ...queued, role: 'answer', number: 10, message_id: place.member_id }
    expect(types(decided([...given, tenth], note(stream)))).not.toContain('OutreachMessageQueued')
  })
  test('answers nothing that was not written', () => {
    expect(types(decided(given, note(stream, { wrote: null })))).not.toContain('OutreachMessageQueued')
  })
})

describe('a message that waits for approval', () => {
  const waiting = { ...queued, waits_for: 'approval' } as const
  const act = (type: 'ApproveMessage' | 'DiscardMessage') => ({ type, message_id }) as const
  test('is approved, edited or discarded', () => {
    expect(decided([joined, waiting], act('ApproveMessage'))).toMatchObject([{ type: 'OutreachMessageApproved' }])
    expect(decided([joined, waiting], act('DiscardMessage'))).toMatchObject([{ was_awaiting: true }])
    const edit = { type: 'EditMessage', message_id, subject: undefined, body: 'Other' } as const
    expect(decided([joined, waiting], edit)).toMatchObject([{ subject: 'Hello Ann', body: 'Other' }])
  })
  test('approved again, changes nothing; being sent, cannot be changed; of no message, is not found', () => {
    expect(decided([joined, queued], act('ApproveMessage'))).toEqual([])
    expect(() => decided([joined, queued, begun()], act('DiscardMessage'))).toThrow('being sent')
    expect(() => decided([joined], act('ApproveMessage'))).toThrow('no message')
    expect(() => decided([joined, { ...queued, waits_for: 'draft' }], act('ApproveMessage'))).toThrow('not written')
  })
})

describe('withdrawn consent', () => {
  const withdrawn = (granted: readonly string[]): PersonCommand => ({
    type: 'NoteConsent',
    streams: () => mailshot,
    isGranted: (_purpose, channel) => granted.includes(channel),
  })
  test('by all channels of a stream ends it for the person, and drops what waits', () => {
    expect(decided([joined, queued], withdrawn([]))).toMatchObject([
      { type: 'OutreachEnded', reason: 'consent_withdrawn', dropped: [{ message_id, waits_for: 'sending' }] },
    ])
    expect(decided([joined, queued], withdrawn(['sms']))).toEqual([])
  })
  test('what is being sent at this moment is not dropped', () => {
    expect(decided([joined, queued, begun()], withdrawn([]))).toMatchObject([{ dropped: [] }])
  })
  test('a person who was erased is in no stream any more', () => {
    expect(decided([joined, queued], { type: 'EndAll' })).toMatchObject([{ type: 'OutreachEnded', ...place }])
    expect(decided([joined, ended()], { type: 'EndAll' })).toEqual([])
  })
})

describe('an issue of a newsletter', () => {
  const stream = startedStream({}, 'newsletter', [
    {
      type: 'NewsletterIssueReleased',
      stream_id: mailshot.id,
      issue: 3,
      texts: [{ after_days: 0, subject: 'Issue', body: 'Issue three' }],
      next_issue_at: null,
    },
  ])
  const give = (issue: number): PersonCommand => ({ type: 'GiveIssue', issue, ...circumstances(stream) })
  const subscriber = { ...joined, subscribes: true, last_issue: 2 } as OutreachPersonEvent
  test('is given to each subscriber once', () => {
    const given = decided([subscriber], give(3))
    expect(given).toMatchObject([{ ...ofMessage, role: 'issue', number: 3, body: 'Issue three' }])
    expect(decided([subscriber, ...given], give(3))).toEqual([])
  })
  test('is not given to who joined after it, has left, or does not subscribe', () => {
    expect(decided([{ ...subscriber, last_issue: 3 } as OutreachPersonEvent], give(3))).toEqual([])
    expect(decided([subscriber, ended()], give(3))).toEqual([])
    expect(decided([joined], give(3))).toEqual([])
  })
})

describe('a person may be sent something more', () => {
  const from = (...events: readonly OutreachPersonEvent[]) =>
    expectingOf(stateOf(outreachPerson, events, now)).map(({ stream_id }) => stream_id)
  const due = { ...joined, next_at: later(9) } as OutreachPersonEvent
  const subscriber = { ...joined, subscribes: true } as OutreachPersonEvent
  const wasSent = [joined, queued, begun(), sent()]
  const sentBack = [...wasSent, ...decided(wasSent, returned(mailshot))]
  test.each<[string, readonly OutreachPersonEvent[]]>([
    ['while a message waits', [joined, queued]],
    ['while it is being sent', [joined, queued, begun()]],
    ['while the next is due', [due]],
    ['while the next of a sequence is due', [joined, queued, begun(), sent({ next_at: later(2) })]],
    ['while another channel follows', [joined, queued, begun(), sent({ is_last: false })]],
    ['while they subscribe', [subscriber]],
    ['once a message that came back goes by another channel', sentBack],
  ])('%s', (_when, events) => {
    expect(from(...events)).toEqual([place.stream_id])
  })
  test.each<[string, readonly OutreachPersonEvent[]]>([
    ['once the last is sent', [joined, queued, begun(), sent()]],
    ['once they have left', [subscriber, queued, ended([message_id])]],
    ['who has only joined', [joined]],
    [
      'once the draft is discarded',
      [joined, queued, { type: 'OutreachMessageDiscarded', ...ofMessage, was_awaiting: true }],
    ],
  ])('and nothing %s', (_when, events) => {
    expect(from(...events)).toEqual([])
  })
})
