import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId, OrganisationId, OutreachStreamId } from '../values.ts'
import {
  outreachPersonEvents,
  type JoinedBy,
  type OutreachChannel,
  type OutreachOutcome,
  type OutreachPersonEvent,
} from './events.ts'
import { evolvePerson, nobody, type Member, type Message, type Person } from './member.ts'
import { filledIn, textOf } from './message-text.ts'
import { isOpen, type OutreachStream } from './stream-record.ts'
import { reminderAt } from './schedule.ts'
import { answerFault } from './survey.ts'
import { beginSending, isCancelled, recordFailure, recordSent, skipReason, type SendingCommand } from './sending.ts'

type Decision = readonly OutreachPersonEvent[]
type Role = Message['role']

/** What decisions about a stream's messages rest on. */
export type Circumstances = {
  readonly stream: OutreachStream
  readonly now: string
  readonly time_zone: string
  /** The channels of the stream for which the person has consented to its purpose, and has an address. */
  readonly reachable: readonly OutreachChannel[]
  /** What texts can say of the person. */
  readonly known: Readonly<Record<string, string | null>>
  /** Of a reminder: the date that it is relative to, as it is now. */
  readonly date: string | null
  /** The id follows from stream, person, role and number. */
  readonly messageIdOf: (role: Role, number: number) => string
}

export type Join = Circumstances & {
  readonly type: 'Join'
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly member_id: string
  readonly columns: Readonly<Record<string, string>>
  readonly by: JoinedBy
}

export type PersonCommand =
  | Join
  /** Several streams in one append; those that nobody can join are left out. */
  | { readonly type: 'JoinSeveral'; readonly joins: readonly Join[] }
  | (Circumstances & { readonly type: 'NextDue' })
  /** The dates of reminders may be others than before. */
  | { readonly type: 'Reschedule'; readonly reminders: readonly Circumstances[] }
  | (Circumstances & { readonly type: 'GiveIssue'; readonly issue: number })
  | (Circumstances & { readonly type: 'CheckMessage'; readonly message_id: string })
  | {
      readonly type: 'RecordDraft'
      readonly message_id: string
      readonly subject: string | null
      readonly body: string
      readonly auto_send: boolean
    }
  | {
      readonly type: 'FailDraft'
      readonly message_id: string
      readonly reason: string
      readonly retry_at: string | null
    }
  | {
      readonly type: 'EditMessage'
      readonly message_id: string
      readonly subject: string | null | undefined
      readonly body: string | undefined
    }
  | { readonly type: 'ApproveMessage' | 'DiscardMessage'; readonly message_id: string }
  | SendingCommand
  /** What the person did that streams are for. With a text, they wrote it. */
  | {
      readonly type: 'NoteActivity'
      readonly outcome: OutreachOutcome
      readonly wrote: string | null
      readonly happened_at: string
      readonly streams: (id: string) => OutreachStream | undefined
      readonly messageIdOf: (stream_id: string, role: Role, number: number) => string
    }
  | { readonly type: 'NoteLanding'; readonly stream_id: string }
  /** What was sent could not be delivered. */
  | {
      readonly type: 'NoteUndelivered'
      readonly stream_id: OutreachStreamId
      readonly message_id: string
      readonly channel: OutreachChannel
      readonly address: string
      readonly reason: string | null
    }
  | {
      readonly type: 'NoteConsent'
      readonly streams: (id: string) => OutreachStream | undefined
      readonly isGranted: (purpose: OutreachStream['purpose'], channel: OutreachChannel) => boolean
    }
  | {
      readonly type: 'AnswerSurvey'
      readonly stream: OutreachStream
      readonly answer: string
      readonly follow_up_answer: string | null
    }

/** A conversation that goes on longer is the team's. */
const mostAnswers = 10

const decide = (command: PersonCommand, person: Person): Decision => {
  switch (command.type) {
    case 'Join':
      return join(command, person)
    case 'JoinSeveral':
      return command.joins.filter(({ stream }) => isOpen(stream)).flatMap((each) => join(each, person))
    case 'NextDue':
      return nextDue(command, person)
    case 'Reschedule':
      return command.reminders.flatMap((each) => rescheduled(each, person))
    case 'GiveIssue':
      return giveIssue(command, person)
    case 'CheckMessage': {
      const message = person.messages[command.message_id]
      const reason = message && skipReason(command, message, person)
      return reason ? [skipped(message, reason, person)] : []
    }
    case 'RecordDraft': {
      const message = person.messages[command.message_id]
      if (message?.waits_for !== 'draft') return []
      const { subject, body, auto_send } = command
      const waits_for = auto_send ? 'sending' : 'approval'
      const { is_first } = message
      return [{ type: 'OutreachMessageDrafted', ...placeOf(message), waits_for, is_first, subject, body }]
    }
    case 'FailDraft': {
      const message = person.messages[command.message_id]
      const { reason, retry_at } = command
      return message?.waits_for === 'draft'
        ? [{ type: 'OutreachDraftFailed', ...placeOf(message), reason, retry_at }]
        : []
    }
    case 'EditMessage':
    case 'ApproveMessage':
    case 'DiscardMessage':
      return judge(command, person)
    case 'BeginSending':
      return beginSending(command, person)
    case 'RecordSent':
      return recordSent(command, person)
    case 'RecordFailure':
      return recordFailure(command, person)
    case 'NoteActivity':
      return noteActivity(command, person)
    case 'NoteLanding': {
      const { stream_id } = command
      const member = person.members[stream_id]
      return member?.state === 'in' && !member.is_engaged ? [engaged(member, 'landing')] : []
    }
    case 'NoteUndelivered': {
      const { type: _type, ...told } = command
      const member = person.members[command.stream_id]
      const isKnown = person.undelivered[command.channel]?.message_id === command.message_id
      if (!member || isKnown) return []
      // The gateway may tell of it before it is recorded that it took the message.
      if (member.first_sent_at === null && person.messages[command.message_id] === undefined) return []
      return [{ type: 'OutreachMessageUndelivered', member_id: member.member_id, ...told }]
    }
    case 'NoteConsent':
      return noteConsent(command, person)
    case 'AnswerSurvey':
      return answerSurvey(command, person)
  }
}

const placeOf = ({ stream_id, member_id, message_id }: Message) => ({ stream_id, member_id, message_id })

const skipped = (
  message: Message,
  reason: NonNullable<ReturnType<typeof skipReason>>,
  { members }: Person,
): OutreachPersonEvent => ({
  type: 'OutreachMessageSkipped',
  ...placeOf(message),
  reason,
  is_person_skipped: members[message.stream_id]?.first_sent_at === null && message.sent.length === 0,
  was_unwritten: message.waits_for === 'draft' && message.is_first,
})

const join = (command: Join, person: Person): Decision => {
  const { stream, organisation_id, contact_id, member_id, columns, reachable } = command
  const before = person.members[stream.id]
  if (before && before.state !== 'refused') return []
  if (!isOpen(stream))
    throw new Rejection('conflict', `People cannot join ${stream.slug}: it was not started, or is closed.`)
  const member = { stream_id: stream.id, member_id, organisation_id, contact_id }
  const first = firstDue(command)
  const reason = reachable.length === 0 ? 'no_consent' : first === undefined ? 'no_date' : undefined
  if (reason) return before ? [] : [{ type: 'OutreachJoinRefused', ...member, reason }]
  const joined = {
    type: 'OutreachJoined',
    ...member,
    columns,
    last_issue: stream.issue,
    subscribes: stream.kind === 'newsletter',
    next_at: first ?? null,
    by: command.by,
    was_refused: before !== undefined,
  } as const
  if (stream.kind === 'newsletter' || stream.kind === 'reminder') return [joined]
  return [joined, queued(command, { member_id, texts: 0, is_first: true }, 'text', 0)]
}

/** When a reminder is due; undefined where there is no date, or it is over. Null: not by time. */
const firstDue = ({ stream, date, now, time_zone }: Circumstances): string | null | undefined => {
  if (stream.kind !== 'reminder') return null
  const at = reminderOf({ stream, date, time_zone })
  return at === undefined || at < now ? undefined : at
}

const reminderOf = ({ stream, date, time_zone }: Pick<Circumstances, 'stream' | 'date' | 'time_zone'>) => {
  const { offset_days, send_at_local_time } = stream
  if (date === null || offset_days === null || send_at_local_time === null) return undefined
  return reminderAt(date, offset_days, send_at_local_time, time_zone)
}

const queued = (
  { stream, known, messageIdOf }: Pick<Circumstances, 'stream' | 'known' | 'messageIdOf'>,
  { member_id, is_first }: { readonly member_id: string; readonly texts: number; readonly is_first: boolean },
  role: Role,
  number: number,
  answers: string | null = null,
): OutreachPersonEvent => {
  const isDrafted = stream.message_mode === 'drafted'
  const text = textOf(stream, role, number)
  return {
    type: 'OutreachMessageQueued',
    stream_id: stream.id,
    member_id,
    message_id: messageIdOf(role, number),
    role,
    number,
    waits_for: isDrafted ? 'draft' : stream.auto_send ? 'sending' : 'approval',
    is_first,
    subject: isDrafted || text.subject === null ? null : filledIn(text.subject, known),
    body: isDrafted ? null : filledIn(text.body, known),
    answers,
  }
}

const isFirst = ({ texts, first_sent_at }: Member): boolean => texts === 0 && first_sent_at === null

const ended = (
  { stream_id, member_id, subscribes }: Member,
  { messages }: Person,
  reason: 'consent_withdrawn' | 'cancelled' | 'no_date',
): OutreachPersonEvent => ({
  type: 'OutreachEnded',
  stream_id,
  member_id,
  reason,
  was_subscribed: subscribes,
  // What is being sent at this moment is sent.
  dropped: Object.values(messages)
    .filter((message) => message.stream_id === stream_id && message.sending === null)
    .map(({ message_id, waits_for }) => ({ message_id, waits_for })),
})

const nextDue = (command: Extract<PersonCommand, { type: 'NextDue' }>, person: Person): Decision => {
  const { stream, now } = command
  const { members } = person
  const member = members[stream.id]
  if (member?.state !== 'in' || member.next_at === null || member.next_at > now) return []
  const { member_id, texts, follow_ups } = member
  if (isCancelled(stream, member)) return [ended(member, person, 'cancelled')]
  if (stream.kind === 'reminder' && texts === 0) {
    const at = reminderOf(command)
    if (at === undefined) return [ended(member, person, 'no_date')]
    if (at > now) return [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at: at }]
  }
  const ofMember = { ...member, is_first: isFirst(member) }
  if (texts < stream.texts.length) return [queued(command, ofMember, 'text', texts)]
  if (follow_ups === 0 && stream.follow_up) return [queued(command, ofMember, 'follow_up', 1)]
  return [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at: null }]
}

/** What is due already is left to its timer, which looks at the date as it is by then. */
const rescheduled = (circumstances: Circumstances, { members }: Person): Decision => {
  const { stream, now } = circumstances
  const member = members[stream.id]
  if (stream.kind !== 'reminder' || member?.state !== 'in' || member.texts > 0) return []
  if (member.next_at !== null && member.next_at <= now) return []
  const next_at = firstDue(circumstances) ?? null
  const { member_id } = member
  return next_at === member.next_at ? [] : [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at }]
}

const giveIssue = (command: Extract<PersonCommand, { type: 'GiveIssue' }>, person: Person): Decision => {
  const { stream, issue } = command
  const member = person.members[stream.id]
  if (member?.state !== 'in' || !member.subscribes || member.last_issue >= issue) return []
  if (isCancelled(stream, member)) return [ended(member, person, 'cancelled')]
  return [queued(command, { ...member, is_first: isFirst(member) }, 'issue', issue)]
}

const judge = (
  command: Extract<PersonCommand, { type: 'EditMessage' | 'ApproveMessage' | 'DiscardMessage' }>,
  { messages }: Person,
): Decision => {
  const message = messages[command.message_id]
  if (!message) throw new Rejection('not_found', 'There is no message with this id that waits. Check the address.')
  if (command.type === 'ApproveMessage' && message.waits_for === 'sending') return []
  if (message.sending || message.sent.length > 0)
    throw new Rejection('conflict', 'The message is being sent: it cannot be changed any more.')
  const place = placeOf(message)
  if (command.type === 'DiscardMessage')
    return [{ type: 'OutreachMessageDiscarded', ...place, was_awaiting: message.waits_for === 'approval' }]
  if (message.waits_for === 'draft') throw new Rejection('conflict', 'The message is not written yet. Wait for it.')
  if (command.type !== 'EditMessage') return [{ type: 'OutreachMessageApproved', ...place }]
  const { subject = message.subject, body = message.body } = command
  const isSame = subject === message.subject && body === message.body
  return isSame ? [] : [{ type: 'OutreachMessageEdited', ...place, subject, body }]
}

const engaged = ({ stream_id, member_id }: Member, by: 'landing' | 'survey' | 'activity'): OutreachPersonEvent => ({
  type: 'OutreachEngaged',
  stream_id,
  member_id,
  by,
  next_at: null,
})

const noteActivity = (command: Extract<PersonCommand, { type: 'NoteActivity' }>, { members }: Person): Decision =>
  Object.values(members).flatMap((member): Decision => {
    const { outcome, wrote, happened_at, streams, messageIdOf } = command
    const { stream_id, member_id, first_sent_at, outcomes, is_engaged, answers, state } = member
    if (first_sent_at === null || first_sent_at > happened_at) return []
    const stream = streams(stream_id)
    const answersIt =
      stream?.kind === 'conversation' &&
      stream.message_mode === 'drafted' &&
      wrote !== null &&
      state === 'in' &&
      answers < mostAnswers &&
      !isCancelled(stream, member)
    return [
      ...(outcomes.includes(outcome)
        ? []
        : [
            {
              type: 'OutreachOutcomeCounted',
              stream_id,
              member_id,
              outcome,
            } as const,
          ]),
      ...(is_engaged || state !== 'in' ? [] : [engaged(member, 'activity')]),
      ...(answersIt
        ? [
            queued(
              { stream, known: {}, messageIdOf: (role, number) => messageIdOf(stream_id, role, number) },
              { ...member, is_first: false },
              'answer',
              answers + 1,
              wrote,
            ),
          ]
        : []),
    ]
  })

const noteConsent = (
  { streams, isGranted }: Extract<PersonCommand, { type: 'NoteConsent' }>,
  person: Person,
): Decision =>
  Object.values(person.members).flatMap((member): Decision => {
    const stream = streams(member.stream_id)
    if (member.state !== 'in' || !stream) return []
    const isReachable = stream.channels.some((channel) => isGranted(stream.purpose, channel))
    return isReachable ? [] : [ended(member, person, 'consent_withdrawn')]
  })

const answerSurvey = (
  { stream, answer, follow_up_answer }: Extract<PersonCommand, { type: 'AnswerSurvey' }>,
  { members }: Person,
): Decision => {
  const member = members[stream.id]
  if (!stream.survey || !member || member.first_sent_at === null)
    throw new Rejection('not_found', 'There is no survey at this address. Use the link of the message.')
  const fault = answerFault(stream.survey, answer)
  if (fault) throw new Rejection('validation_failed', `The answer ${fault}.`, { answer: fault })
  const { survey, member_id, is_engaged, state } = member
  if (survey?.answer === answer && survey.follow_up_answer === follow_up_answer) return []
  return [
    {
      type: 'OutreachSurveyAnswered',
      stream_id: stream.id,
      member_id,
      answer,
      follow_up_answer,
      is_first: survey === null,
    },
    ...(is_engaged || state !== 'in' ? [] : [engaged(member, 'survey')]),
  ]
}

export const outreachPerson: Decider<PersonCommand, typeof outreachPersonEvents, Person> = {
  category: 'outreach_person',
  events: outreachPersonEvents,
  initialState: nobody,
  decide,
  evolve: evolvePerson,
}
