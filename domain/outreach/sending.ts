import type { OutreachChannel, OutreachPersonEvent } from './events.ts'
import type { Member, Message, Person } from './member.ts'
import type { OutreachStream } from './stream-record.ts'

type Decision = readonly OutreachPersonEvent[]

type OfMessage = {
  readonly stream: OutreachStream
  readonly message_id: string
  /** The channels of the stream for which the person has consented to its purpose, and has an address. */
  readonly reachable: readonly OutreachChannel[]
  readonly now: string
}

export type SendingCommand =
  | (OfMessage & { readonly type: 'BeginSending' })
  | (OfMessage & { readonly type: 'RecordSent'; readonly channel: OutreachChannel; readonly reference: string | null })
  | (OfMessage & {
      readonly type: 'RecordFailure'
      readonly channel: OutreachChannel
      readonly reason: string
      /** The channel said that it will never take it. */
      readonly is_final: boolean
    })

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** A process that began to send so long ago and did not say what became of it has died. */
const sendingForMs = minuteMs

/** Minutes before the next try; after the last, the channel is given up. */
const retryMinutes = [1, 5, 30, 120]

const later = (instant: string, ms: number): string => new Date(Date.parse(instant) + ms).toISOString()

/** Nothing more is sent to a person of a stream. */
export const isCancelled = (
  { archived_at, work_cancelled_at }: Pick<OutreachStream, 'archived_at' | 'work_cancelled_at'>,
  { joined_at }: Pick<Member, 'joined_at'>,
): boolean => archived_at !== null || (work_cancelled_at !== null && joined_at <= work_cancelled_at)

/** Why a message is not sent; undefined when it is. */
export const skipReason = (
  { stream, reachable }: Pick<OfMessage, 'stream' | 'reachable'>,
  message: Message,
  { members }: Person,
): 'no_consent' | 'engaged' | 'ended' | 'cancelled' | undefined => {
  const member = members[message.stream_id]
  if (!member || member.state !== 'in') return 'ended'
  if (isCancelled(stream, member)) return 'cancelled'
  const reminds = message.role === 'follow_up' || (message.role === 'text' && message.number > 0)
  if (reminds && member.is_engaged) return 'engaged'
  return reachable.length === 0 ? 'no_consent' : undefined
}

/** The channels that a message still can go by, the preferred one first. */
const channelsLeft = (stream: OutreachStream, { sent, refused }: Message, reachable: readonly OutreachChannel[]) =>
  stream.channels.filter(
    (channel) => reachable.includes(channel) && !sent.includes(channel) && !refused.includes(channel),
  )

/** The number of messages that sending it takes. */
export const messagesOf = (stream: OutreachStream, message: Message, reachable: readonly OutreachChannel[]): number =>
  stream.all_channels ? Math.max(1, channelsLeft(stream, message, reachable).length) : 1

const messageIds = ({ message_id, member_id }: Message, { id: stream_id }: OutreachStream) => ({
  stream_id,
  member_id,
  message_id,
})

/** Nothing when another process is sending it, or it does not wait for that. */
export const beginSending = (command: Extract<SendingCommand, { type: 'BeginSending' }>, person: Person): Decision => {
  const { stream, message_id, reachable, now } = command
  const message = person.messages[message_id]
  if (message?.waits_for !== 'sending') return []
  const { sending, retry_at, sent } = message
  if (sending && later(sending.at, sendingForMs) > now) return []
  if (retry_at !== null && retry_at > now) return []
  const ids = messageIds(message, stream)
  const reason = skipReason(command, message, person)
  // What may have gone out already is asked of the channel again: it knows the message.
  const channel = sending && reachable.includes(sending.channel) ? sending.channel : undefined
  const next = channel ?? channelsLeft(stream, message, reachable)[0]
  if (reason || !next) {
    const is_person_skipped = person.members[stream.id]?.first_sent_at === null && sent.length === 0
    return [
      {
        type: 'OutreachMessageSkipped',
        ...ids,
        reason: reason ?? 'no_consent',
        is_person_skipped,
        was_unwritten: false,
      },
    ]
  }
  return [{ type: 'OutreachSendingBegun', ...ids, channel: next }]
}

/** When the person is due the next message by time, after this one was sent: never, when they have left meanwhile. */
const nextAfter = (stream: OutreachStream, message: Message, member: Member, now: string): string | null => {
  if (member.state !== 'in') return null
  if (message.role === 'answer' || message.role === 'issue' || message.role === 'follow_up') return member.next_at
  if (member.is_engaged) return null
  const following = stream.kind === 'sequence' ? stream.texts[message.number + 1] : undefined
  if (following) return later(now, following.after_days * dayMs)
  return stream.follow_up_after_days > 0 ? later(now, stream.follow_up_after_days * dayMs) : null
}

export const recordSent = (command: Extract<SendingCommand, { type: 'RecordSent' }>, person: Person): Decision => {
  const { stream, message_id, channel, reference, reachable, now } = command
  const message = person.messages[message_id]
  const member = person.members[stream.id]
  if (!message || !member || message.sending?.channel !== channel) return []
  const others = channelsLeft(stream, message, reachable).filter((each) => each !== channel)
  // The gateway may have told already that it could not deliver it.
  const isReturned = person.undelivered[channel]?.message_id === message_id
  const is_last = others.length === 0 || !(stream.all_channels || isReturned)
  return [
    {
      type: 'OutreachMessageSent',
      ...messageIds(message, stream),
      role: message.role,
      channel,
      reference,
      is_last,
      next_at: is_last ? nextAfter(stream, message, member, now) : member.next_at,
    },
  ]
}

/** A message that could not be delivered over a channel goes by another one. */
export const goesOn = (
  { stream, reachable, channel }: Pick<OfMessage, 'stream' | 'reachable'> & { readonly channel: OutreachChannel },
  message: Message,
  person: Person,
): boolean =>
  !stream.all_channels &&
  skipReason({ stream, reachable }, message, person) === undefined &&
  channelsLeft(stream, message, reachable).some((each) => each !== channel)

export const recordFailure = (
  command: Extract<SendingCommand, { type: 'RecordFailure' }>,
  person: Person,
): Decision => {
  const { stream, message_id, channel, reason, is_final, reachable, now } = command
  const message = person.messages[message_id]
  const member = person.members[stream.id]
  if (!message || !member || message.sending?.channel !== channel) return []
  const minutes = is_final ? undefined : retryMinutes[message.attempts]
  const others = channelsLeft(stream, message, reachable).filter((each) => each !== channel)
  const is_last = minutes === undefined && others.length === 0
  const wasSent = message.sent.length > 0
  return [
    {
      type: 'OutreachSendingFailed',
      ...messageIds(message, stream),
      channel,
      reason,
      retry_at: minutes === undefined ? null : later(now, minutes * minuteMs),
      is_last,
      is_errored: is_last && !wasSent,
      next_at: is_last && wasSent ? nextAfter(stream, message, member, now) : member.next_at,
    },
  ]
}
