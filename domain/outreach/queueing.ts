import type { OutreachChannel, OutreachPersonEvent } from './events.ts'
import type { Member, Message, Person } from './member.ts'
import { filledIn, textOf } from './message-text.ts'
import type { OutreachStream } from './stream-record.ts'

export type Decision = readonly OutreachPersonEvent[]
export type Role = Message['role']

/** The context of decisions about a stream's messages. */
export type Circumstances = {
  readonly stream: OutreachStream
  readonly now: string
  readonly time_zone: string
  /** The channels of the stream for which the person has consented to its purpose, and has an address. */
  readonly reachable: readonly OutreachChannel[]
  /** The person's details for texts. */
  readonly known: Readonly<Record<string, string | null>>
  /** Of a reminder: the date that it is relative to, as it is now. */
  readonly date: string | null
  /** The id follows from stream, person, role and number. */
  readonly messageIdOf: (role: Role, number: number) => string
}

export const messageIds = ({ stream_id, member_id, message_id }: Message) => ({ stream_id, member_id, message_id })

export const queued = (
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

export const isFirst = ({ texts, first_sent_at }: Member): boolean => texts === 0 && first_sent_at === null

export const ended = (
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
