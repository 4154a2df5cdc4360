import { Rejection } from '../rejection.ts'
import type { OutreachStreamId } from '../values.ts'
import type { OutreachChannel, OutreachOutcome, OutreachPersonEvent } from './events.ts'
import type { Member, Person } from './member.ts'
import { ended, queued, type Decision, type Role } from './queueing.ts'
import { goesOn, isCancelled } from './sending.ts'
import type { OutreachStream } from './stream-record.ts'
import { answerFault } from './survey.ts'

/** A response of a person after messages were sent. */
export type ResponseCommand =
  /** An act that streams are for. With a text, the person wrote it. */
  | {
      readonly type: 'NoteActivity'
      readonly outcome: OutreachOutcome
      readonly wrote: string | null
      readonly happened_at: string
      /** The stream whose message it answers, where that is known. */
      readonly answered: string | null
      readonly streams: (id: string) => OutreachStream | undefined
      readonly messageIdOf: (stream_id: string, role: Role, number: number) => string
    }
  | { readonly type: 'NoteLanding'; readonly stream_id: string }
  /** A sent message could not be delivered. */
  | {
      readonly type: 'NoteUndelivered'
      readonly stream_id: OutreachStreamId
      readonly message_id: string
      readonly channel: OutreachChannel
      readonly address: string
      readonly reason: string | null
      /** The channels by which the person can be reached for the purpose of the stream. */
      readonly stream: OutreachStream | undefined
      readonly reachable: readonly OutreachChannel[]
    }
  /** The person was erased. */
  | { readonly type: 'EndAll' }
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

const engaged = ({ stream_id, member_id }: Member, by: 'landing' | 'survey' | 'activity'): OutreachPersonEvent => ({
  type: 'OutreachEngaged',
  stream_id,
  member_id,
  by,
  next_at: null,
})

/** The time from which they may have a message of a stream: it may be there before the channel's acceptance is recorded. */
const reachedAt = ({ stream_id, first_sent_at }: Member, { messages }: Person): string | undefined =>
  first_sent_at ??
  Object.values(messages)
    .flatMap((message) => (message.stream_id === stream_id && message.sending ? [message.sending.at] : []))
    .toSorted()[0]

export const noteActivity = (command: Extract<ResponseCommand, { type: 'NoteActivity' }>, person: Person): Decision =>
  Object.values(person.members).flatMap((member): Decision => {
    const { outcome, wrote, happened_at, answered, streams, messageIdOf } = command
    const { stream_id, member_id, outcomes, is_engaged, answers, state } = member
    const reached_at = reachedAt(member, person)
    // What answers a message came after it, whatever the clocks of two processes say.
    if (reached_at === undefined || (stream_id !== answered && reached_at > happened_at)) return []
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

export const noteLanding = (command: Extract<ResponseCommand, { type: 'NoteLanding' }>, person: Person): Decision => {
  const { stream_id } = command
  const member = person.members[stream_id]
  return member?.state === 'in' && !member.is_engaged ? [engaged(member, 'landing')] : []
}

export const noteUndelivered = (
  command: Extract<ResponseCommand, { type: 'NoteUndelivered' }>,
  person: Person,
): Decision => {
  const { type: _type, stream, reachable, ...told } = command
  const { channel, message_id } = told
  const member = person.members[command.stream_id]
  const isKnown = person.undelivered[channel]?.message_id === message_id
  if (!member || isKnown) return []
  // The gateway may tell of it before it is recorded that it took the message.
  const waiting = person.messages[message_id]
  if (member.first_sent_at === null && !waiting) return []
  const last = person.last_sent[channel]?.message
  const message = waiting ?? (last?.message_id === message_id ? last : undefined)
  const goes_on =
    stream !== undefined && message !== undefined && goesOn({ stream, reachable, channel }, message, person)
  return [{ type: 'OutreachMessageUndelivered', member_id: member.member_id, ...told, goes_on }]
}

export const endAll = (person: Person): Decision =>
  Object.values(person.members)
    .filter(({ state }) => state === 'in')
    .map((member) => ended(member, person, 'consent_withdrawn'))

export const noteConsent = (
  { streams, isGranted }: Extract<ResponseCommand, { type: 'NoteConsent' }>,
  person: Person,
): Decision =>
  Object.values(person.members).flatMap((member): Decision => {
    const stream = streams(member.stream_id)
    if (member.state !== 'in' || !stream) return []
    const isReachable = stream.channels.some((channel) => isGranted(stream.purpose, channel))
    return isReachable ? [] : [ended(member, person, 'consent_withdrawn')]
  })

export const answerSurvey = (
  { stream, answer, follow_up_answer }: Extract<ResponseCommand, { type: 'AnswerSurvey' }>,
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
