import type { CustomerId, OrganisationId, OutreachStreamId } from '../values.ts'
import type { OutreachChannel, OutreachOutcome, OutreachPersonEvent } from './events.ts'

type Queued = Extract<OutreachPersonEvent, { type: 'OutreachMessageQueued' }>

/** A message on its way; what is over is forgotten. */
export type Message = Pick<
  Queued,
  'message_id' | 'stream_id' | 'member_id' | 'role' | 'number' | 'waits_for' | 'is_first'
> & {
  readonly subject: string | null
  readonly body: string | null
  readonly answers: string | null
  /** The channel by which it is being sent, and since when. */
  readonly sending: { readonly channel: OutreachChannel; readonly at: string } | null
  /** The channels that it has gone by, or cannot go by. */
  readonly sent: readonly OutreachChannel[]
  readonly refused: readonly OutreachChannel[]
  readonly attempts: number
  /** Not before then. */
  readonly retry_at: string | null
}

/** A person in a stream. */
export type Member = {
  readonly stream_id: OutreachStreamId
  readonly member_id: string
  readonly state: 'in' | 'refused' | 'ended'
  readonly joined_at: string
  readonly columns: Readonly<Record<string, string>>
  readonly subscribes: boolean
  /** The stream's texts given to them. */
  readonly texts: number
  readonly last_issue: number
  readonly answers: number
  readonly follow_ups: number
  readonly next_at: string | null
  /** The time of the first message to them. */
  readonly first_sent_at: string | null
  readonly is_engaged: boolean
  readonly outcomes: readonly OutreachOutcome[]
  readonly survey: { readonly answer: string; readonly follow_up_answer: string | null } | null
}

type LastSent = Pick<Message, 'stream_id' | 'message_id'> & {
  readonly at: string
  /** The whole message: should it come back, it goes by another channel. */
  readonly message: Message | null
}
type Undelivered = Pick<Message, 'message_id'> & { readonly address: string }

/** All that is between a person and outreach streams. */
export type Person = {
  readonly organisation_id: OrganisationId | null
  readonly contact_id: CustomerId | null
  readonly members: Readonly<Record<string, Member>>
  readonly messages: Readonly<Record<string, Message>>
  /** The last message that went out over each channel. */
  readonly last_sent: Readonly<Partial<Record<OutreachChannel, LastSent>>>
  /** The last message over each channel that could not be delivered, and to what address. */
  readonly undelivered: Readonly<Partial<Record<OutreachChannel, Undelivered>>>
}

export const nobody: Person = {
  organisation_id: null,
  contact_id: null,
  members: {},
  messages: {},
  last_sent: {},
  undelivered: {},
}

/** The streams that may send them something more, as far as the person is concerned, and when they joined each. */
export const expectingOf = ({ members, messages }: Person): readonly Pick<Member, 'stream_id' | 'joined_at'>[] => {
  const waiting = new Set(Object.values(messages).map(({ stream_id }) => stream_id))
  return Object.values(members)
    .filter(
      ({ stream_id, state, subscribes, next_at }) =>
        waiting.has(stream_id) || (state === 'in' && (subscribes || next_at !== null)),
    )
    .map(({ stream_id, joined_at }) => ({ stream_id, joined_at }))
}

const without = <Value>(record: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(record).filter(([each]) => each !== key))

export const evolvePerson = (
  person: Person,
  event: OutreachPersonEvent,
  { occurred_at }: { readonly occurred_at: string },
): Person => {
  const { stream_id } = event
  switch (event.type) {
    case 'OutreachJoined':
    case 'OutreachJoinRefused': {
      const { organisation_id, contact_id, member_id } = event
      const isIn = event.type === 'OutreachJoined'
      const member: Member = {
        stream_id,
        member_id,
        state: isIn ? 'in' : 'refused',
        joined_at: occurred_at,
        columns: isIn ? event.columns : {},
        subscribes: isIn && event.subscribes,
        texts: 0,
        last_issue: isIn ? event.last_issue : 0,
        answers: 0,
        follow_ups: 0,
        next_at: isIn ? event.next_at : null,
        first_sent_at: null,
        is_engaged: false,
        outcomes: [],
        survey: null,
      }
      return { ...person, organisation_id, contact_id, members: { ...person.members, [stream_id]: member } }
    }
    case 'OutreachRescheduled':
      return withMember(person, stream_id, { next_at: event.next_at })
    case 'OutreachMessageQueued': {
      const { message_id, member_id, role, number, waits_for, is_first, subject, body, answers } = event
      const message: Message = {
        message_id,
        stream_id,
        member_id,
        role,
        number,
        waits_for,
        is_first,
        subject,
        body,
        answers,
        sending: null,
        sent: [],
        refused: [],
        attempts: 0,
        retry_at: null,
      }
      const counted = {
        text: { texts: number + 1 },
        issue: { last_issue: number },
        answer: { answers: number },
        follow_up: { follow_ups: 1 },
      }[role]
      const messages = { ...person.messages, [message_id]: message }
      return withMember({ ...person, messages }, stream_id, { ...counted, next_at: null })
    }
    case 'OutreachMessageDrafted':
    case 'OutreachMessageEdited': {
      const { subject, body } = event
      const waits = event.type === 'OutreachMessageDrafted' ? { waits_for: event.waits_for, attempts: 0 } : {}
      return withMessage(person, event.message_id, { subject, body, retry_at: null, ...waits })
    }
    case 'OutreachDraftFailed': {
      if (event.retry_at === null) return { ...person, messages: without(person.messages, event.message_id) }
      const attempts = (person.messages[event.message_id]?.attempts ?? 0) + 1
      return withMessage(person, event.message_id, { attempts, retry_at: event.retry_at })
    }
    case 'OutreachMessageApproved':
      return withMessage(person, event.message_id, { waits_for: 'sending' })
    case 'OutreachMessageDiscarded':
    case 'OutreachMessageSkipped':
      return { ...person, messages: without(person.messages, event.message_id) }
    case 'OutreachSendingBegun':
      return withMessage(person, event.message_id, { sending: { channel: event.channel, at: occurred_at } })
    case 'OutreachMessageSent': {
      const { message_id, channel } = event
      const sent = [...(person.messages[message_id]?.sent ?? []), channel]
      const after = event.is_last
        ? { ...person, messages: without(person.messages, message_id) }
        : withMessage(person, message_id, { sent, sending: null, attempts: 0 })
      // Whoever answers at once may do so before it is recorded that the channel took it.
      const begun_at = person.messages[message_id]?.sending?.at ?? occurred_at
      const first_sent_at = person.members[stream_id]?.first_sent_at ?? begun_at
      const message = person.messages[message_id] ?? null
      const last_sent = { ...person.last_sent, [channel]: { stream_id, message_id, at: occurred_at, message } }
      return withMember({ ...after, last_sent }, stream_id, {
        first_sent_at,
        ...(event.is_last && { next_at: event.next_at }),
      })
    }
    case 'OutreachSendingFailed': {
      if (event.is_last)
        return withMember({ ...person, messages: without(person.messages, event.message_id) }, stream_id, {
          next_at: event.next_at,
        })
      const message = person.messages[event.message_id]
      const failed =
        event.retry_at === null
          ? { refused: [...(message?.refused ?? []), event.channel], attempts: 0, retry_at: null }
          : { attempts: (message?.attempts ?? 0) + 1, retry_at: event.retry_at }
      return withMessage(person, event.message_id, { sending: null, ...failed })
    }
    case 'OutreachMessageUndelivered': {
      const { channel, message_id, address } = event
      const noted = { ...person, undelivered: { ...person.undelivered, [channel]: { message_id, address } } }
      const message = person.last_sent[channel]?.message
      if (!event.goes_on || person.messages[message_id] || message?.message_id !== message_id) return noted
      const refused = [...message.refused, channel]
      const again: Message = { ...message, refused, sending: null, attempts: 0, retry_at: null }
      return { ...noted, messages: { ...person.messages, [message_id]: again } }
    }
    case 'OutreachEngaged':
      return withMember(person, stream_id, { is_engaged: true, next_at: event.next_at })
    case 'OutreachOutcomeCounted': {
      const outcomes = [...(person.members[stream_id]?.outcomes ?? []), event.outcome]
      return withMember(person, stream_id, { outcomes })
    }
    case 'OutreachSurveyAnswered': {
      const { answer, follow_up_answer } = event
      return withMember(person, stream_id, { survey: { answer, follow_up_answer } })
    }
    case 'OutreachEnded': {
      const isDropped = (id: string) => event.dropped.some(({ message_id }) => message_id === id)
      const left = Object.entries(person.messages).filter(([id]) => !isDropped(id))
      return withMember({ ...person, messages: Object.fromEntries(left) }, stream_id, {
        state: 'ended',
        subscribes: false,
        next_at: null,
      })
    }
  }
}

const withMember = (person: Person, stream_id: string, changed: Partial<Member>): Person => {
  const member = person.members[stream_id]
  return member ? { ...person, members: { ...person.members, [stream_id]: { ...member, ...changed } } } : person
}

const withMessage = (person: Person, message_id: string, changed: Partial<Message>): Person => {
  const message = person.messages[message_id]
  return message ? { ...person, messages: { ...person.messages, [message_id]: { ...message, ...changed } } } : person
}
