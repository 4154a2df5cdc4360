import { idOf, type EventOf, type Metadata, type RecordedEvent } from '#domain/event.ts'
import { outreachEvents, outreachPersonEvents, type OutreachPersonEvent } from '#domain/outreach/events.ts'
import type { ShownCost, ShownMessage } from '#domain/outreach/record.ts'
import { CustomerId } from '#domain/values.ts'
import { documentProjection } from '../document-projection.ts'

const {
  OutreachMessageQueued,
  OutreachMessageDrafted,
  OutreachDraftFailed,
  OutreachMessageEdited,
  OutreachMessageApproved,
  OutreachMessageDiscarded,
  OutreachSendingBegun,
  OutreachMessageSent,
  OutreachSendingFailed,
  OutreachMessageUndelivered,
  OutreachMessageSkipped,
  OutreachEnded,
} = outreachPersonEvents
const events = {
  OutreachMessageQueued,
  OutreachMessageDrafted,
  OutreachDraftFailed,
  OutreachMessageEdited,
  OutreachMessageApproved,
  OutreachMessageDiscarded,
  OutreachSendingBegun,
  OutreachMessageSent,
  OutreachSendingFailed,
  OutreachMessageUndelivered,
  OutreachMessageSkipped,
  OutreachEnded,
}
type MessageEvent = Extract<OutreachPersonEvent, { type: keyof typeof events }>

const stateOf = { draft: 'drafting', approval: 'awaiting_approval', sending: 'to_send' } as const

const evolveMessage = (
  message: ShownMessage | undefined,
  event: MessageEvent,
  { occurred_at }: Metadata,
  { stream }: RecordedEvent,
): ShownMessage | null => {
  if (event.type === 'OutreachMessageQueued') {
    const { message_id: id, role, number, waits_for, subject, body, answers } = event
    return {
      id,
      contact_id: CustomerId.parse(idOf(stream)),
      role,
      number,
      state: stateOf[waits_for],
      subject,
      body,
      answers,
      sent: [],
      reason: null,
      created_at: occurred_at,
      updated_at: occurred_at,
    }
  }
  return message ? { ...message, ...changeOf(message, event, occurred_at), updated_at: occurred_at } : null
}

/** Every message of every outreach stream. */
export const outreachMessages = documentProjection({
  name: 'outreach_messages',
  version: 3,
  categories: ['outreach_person'],
  events,
  key: { stream_id: 'uuid', id: 'uuid' },
  keys: (event) => {
    const ids = event.type === 'OutreachEnded' ? event.dropped.map(({ message_id }) => message_id) : [event.message_id]
    return ids.map((id) => ({ stream_id: event.stream_id, id }))
  },
  evolve: evolveMessage,
  columns: {
    state: 'text',
    created_at: 'timestamptz',
    document: 'json',
  },
  indexes: [
    'organisation_id, stream_id, created_at desc, id desc',
    'organisation_id, stream_id, state, created_at desc, id desc',
  ],
})

const changeOf = (
  message: ShownMessage,
  event: Exclude<MessageEvent, { type: 'OutreachMessageQueued' }>,
  sent_at: string,
): Partial<ShownMessage> => {
  switch (event.type) {
    case 'OutreachMessageDrafted':
      return { state: stateOf[event.waits_for], subject: event.subject, body: event.body, reason: null }
    case 'OutreachDraftFailed':
      return { state: event.retry_at === null ? 'errored' : 'drafting', reason: event.reason }
    case 'OutreachMessageEdited':
      return { subject: event.subject, body: event.body }
    case 'OutreachMessageApproved':
      return { state: 'to_send' }
    case 'OutreachMessageDiscarded':
      return { state: 'discarded' }
    case 'OutreachSendingBegun':
      return { state: 'sending' }
    case 'OutreachMessageSent': {
      const { channel, reference, is_last } = event
      const sent = [...message.sent, { channel, sent_at, reference }]
      // News of it may come before it is recorded that it was sent.
      if (is_last && message.state === 'errored') return { sent }
      return { state: is_last ? 'sent' : 'to_send', sent, reason: null }
    }
    case 'OutreachSendingFailed': {
      const { is_errored, is_last, reason } = event
      return { state: is_errored ? 'errored' : is_last ? 'sent' : 'to_send', reason }
    }
    case 'OutreachMessageUndelivered':
      return { state: event.goes_on ? 'to_send' : 'errored', reason: event.reason ?? 'undeliverable' }
    case 'OutreachMessageSkipped':
      return { state: 'skipped', reason: event.reason }
    case 'OutreachEnded':
      return { state: 'skipped', reason: event.reason }
  }
}

const { OutreachDraftCharged } = outreachEvents

type Charged = EventOf<Pick<typeof outreachEvents, 'OutreachDraftCharged'>>

const costOf = (
  _before: unknown,
  { type: _type, call_id: _call, ...charged }: Charged,
  { occurred_at }: Metadata,
  { id }: RecordedEvent,
): ShownCost => ({ id, ...charged, charged_at: occurred_at })

/** The cost of every writer's call. */
export const outreachCosts = documentProjection({
  name: 'outreach_costs',
  version: 1,
  categories: ['outreach'],
  events: { OutreachDraftCharged },
  key: { stream_id: 'uuid', id: 'uuid' },
  keys: (_event, { stream, id }) => [{ stream_id: idOf(stream), id }],
  evolve: costOf,
  columns: {
    charged_at: 'timestamptz',
    document: 'json',
  },
  indexes: ['organisation_id, stream_id, charged_at desc, id desc'],
})
