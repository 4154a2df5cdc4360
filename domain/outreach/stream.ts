import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId, OutreachStreamId } from '../values.ts'
import { decideOnDrafts, evolveReserved, type DraftCommand, type Reserved } from './budget.ts'
import { choiceFaults } from './choice-faults.ts'
import { outreachEvents, StreamChoices, type OutreachEvent } from './events.ts'
import { evolveStream, isOpen, isWorking, type OutreachStream } from './stream-record.ts'
import { nextIssueAfter } from './schedule.ts'

/** Business time, and the organisation's time zone. */
export type Moment = { readonly now: string; readonly time_zone: string }

export type SteeringAct = 'start' | 'pause' | 'resume' | 'stop' | 'reopen' | 'cancel_work' | 'archive'

export type OutreachCommand =
  | {
      readonly type: 'CreateStream'
      readonly stream_id: OutreachStreamId
      readonly organisation_id: OrganisationId
      readonly slug: string
      readonly kind: OutreachStream['kind']
      readonly choices: StreamChoices
    }
  | (Moment & { readonly type: 'ChangeStream'; readonly choices: Partial<StreamChoices> })
  | (Moment & { readonly type: 'SteerStream'; readonly act: SteeringAct })
  | {
      readonly type: 'PermitSends'
      readonly requests: readonly { readonly message_id: string; readonly messages: number }[]
      readonly now: string
    }
  | DraftCommand
  | (Moment & { readonly type: 'ReleaseIssue' })
  | { readonly type: 'IssueHandedOut'; readonly issue: number }
  | { readonly type: 'RemindersMoved'; readonly timing: number }

type Permits = { readonly at: string; readonly messages: number }

/** The state for decisions about a stream: itself, the latest permits, and the drafts that are being written. */
export type StreamState = {
  readonly stream: OutreachStream | undefined
  readonly permits: readonly Permits[]
  readonly reserved: Reserved
}

const minuteMs = 60_000

/** A permit is good for so long: what was not sent by then needs another. */
export const permitGoodForMs = minuteMs

/**
 * Permits of this long together are never more than the pace. Since what is permitted leaves within a minute, or is not
 * sent, no hour has more than the pace, wherever it begins.
 */
const permitWindowMs = 62 * minuteMs

const decide = (command: OutreachCommand, state: StreamState): readonly OutreachEvent[] => {
  const { stream } = state
  if (command.type === 'CreateStream') return create(command, stream)
  if (!stream) throw new Rejection('not_found', 'There is no outreach stream with this id. Check the address.')
  switch (command.type) {
    case 'ChangeStream':
      return change(command, stream)
    case 'SteerStream':
      return steer(command, stream)
    case 'PermitSends':
      return permit(command, state, stream)
    case 'ReserveDrafts':
    case 'ReleaseDraft':
    case 'ChargeDraft':
    case 'SettleDrafts':
      return decideOnDrafts(command, state.reserved, stream)
    case 'ReleaseIssue':
      return releaseIssue(command, stream)
    case 'IssueHandedOut':
      return command.issue > stream.issue_handed_out
        ? [{ type: 'NewsletterIssueHandedOut', stream_id: stream.id, issue: command.issue }]
        : []
    case 'RemindersMoved':
      return command.timing > stream.timing_moved
        ? [{ type: 'OutreachRemindersMoved', stream_id: stream.id, timing: command.timing }]
        : []
  }
}

const create = (
  command: Extract<OutreachCommand, { type: 'CreateStream' }>,
  stream: OutreachStream | undefined,
): readonly OutreachEvent[] => {
  const { type: _type, choices, ...identity } = command
  if (stream)
    throw new Rejection('conflict', `There is an outreach stream ${command.slug} already. Change that one.`, {
      slug: 'is taken',
    })
  refuseFaults(command.kind, choices)
  return [{ type: 'OutreachStreamCreated', ...identity, choices }]
}

const refuseFaults = (kind: OutreachStream['kind'], choices: StreamChoices): void => {
  const faults = choiceFaults(kind, choices)
  const named = Object.keys(faults)
  if (named.length > 0)
    throw new Rejection('validation_failed', `Correct ${named.join(', ')} and send the request again.`, faults)
}

const choicesOf = (stream: OutreachStream): StreamChoices => StreamChoices.parse(stream)

const change = (
  { choices: sent, ...moment }: Extract<OutreachCommand, { type: 'ChangeStream' }>,
  stream: OutreachStream,
): readonly OutreachEvent[] => {
  const before = choicesOf(stream)
  const choices = { ...before, ...sent }
  if (isSameJson(choices, before)) return []
  if (stream.archived_at !== null)
    throw new Rejection('conflict', 'An archived stream does not change any more. Create another stream.')
  if (stream.started_at !== null && choices.purpose !== before.purpose)
    throw new Rejection('conflict', 'People have joined for the purpose that the stream has. Create another stream.', {
      purpose: 'is fixed once the stream was started',
    })
  refuseFaults(stream.kind, choices)
  const { id: stream_id, kind, started_at, timing } = stream
  const isMoved = kind === 'reminder' && started_at !== null && !isSameJson(timingOf(choices), timingOf(before))
  return [
    { type: 'OutreachStreamChanged', choices, next_issue_at: issueAt({ ...stream, ...choices }, moment) },
    ...(isMoved ? [{ type: 'OutreachRemindersToMove', stream_id, timing: timing + 1 } as const] : []),
  ]
}

/** Choices that decide when reminders are due. */
const timingOf = ({ date_column, date_field, offset_days, send_at_local_time }: StreamChoices) => ({
  date_column,
  date_field,
  offset_days,
  send_at_local_time,
})

/** When the next issue goes out: null for what is no newsletter, or does not go out at present. */
const issueAt = (stream: OutreachStream, { now, time_zone }: Moment): string | null => {
  const { schedule, send_at_local_time, started_at, paused_at, work_cancelled_at, closed_at } = stream
  const isOver = work_cancelled_at !== null && closed_at !== null
  if (!schedule || send_at_local_time === null || started_at === null || paused_at !== null || isOver) return null
  return nextIssueAfter(schedule, send_at_local_time, time_zone, now)
}

const steer = (
  { act, ...moment }: Extract<OutreachCommand, { type: 'SteerStream' }>,
  stream: OutreachStream,
): readonly OutreachEvent[] => {
  const { id: stream_id, started_at, paused_at, closed_at, archived_at } = stream
  const refuse = (why: string): never => {
    throw new Rejection('invalid_transition', why, { act: 'is not possible now' })
  }
  if (archived_at !== null && act !== 'archive') refuse('An archived stream does not change any more.')
  if (started_at === null && act !== 'start' && act !== 'archive') refuse('The stream was not started yet: start it.')
  switch (act) {
    case 'start': {
      if (started_at !== null) return []
      const next_issue_at = issueAt({ ...stream, started_at: moment.now }, moment)
      return [{ type: 'OutreachStreamStarted', stream_id, next_issue_at }]
    }
    case 'pause':
      return paused_at === null ? [{ type: 'OutreachStreamPaused', stream_id }] : []
    case 'resume': {
      if (paused_at === null) return []
      const next_issue_at = issueAt({ ...stream, paused_at: null }, moment)
      return [{ type: 'OutreachStreamResumed', stream_id, next_issue_at }]
    }
    case 'stop':
      return closed_at === null ? [{ type: 'OutreachStreamClosed', stream_id }] : []
    case 'reopen': {
      if (closed_at === null) return []
      const next_issue_at = issueAt({ ...stream, closed_at: null }, moment)
      return [{ type: 'OutreachStreamReopened', stream_id, next_issue_at }]
    }
    case 'cancel_work':
      if (isOpen(stream)) refuse('People still join this stream: stop it first.')
      return stream.work_cancelled_at !== null ? [] : [{ type: 'OutreachWorkCancelled', stream_id }]
    case 'archive':
      if (isOpen(stream)) refuse('People still join this stream: stop it first.')
      return archived_at === null ? [{ type: 'OutreachStreamArchived', stream_id }] : []
  }
}

const permit = (
  { requests, now }: Extract<OutreachCommand, { type: 'PermitSends' }>,
  { permits }: StreamState,
  stream: OutreachStream,
): readonly OutreachEvent[] => {
  if (!isWorking(stream)) return []
  const used = sumOf(recent(permits, now))
  let free = stream.pace_per_hour === null ? Infinity : stream.pace_per_hour - used
  const granted = []
  for (const request of requests) {
    // A message over more channels than the pace has places goes out one channel at a time.
    const messages = Math.min(request.messages, stream.pace_per_hour ?? Infinity)
    if (messages > free) break
    granted.push({ message_id: request.message_id, messages })
    free -= messages
  }
  return granted.length > 0 ? [{ type: 'OutreachSendsPermitted', permits: granted }] : []
}

const sumOf = (permits: readonly Pick<Permits, 'messages'>[]): number =>
  permits.reduce((sum, { messages }) => sum + messages, 0)

const recent = (permits: readonly Permits[], now: string): readonly Permits[] => {
  const since = new Date(Date.parse(now) - permitWindowMs).toISOString()
  return permits.filter(({ at }) => at > since)
}

const releaseIssue = (moment: Moment, stream: OutreachStream): readonly OutreachEvent[] => {
  const { id: stream_id, next_issue_at, texts, issue, issue_texts, skip_if_unchanged } = stream
  if (next_issue_at === null || next_issue_at > moment.now) return []
  const next = { stream_id, next_issue_at: issueAt(stream, moment) }
  if (skip_if_unchanged && isSameJson(texts, issue_texts)) return [{ type: 'NewsletterIssueSkipped', ...next }]
  return [{ type: 'NewsletterIssueReleased', ...next, issue: issue + 1, texts }]
}

const evolve = (
  { stream, permits, reserved }: StreamState,
  event: OutreachEvent,
  recorded: { readonly occurred_at: string },
): StreamState => {
  const evolved = {
    stream: evolveStream(stream, event, recorded),
    permits,
    reserved: evolveReserved(reserved, event, recorded.occurred_at),
  }
  const { occurred_at: at } = recorded
  if (event.type === 'OutreachSendsPermitted')
    return { ...evolved, permits: [...recent(permits, at), { at, messages: sumOf(event.permits) }] }
  return evolved
}

export const outreachStream: Decider<OutreachCommand, typeof outreachEvents, StreamState> = {
  category: 'outreach',
  events: outreachEvents,
  initialState: { stream: undefined, permits: [], reserved: {} },
  decide,
  evolve,
}
