import { describe, test, expect } from 'vitest'
import type { OutreachEvent, OutreachPersonEvent, Schedule } from '#domain/outreach/events.ts'
import { outreachPerson, type PersonCommand } from '#domain/outreach/person.ts'
import type { Circumstances } from '#domain/outreach/queueing.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { isIssueDay, nextIssueAfter } from '#domain/outreach/schedule.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  circumstances,
  contact_id,
  earlier,
  join,
  joined,
  message_id,
  now,
  place,
  queued,
  sent,
  startedStream,
  streamCreated,
} from './builders.ts'

const scenario = scenariosOf(outreachPerson)
const { stream_id, organisation_id } = streamCreated
const later = '2026-01-20T12:00:00.001Z'
const archived: OutreachEvent = { type: 'OutreachStreamArchived', stream_id }
const closed: OutreachEvent = { type: 'OutreachStreamClosed', stream_id }
const cancelled: OutreachEvent = { type: 'OutreachWorkCancelled', stream_id }

const reminding = { date_field: 'renewal_on', offset_days: -7, send_at_local_time: '12:00' }
const reminder = startedStream(reminding, 'reminder')
/** The reminder of this date is due at the time of the commands. */
const today = '2026-01-27'
const mailshot = startedStream()
const says = { subject: 'Hello Ann', body: 'Hello Ann, a word from us.' }

type Joined = Extract<OutreachPersonEvent, { type: 'OutreachJoined' }>
const isIn = (changes: Partial<Joined> = {}): OutreachPersonEvent => ({ ...(joined as Joined), ...changes })
const refused = (reason: 'no_consent' | 'no_date'): OutreachPersonEvent => ({
  type: 'OutreachJoinRefused',
  ...place,
  organisation_id,
  contact_id,
  reason,
})
const gone = (reason: 'cancelled' | 'no_date', changes: object = {}): OutreachPersonEvent => ({
  type: 'OutreachEnded',
  ...place,
  reason,
  was_subscribed: false,
  dropped: [],
  ...changes,
})
const movedTo = (next_at: string | null): OutreachPersonEvent => ({ type: 'OutreachRescheduled', ...place, next_at })

describe('who joins', () => {
  scenario('a mailshot has its text at once', {
    given: [],
    when: join(mailshot),
    then: [isIn(), { ...queued, ...says }],
  })
  scenario('a newsletter waits for its next issue, as a subscriber', {
    given: [],
    when: join(
      startedStream({}, 'newsletter', [
        { type: 'NewsletterIssueReleased', stream_id, issue: 3, texts: [], next_issue_at: null },
      ]),
    ),
    then: [isIn({ last_issue: 3, subscribes: true })],
  })
  scenario('a reminder waits for its day', {
    given: [],
    when: join(reminder, { date: '2026-02-27' }),
    then: [isIn({ next_at: '2026-02-20T12:00:00.000Z' })],
  })
  scenario('a reminder at the very time that it is due is in it', {
    given: [],
    when: join(reminder, { date: today }),
    then: [isIn({ next_at: now })],
  })
  scenario('a reminder whose time is over is refused', {
    given: [],
    when: join(reminder, { date: today, now: later }),
    then: [refused('no_date')],
  })
  scenario('a reminder without a date is refused', { given: [], when: join(reminder), then: [refused('no_date')] })
  for (const field of ['offset_days', 'send_at_local_time'])
    scenario(`a reminder of long ago that has no ${field} is refused`, {
      given: [],
      when: join(startedStream({ ...reminding, [field]: null }, 'reminder'), { date: today }),
      then: [refused('no_date')],
    })
  scenario('a reminder without a date, and without consent, is refused for want of consent', {
    given: [],
    when: join(reminder, { reachable: [] }),
    then: [refused('no_consent')],
  })
  scenario('a reminder again, still without a date, is refused once', {
    given: [refused('no_date')],
    when: join(reminder),
    then: [],
  })
  scenario('a reminder again, with a date, is in it', {
    given: [refused('no_date')],
    when: join(reminder, { date: today }),
    then: [isIn({ next_at: now, was_refused: true })],
  })
  for (const [what, since] of [
    ['is closed', [closed]],
    ['is archived', [archived]],
  ] as const)
    scenario(`a stream that ${what} is told so`, {
      given: [],
      when: join(startedStream({}, 'mailshot', since)),
      then: rejected('conflict', undefined, `People cannot join ${mailshot.slug}`),
    })
  scenario('several streams at once is in those that are open', {
    given: [],
    when: {
      type: 'JoinSeveral',
      joins: [join(startedStream({}, 'mailshot', [closed])), join(mailshot)].filter((each) => each.type === 'Join'),
    },
    then: [isIn(), { ...queued, ...says }],
  })
})

describe('somebody who is due a message', () => {
  const due = (stream: OutreachStream, changes: Partial<Circumstances> = {}): PersonCommand => ({
    type: 'NextDue',
    ...circumstances(stream, changes),
  })
  const dueNow = isIn({ next_at: now })
  const text = { ...queued, ...says }
  const follow_up = { subject: null, body: 'Still there?' }
  const following = startedStream({ follow_up_after_days: 4, follow_up })
  const followsUp: OutreachPersonEvent = {
    ...queued,
    role: 'follow_up',
    number: 1,
    is_first: false,
    ...follow_up,
  }
  const two = [1, 2].map((number) => ({ after_days: number, subject: `Text ${number}`, body: `This is ${number}.` }))
  const sequence = startedStream({ texts: two }, 'sequence')

  scenario('is not due it before its time', { given: [isIn({ next_at: later })], when: due(mailshot), then: [] })
  scenario('is given it at its time', { given: [dueNow], when: due(mailshot), then: [text] })
  scenario('but not by time is given none', { given: [isIn()], when: due(mailshot), then: [] })
  scenario('but never joined is given none', { given: [], when: due(mailshot), then: [] })
  for (const [what, since] of [
    ['was archived', [archived]],
    ['has had its work cancelled', [closed, cancelled]],
  ] as const)
    scenario(`of a stream that ${what} is in it no longer`, {
      given: [dueNow, queued, movedTo(now)],
      when: due(startedStream({}, 'mailshot', since)),
      then: [gone('cancelled', { dropped: [{ message_id, waits_for: 'sending' }] })],
    })

  scenario('of a reminder, by the date as it is now', {
    given: [dueNow],
    when: due(reminder, { date: today }),
    then: [text],
  })
  scenario('of a reminder whose date has moved is due it then', {
    given: [dueNow],
    when: due(reminder, { date: '2026-01-28' }),
    then: [movedTo('2026-01-21T12:00:00.000Z')],
  })
  scenario('of a reminder whose date is gone is in it no longer', {
    given: [dueNow],
    when: due(reminder),
    then: [gone('no_date')],
  })
  scenario('of the follow-up of a reminder is given it, whatever became of the date', {
    given: [isIn(), queued, sent({ next_at: now })],
    when: due({ ...following, ...reminder, follow_up, follow_up_after_days: 4 }),
    then: [followsUp],
  })
  scenario('is given the next text of a sequence, also while the first waits', {
    given: [isIn(), queued, movedTo(now)],
    when: due(sequence),
    then: [{ ...queued, number: 1, is_first: false, subject: 'Text 2', body: 'This is 2.' }],
  })
  scenario('is given the follow-up after the texts', {
    given: [isIn(), queued, sent({ next_at: now })],
    when: due(following),
    then: [followsUp],
  })
  scenario('is given the follow-up once', {
    given: [isIn(), queued, sent(), followsUp, movedTo(now)],
    when: due(following),
    then: [movedTo(null)],
  })
  scenario('is given nothing after the texts of a stream without a follow-up', {
    given: [isIn(), queued, sent({ next_at: now })],
    when: due(mailshot),
    then: [movedTo(null)],
  })

  const reschedule = (stream: OutreachStream, date: string | null = '2026-02-27'): PersonCommand => ({
    type: 'Reschedule',
    reminders: [circumstances(stream, { date })],
  })
  scenario('by a date of a stream that is no reminder stays due as before', {
    given: [isIn({ next_at: later })],
    when: reschedule({ ...reminder, kind: 'mailshot' }),
    then: [],
  })
  scenario('of a reminder that they never joined is due nothing', { given: [], when: reschedule(reminder), then: [] })
  scenario('of a reminder that is due at this moment is left to its timer', {
    given: [dueNow],
    when: reschedule(reminder),
    then: [],
  })
})

describe('an issue', () => {
  const texts = [{ after_days: 0, subject: 'Issue', body: 'Issue three' }]
  const released: OutreachEvent = { type: 'NewsletterIssueReleased', stream_id, issue: 3, texts, next_issue_at: null }
  const give = (...since: readonly OutreachEvent[]): PersonCommand => ({
    type: 'GiveIssue',
    issue: 3,
    ...circumstances(startedStream({}, 'newsletter', [released, ...since])),
  })
  const subscriber = isIn({ subscribes: true, last_issue: 2 })
  const issue: OutreachPersonEvent = { ...queued, role: 'issue', number: 3, subject: 'Issue', body: 'Issue three' }

  scenario('is the first message of a subscriber', { given: [subscriber], when: give(), then: [issue] })
  scenario('is a further one of somebody who had the issue before', {
    given: [subscriber, { ...queued, role: 'issue', number: 2 }, sent({ role: 'issue' })],
    when: give(),
    then: [{ ...issue, is_first: false }],
  })
  scenario('is not given to who never joined', { given: [], when: give(), then: [] })
  scenario('of a newsletter whose work was cancelled ends it for its subscribers', {
    given: [subscriber],
    when: give(closed, cancelled),
    then: [gone('cancelled', { was_subscribed: true })],
  })
})

describe('the day of an issue', () => {
  const starts_on = '2026-01-15'
  const monthly = (day: number | 'last'): Schedule => ({ cadence: 'monthly', day, starts_on })
  const second: Schedule = { cadence: 'monthly', week: 'second', weekday: 2, starts_on }
  const weekly: Schedule = { cadence: 'weekly', weekday: 4, starts_on }
  test.each<readonly [string, Schedule, string, boolean]>([
    ['a week before it starts', weekly, '2026-01-08', false],
    ['the day that it starts on', weekly, starts_on, true],
    ['the 20th', monthly(20), '2026-02-20', true],
    ['the day after the 20th', monthly(20), '2026-02-21', false],
    ['the last day, of the 20th', monthly(20), '2026-02-28', false],
    ['the last day, of the 31st', monthly(31), '2026-02-28', true],
    ['the 28th of a longer month, of the 31st', monthly(31), '2026-03-28', false],
    ['the last day', monthly('last'), '2026-03-31', true],
    ['the day before the last', monthly('last'), '2026-03-30', false],
    ['the second Tuesday, the earliest that it can be', second, '2026-09-08', true],
    ['the second Tuesday, the latest that it can be', second, '2026-07-14', true],
    ['the first Tuesday, of the second', second, '2026-07-07', false],
    ['the third Tuesday, of the second', second, '2026-07-21', false],
  ])('%s', (_what, schedule, date, isOne) => {
    expect(isIssueDay(schedule, date)).toBe(isOne)
  })
  test('comes within ten weeks of any schedule', () => {
    const never = { cadence: 'weekly', weekday: 8, starts_on } as const
    expect(() => nextIssueAfter(never, '09:00', 'Europe/London', earlier)).toThrow('within ten weeks')
  })
})
