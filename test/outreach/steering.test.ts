import { describe } from 'vitest'
import { StreamChoices, type OutreachEvent } from '#domain/outreach/events.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { outreachStream, type OutreachCommand, type SteeringAct } from '#domain/outreach/stream.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { now, startedStream, streamCreated } from './builders.ts'

const scenario = scenariosOf(outreachStream)
const { stream_id, organisation_id } = streamCreated
const time_zone = 'Europe/London'

const plain = { schedule: null, skip_if_unchanged: null, survey: null }
const schedule = { cadence: 'weekly', weekday: 1, starts_on: '2026-01-01' } as const
const issues = { schedule, send_at_local_time: '09:00', skip_if_unchanged: false }
const reminding = { date_field: 'renewal_on', offset_days: -7, send_at_local_time: '10:00' }
/** The Monday after the day of the commands. */
const monday = '2026-01-26T09:00:00.000Z'

const choicesOf = (changes: Partial<StreamChoices> = {}) => StreamChoices.parse(startedStream({ ...plain, ...changes }))
const created = (changes: Partial<StreamChoices> = {}, kind: OutreachStream['kind'] = 'mailshot'): OutreachEvent => ({
  ...streamCreated,
  kind,
  choices: choicesOf(changes),
})
const started = (next_issue_at: string | null = null): OutreachEvent => ({
  type: 'OutreachStreamStarted',
  stream_id,
  next_issue_at,
})
const paused: OutreachEvent = { type: 'OutreachStreamPaused', stream_id }
const closed: OutreachEvent = { type: 'OutreachStreamClosed', stream_id }
const reopened: OutreachEvent = { type: 'OutreachStreamReopened', stream_id, next_issue_at: null }
const cancelled: OutreachEvent = { type: 'OutreachWorkCancelled', stream_id }
const archived: OutreachEvent = { type: 'OutreachStreamArchived', stream_id }

describe('an act of the team on a newsletter', () => {
  const newsletter = created(issues, 'newsletter')
  const running = [newsletter, started()]
  const steer = (act: SteeringAct): OutreachCommand => ({ type: 'SteerStream', act, now, time_zone })
  const not = (says: string) => rejected('invalid_transition', { act: 'is not possible now' }, says)
  const begins: OutreachEvent = { type: 'OutreachStreamStarted', stream_id, next_issue_at: monday }
  const goesOn = (next_issue_at: string | null): OutreachEvent => ({
    type: 'OutreachStreamResumed',
    stream_id,
    next_issue_at,
  })
  const opens = (next_issue_at: string | null): OutreachEvent => ({
    type: 'OutreachStreamReopened',
    stream_id,
    next_issue_at,
  })
  const unstarted = not('was not started yet')
  const open = not('stop it first')
  const over = not('An archived stream')

  type Then = Parameters<typeof scenario>[1]['then']
  const states: readonly (readonly [string, readonly OutreachEvent[], Readonly<Record<SteeringAct, Then>>])[] = [
    [
      'was not started',
      [newsletter],
      {
        start: [begins],
        pause: unstarted,
        resume: unstarted,
        stop: unstarted,
        reopen: unstarted,
        cancel_work: unstarted,
        archive: [archived],
      },
    ],
    [
      'runs',
      running,
      { start: [], pause: [paused], resume: [], stop: [closed], reopen: [], cancel_work: open, archive: open },
    ],
    [
      'is paused',
      [...running, paused],
      {
        start: [],
        pause: [],
        resume: [goesOn(monday)],
        stop: [closed],
        reopen: [],
        cancel_work: open,
        archive: open,
      },
    ],
    [
      'takes nobody new',
      [...running, closed],
      {
        start: [],
        pause: [paused],
        resume: [],
        stop: [],
        reopen: [opens(monday)],
        cancel_work: [cancelled],
        archive: [archived],
      },
    ],
    [
      'takes nobody new and is paused',
      [...running, closed, paused],
      {
        start: [],
        pause: [],
        resume: [goesOn(monday)],
        stop: [],
        reopen: [opens(null)],
        cancel_work: [cancelled],
        archive: [archived],
      },
    ],
    [
      'has had its work cancelled',
      [...running, closed, cancelled],
      {
        start: [],
        pause: [paused],
        resume: [],
        stop: [],
        reopen: [opens(monday)],
        cancel_work: [],
        archive: [archived],
      },
    ],
    [
      'has had its work cancelled and is paused',
      [...running, closed, cancelled, paused],
      {
        start: [],
        pause: [],
        resume: [goesOn(null)],
        stop: [],
        reopen: [opens(null)],
        cancel_work: [],
        archive: [archived],
      },
    ],
    [
      'is archived',
      [...running, closed, archived],
      { start: over, pause: over, resume: over, stop: over, reopen: over, cancel_work: over, archive: [] },
    ],
  ]
  for (const [state, given, outcomes] of states)
    for (const [act, then] of Object.entries(outcomes) as [SteeringAct, Then][])
      scenario(`that ${state}: ${act}`, { given, when: steer(act), then })

  scenario('of long ago, without a time of day: it starts, and has no issue', {
    given: [created({ ...issues, send_at_local_time: null }, 'newsletter')],
    when: steer('start'),
    then: [started(null)],
  })
})

describe('a stream', () => {
  const create = (changes: Partial<StreamChoices> = {}): OutreachCommand => {
    const { slug } = streamCreated
    const choices = choicesOf(changes)
    return { type: 'CreateStream', stream_id, organisation_id, slug, kind: 'mailshot', choices }
  }
  scenario('is created as it is chosen', { given: [], when: create(), then: [created()] })
  scenario('is not created twice', {
    given: [created()],
    when: create(),
    then: rejected('conflict', { slug: 'is taken' }, `There is an outreach stream ${streamCreated.slug} already`),
  })
  scenario('is not created with choices that its kind cannot have: each is named', {
    given: [],
    when: create({ channels: [], texts: [] }),
    then: rejected(
      'validation_failed',
      { channels: 'must name at least one channel', texts: 'must hold what the message says' },
      'Correct channels, texts and send',
    ),
  })
  scenario('that was never created does nothing', {
    given: [],
    when: { type: 'PermitSends', requests: [], now },
    then: rejected('not_found', undefined, 'There is no outreach stream with this id'),
  })
})

describe('what is chosen for a stream', () => {
  const change = (choices: Partial<StreamChoices>): OutreachCommand => ({
    type: 'ChangeStream',
    choices,
    now,
    time_zone,
  })
  const changed = (choices: Partial<StreamChoices>, next_issue_at: string | null = null): OutreachEvent => ({
    type: 'OutreachStreamChanged',
    choices: choicesOf(choices),
    next_issue_at,
  })
  const otherPurpose = { purpose: 'service' } as const

  scenario('and is so already changes nothing', {
    given: [created({ name: 'One' }), started()],
    when: change({ name: 'One' }),
    then: [],
  })
  scenario('is refused where its kind cannot have it', {
    given: [created(), started()],
    when: change({ channels: [] }),
    then: rejected('validation_failed', { channels: 'must name at least one channel' }, 'Correct channels and'),
  })
  scenario('may be another purpose of consent before it was started', {
    given: [created({ purpose: 'first_party_marketing' })],
    when: change(otherPurpose),
    then: [changed(otherPurpose)],
  })
  scenario('is the same purpose of consent once people may have joined for it', {
    given: [created({ purpose: 'first_party_marketing' }), started()],
    when: change(otherPurpose),
    then: rejected('conflict', { purpose: 'is fixed once the stream was started' }, 'Create another stream'),
  })
  for (const [when, since] of [
    ['was put away', [started(), closed, archived]],
    ['was put away before it began', [archived]],
  ] as const) {
    scenario(`changes no more once it ${when}`, {
      given: [created(), ...since],
      when: change({ name: 'Another name' }),
      then: rejected('conflict', undefined, 'An archived stream does not change any more'),
    })
    scenario(`may be said again after it ${when}`, { given: [created(), ...since], when: change({}), then: [] })
  }
  scenario('moves the reminders of a stream that was started', {
    given: [created(reminding, 'reminder'), started()],
    when: change({ offset_days: -3 }),
    then: [changed({ ...reminding, offset_days: -3 }), { type: 'OutreachRemindersToMove', stream_id, timing: 1 }],
  })
  scenario('moves no reminder before a stream is started: nobody is in it', {
    given: [created(reminding, 'reminder')],
    when: change({ offset_days: -3 }),
    then: [changed({ ...reminding, offset_days: -3 })],
  })

  const newsletter = created(issues, 'newsletter')
  const atTen = { ...issues, send_at_local_time: '10:00' }
  const since: readonly (readonly [string, readonly OutreachEvent[], string | null])[] = [
    ['has its next issue at the new time', [started()], '2026-01-26T10:00:00.000Z'],
    ['that takes nobody new goes on for those who are in it', [started(), closed], '2026-01-26T10:00:00.000Z'],
    [
      'reopened after its work was cancelled goes on',
      [started(), closed, cancelled, reopened],
      '2026-01-26T10:00:00.000Z',
    ],
    ['that was not started has no issue', [], null],
    ['that is paused has no issue', [started(), paused], null],
    ['whose work was cancelled has no issue', [started(), closed, cancelled], null],
  ]
  for (const [what, events, next] of since)
    scenario(`a newsletter ${what}`, {
      given: [newsletter, ...events],
      when: change({ send_at_local_time: '10:00' }),
      then: [changed(atTen, next)],
    })
})

describe('an issue of a newsletter', () => {
  const release = { type: 'ReleaseIssue', now, time_zone } as const
  const texts = [{ after_days: 0, subject: 'One', body: 'One' }]
  const others = [{ after_days: 0, subject: 'Two', body: 'Two' }]
  const newsletter = (skip_if_unchanged: boolean) => created({ ...issues, skip_if_unchanged, texts }, 'newsletter')
  const released = (issue: number, says: StreamChoices['texts'], next_issue_at = monday): OutreachEvent => ({
    type: 'NewsletterIssueReleased',
    stream_id,
    issue,
    texts: says,
    next_issue_at,
  })
  const justAfter = '2026-01-20T12:00:00.001Z'

  scenario('is released at its time', {
    given: [newsletter(false), started(now)],
    when: release,
    then: [released(1, texts)],
  })
  scenario('is not released before it', { given: [newsletter(false), started(justAfter)], when: release, then: [] })
  scenario('of a stream that has none is not released', {
    given: [newsletter(false), started(null)],
    when: release,
    then: [],
  })
  scenario('is left out where it says the same as the one before', {
    given: [newsletter(true), started(now), released(1, texts, now)],
    when: release,
    then: [{ type: 'NewsletterIssueSkipped', stream_id, next_issue_at: monday }],
  })
  scenario('is released where it says something else', {
    given: [newsletter(true), started(now), released(1, others, now)],
    when: release,
    then: [released(2, texts)],
  })
  scenario('is released although it says the same, where the stream does not leave such out', {
    given: [newsletter(false), started(now), released(1, texts, now)],
    when: release,
    then: [released(2, texts)],
  })
  scenario('is released where there was none before', {
    given: [newsletter(true), started(now)],
    when: release,
    then: [released(1, texts)],
  })

  const handedOut = (issue: number): OutreachEvent => ({ type: 'NewsletterIssueHandedOut', stream_id, issue })
  const given = [newsletter(false), started(), released(2, texts), handedOut(1)]
  scenario('is handed out once', { given, when: { type: 'IssueHandedOut', issue: 1 }, then: [] })
  scenario('is handed out after the one before', {
    given,
    when: { type: 'IssueHandedOut', issue: 2 },
    then: [handedOut(2)],
  })
  scenario('is not handed out once the work is cancelled', {
    given: [...given, closed, cancelled],
    when: { type: 'IssueHandedOut', issue: 2 },
    then: [],
  })
})
