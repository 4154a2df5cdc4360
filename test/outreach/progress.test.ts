import { describe, expect, test } from 'vitest'
import type { OutreachEvent, OutreachPersonEvent } from '#domain/outreach/events.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import { outreachMessages } from '../../projections/outreach/messages.ts'
import { outreachStreams } from '../../projections/outreach/streams.ts'
import { recorded } from '../recorded.ts'
import { begun, contact_id, ended, joined, ofMessage, place, queued, sent, streamCreated } from './builders.ts'

const { stream_id: id, organisation_id } = streamCreated
type Counts = NonNullable<Parameters<typeof outreachStreams.project>[0]>['counts']

/** What a stream counts after what happened to its people. */
const countsOf = (events: readonly OutreachPersonEvent[], ofStream: readonly OutreachEvent[] = []): Counts => {
  const key = { organisation_id, id }
  const all = [
    ...recorded(outreachStream.events, `outreach-${id}`, [streamCreated, ...ofStream]),
    ...recorded(outreachPerson.events, `outreach_person-${contact_id}`, events),
  ]
  let row: Parameters<typeof outreachStreams.project>[0]
  const shapes = [streamCreated, ...ofStream, ...events]
  for (const [index, event] of all.entries()) {
    const shape = shapes[index]
    if (!shape || !(shape.type in outreachStreams.events)) continue
    row = outreachStreams.project(row, shape as Parameters<typeof outreachStreams.project>[1], event, key)
  }
  if (!row) throw new Error('There is no stream.')
  return row.counts
}

/** How a message is shown after what happened to it. */
const shownAfter = (events: readonly OutreachPersonEvent[]) => {
  const key = { organisation_id, stream_id: id, id: ofMessage.message_id }
  const all = recorded(outreachPerson.events, `outreach_person-${contact_id}`, events)
  let row: Parameters<typeof outreachMessages.project>[0]
  for (const [index, event] of all.entries()) {
    const shape = events[index]
    if (!shape || !(shape.type in outreachMessages.events)) continue
    row = outreachMessages.project(row, shape as Parameters<typeof outreachMessages.project>[1], event, key)
  }
  return row?.document
}

const refused: OutreachPersonEvent = {
  type: 'OutreachJoinRefused',
  ...place,
  organisation_id,
  contact_id,
  reason: 'no_consent',
}
const undelivered = (goes_on: boolean): OutreachPersonEvent => ({
  type: 'OutreachMessageUndelivered',
  ...ofMessage,
  channel: 'email',
  address: 'ann@example.com',
  reason: 'No such mailbox',
  goes_on,
})
const failed = (is_errored: boolean): OutreachPersonEvent => ({
  type: 'OutreachSendingFailed',
  ...ofMessage,
  channel: 'email',
  reason: 'no',
  retry_at: null,
  is_last: true,
  is_errored,
  next_at: null,
})
const waiting = { ...queued, waits_for: 'approval' } as const
const drafting = { ...queued, waits_for: 'draft' } as const
const drafted = (waits_for: 'approval' | 'sending'): OutreachPersonEvent => {
  const { type: _type, role: _role, number: _number, answers: _answers, ...message } = queued
  return { ...message, type: 'OutreachMessageDrafted', waits_for }
}

describe('the progress of a stream', () => {
  test.each<readonly [string, readonly OutreachPersonEvent[], Partial<Counts>]>([
    ['rows: everybody who was to join', [joined], { rows: 1, analysed: 0, skipped: 0 }],
    ['skipped: without consent', [refused], { rows: 1, analysed: 1, skipped: 1 }],
    ['joined after all', [refused, { ...joined, was_refused: true } as OutreachPersonEvent], { rows: 1, skipped: 0 }],
    ['analysed: the first message is written', [joined, queued], { analysed: 1, awaiting_approval: 0 }],
    ['being drafted', [joined, drafting], { analysed: 0, awaiting_approval: 0 }],
    ['drafted', [joined, drafting, drafted('approval')], { analysed: 1, awaiting_approval: 1 }],
    ['awaiting approval', [joined, waiting], { analysed: 1, awaiting_approval: 1 }],
    ['approved', [joined, waiting, { type: 'OutreachMessageApproved', ...ofMessage }], { awaiting_approval: 0 }],
    [
      'discarded',
      [joined, waiting, { type: 'OutreachMessageDiscarded', ...ofMessage, was_awaiting: true }],
      { awaiting_approval: 0 },
    ],
    [
      'left while it waited',
      [
        joined,
        waiting,
        { ...ended(), dropped: [{ message_id: ofMessage.message_id, waits_for: 'approval' }] } as OutreachPersonEvent,
      ],
      { awaiting_approval: 0 },
    ],
    ['sent', [joined, queued, begun(), sent()], { sent: 1, errored: 0 }],
    ['errored: by no channel', [joined, queued, begun(), failed(true)], { sent: 0, errored: 1 }],
    ['by another channel after all', [joined, queued, begun(), failed(false)], { errored: 0 }],
    ['could not be delivered', [joined, queued, begun(), sent(), undelivered(false)], { sent: 1, errored: 1 }],
    ['came back and goes on', [joined, queued, begun(), sent(), undelivered(true)], { sent: 1, errored: 0 }],
    ['subscribed', [{ ...joined, subscribes: true } as OutreachPersonEvent], { subscribed: 1 }],
    [
      'subscribes no more',
      [
        { ...joined, subscribes: true } as OutreachPersonEvent,
        { ...ended(), was_subscribed: true } as OutreachPersonEvent,
      ],
      { subscribed: 0 },
    ],
    [
      'outcomes',
      [joined, { type: 'OutreachOutcomeCounted', ...place, outcome: 'booked' }],
      { outcomes: { replied: 0, booked: 1, applications: 0, bound: 0 } },
    ],
    [
      'a survey, answered twice',
      [true, false].map((is_first): OutreachPersonEvent => ({
        type: 'OutreachSurveyAnswered',
        ...place,
        answer: '9',
        follow_up_answer: null,
        is_first,
      })),
      { survey_answered: 1 },
    ],
  ])('%s', (_what, events, counts) => {
    expect(countsOf(events)).toMatchObject(counts)
  })

  test('issues of a newsletter that were sent, and not those that were left out', () => {
    const texts = [{ after_days: 0, subject: 'Issue', body: 'Issue' }]
    const released = { type: 'NewsletterIssueReleased', stream_id: id, issue: 1, texts, next_issue_at: null } as const
    const skipped = { type: 'NewsletterIssueSkipped', stream_id: id, next_issue_at: null } as const
    expect(countsOf([], [released, skipped])).toMatchObject({ issues_sent: 1 })
  })
})

describe('a message is shown', () => {
  test.each<readonly [string, readonly OutreachPersonEvent[], string]>([
    ['drafting', [drafting], 'drafting'],
    ['awaiting approval', [waiting], 'awaiting_approval'],
    ['to be sent', [queued], 'to_send'],
    ['being sent', [queued, begun()], 'sending'],
    ['sent', [queued, begun(), sent()], 'sent'],
    ['to be sent by the next channel', [queued, begun(), sent({ is_last: false })], 'to_send'],
    ['errored when it could not be delivered', [queued, begun(), sent(), undelivered(false)], 'errored'],
    [
      'errored when that was told before it was recorded as sent',
      [queued, begun(), undelivered(false), sent()],
      'errored',
    ],
    ['to be sent when it came back and goes on', [queued, begun(), sent(), undelivered(true)], 'to_send'],
    ['skipped when its person has left', [queued, ended([ofMessage.message_id])], 'skipped'],
  ])('%s', (_what, events, state) => {
    expect(shownAfter(events)?.state).toBe(state)
  })

  test('with why it could not be delivered', () => {
    expect(shownAfter([queued, begun(), undelivered(false), sent()])).toMatchObject({
      reason: 'No such mailbox',
      sent: [{ channel: 'email' }],
    })
  })
})
