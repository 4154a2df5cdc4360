import { fromStored } from '#domain/event.ts'
import type { OutreachEvent, OutreachPersonEvent, StreamChoices } from '#domain/outreach/events.ts'
import { outreachPerson, type PersonCommand } from '#domain/outreach/person.ts'
import type { Circumstances } from '#domain/outreach/queueing.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import { CustomerId } from '#domain/values.ts'
import { stateOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'

const created = samples.find(({ event }) => event.type === 'OutreachStreamCreated')?.event
if (!created) throw new Error('There is no sample of OutreachStreamCreated.')
const first = fromStored(outreachStream.events, created)
if (first.type !== 'OutreachStreamCreated') throw new Error('The sample is of another event.')
const { stream_id, organisation_id } = first

const plain: Partial<StreamChoices> = {
  message_mode: 'fixed',
  auto_send: true,
  all_channels: false,
  channels: ['email', 'sms'],
  follow_up_after_days: 0,
  follow_up: null,
  date_column: null,
  date_field: null,
  offset_days: null,
  send_at_local_time: null,
  survey: null,
  texts: [{ after_days: 0, subject: 'Hello {{first_name}}', body: 'Hello {{first_name}}, a word from us.' }],
}

export const streamCreated = first
export const now = '2026-01-20T12:00:00.000Z'
export const earlier = '2026-01-15T12:00:00.000Z'

/** A stream that was started, with what happened to it since. */
export const startedStream = (
  changes: Partial<StreamChoices> = {},
  kind: OutreachStream['kind'] = 'mailshot',
  since: readonly OutreachEvent[] = [],
): OutreachStream => {
  const { stream } = stateOf(
    outreachStream,
    [
      { ...first, kind, choices: { ...first.choices, ...plain, ...changes } },
      { type: 'OutreachStreamStarted', stream_id, next_issue_at: null },
      ...since,
    ],
    earlier,
  )
  if (!stream) throw new Error('There is no stream.')
  return stream
}

export const message_id = '0e000000-0000-4000-8000-000000000001'
export const place = { stream_id, member_id: '0e000000-0000-4000-8000-0000000000aa' }
export const ofMessage = { ...place, message_id }
export const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')

export const joined: OutreachPersonEvent = {
  type: 'OutreachJoined',
  ...place,
  organisation_id,
  contact_id,
  columns: {},
  last_issue: 0,
  subscribes: false,
  next_at: null,
  by: { type: 'operator', id: null },
  was_refused: false,
}
export const queued = {
  type: 'OutreachMessageQueued',
  ...ofMessage,
  role: 'text',
  number: 0,
  waits_for: 'sending',
  is_first: true,
  subject: 'Hello Ann',
  body: 'Hello Ann, a word from us.',
  answers: null,
} as const satisfies OutreachPersonEvent

export const begun = (channel: 'email' | 'sms' | 'whatsapp' = 'email'): OutreachPersonEvent => ({
  type: 'OutreachSendingBegun',
  ...ofMessage,
  channel,
})
export const sent = (
  changes: Partial<Extract<OutreachPersonEvent, { type: 'OutreachMessageSent' }>> = {},
): OutreachPersonEvent => ({
  type: 'OutreachMessageSent',
  ...ofMessage,
  role: 'text',
  channel: 'email',
  reference: null,
  is_last: true,
  next_at: null,
  ...changes,
})
export const ended = (dropped: readonly string[] = []): OutreachPersonEvent => ({
  type: 'OutreachEnded',
  ...place,
  reason: 'consent_withdrawn',
  was_subscribed: false,
  dropped: dropped.map((id) => ({ message_id: id, waits_for: 'sending' })),
})

export const circumstances = (stream: OutreachStream, changes: Partial<Circumstances> = {}): Circumstances => ({
  stream,
  now,
  time_zone: 'Europe/London',
  reachable: ['email', 'sms'],
  known: { first_name: 'Ann' },
  date: null,
  messageIdOf: () => message_id,
  ...changes,
})

/** What follows when a command comes after these events. */
export const decided = (
  given: readonly OutreachPersonEvent[],
  command: PersonCommand,
  at = earlier,
): readonly OutreachPersonEvent[] => outreachPerson.decide(command, stateOf(outreachPerson, given, at))

export const join = (stream: OutreachStream, changes: Partial<Circumstances> = {}): PersonCommand => ({
  type: 'Join',
  organisation_id,
  contact_id,
  member_id: place.member_id,
  columns: {},
  by: { type: 'operator', id: null },
  ...circumstances(stream, changes),
})

export const note = (stream: OutreachStream, changes: Partial<Extract<PersonCommand, { type: 'NoteActivity' }>> = {}) =>
  ({
    type: 'NoteActivity',
    outcome: 'replied',
    wrote: 'Yes',
    happened_at: now,
    answered: null,
    streams: () => stream,
    messageIdOf: () => message_id,
    ...changes,
  }) as const satisfies PersonCommand

export const returned = (
  stream: OutreachStream | undefined,
  changes: Partial<Extract<PersonCommand, { type: 'NoteUndelivered' }>> = {},
): PersonCommand => ({
  type: 'NoteUndelivered',
  stream_id,
  message_id,
  channel: 'email',
  address: 'ann@example.com',
  reason: null,
  stream,
  reachable: ['email', 'sms'],
  ...changes,
})
