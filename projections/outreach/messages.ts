import { idOf, organisationOf } from '#domain/event.ts'
import { outreachEvents, outreachPersonEvents, type OutreachPersonEvent } from '#domain/outreach/events.ts'
import type { ShownCost, ShownMessage } from '#domain/outreach/record.ts'
import { CustomerId } from '#domain/values.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly stream_id: string
  readonly id: string
  readonly state: string
  readonly created_at: string
  readonly document: ShownMessage
}

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

/** Every message of every outreach stream. */
export const outreachMessages: Projection<typeof events, Row, 'organisation_id' | 'stream_id' | 'id'> = {
  name: 'outreach_messages',
  version: 3,
  categories: ['outreach_person'],
  events,
  table: {
    columns: {
      organisation_id: 'uuid',
      stream_id: 'uuid',
      id: 'uuid',
      state: 'text',
      created_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'stream_id', 'id'],
    indexes: [
      'organisation_id, stream_id, created_at desc, id desc',
      'organisation_id, stream_id, state, created_at desc, id desc',
    ],
  },

  keys: (event, recorded) => {
    const place = { organisation_id: organisationOf(recorded), stream_id: event.stream_id }
    const ids = event.type === 'OutreachEnded' ? event.dropped.map(({ message_id }) => message_id) : [event.message_id]
    return ids.map((id) => ({ ...place, id }))
  },

  project: (row, event, { stream, metadata: { occurred_at } }, key) => {
    if (event.type === 'OutreachMessageQueued') {
      const { message_id: id, role, number, waits_for, subject, body, answers } = event
      const document: ShownMessage = {
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
      return { ...key, state: document.state, created_at: occurred_at, document }
    }
    if (!row) return undefined
    const document = { ...row.document, ...changeOf(row.document, event, occurred_at), updated_at: occurred_at }
    return { ...row, state: document.state, document }
  },
}

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

type CostRow = {
  readonly organisation_id: string
  readonly stream_id: string
  readonly id: string
  readonly charged_at: string
  readonly document: ShownCost
}

const { OutreachDraftCharged } = outreachEvents

/** What every call of the writer cost. */
export const outreachCosts: Projection<
  { OutreachDraftCharged: typeof OutreachDraftCharged },
  CostRow,
  'organisation_id' | 'stream_id' | 'id'
> = {
  name: 'outreach_costs',
  version: 1,
  categories: ['outreach'],
  events: { OutreachDraftCharged },
  table: {
    columns: {
      organisation_id: 'uuid',
      stream_id: 'uuid',
      id: 'uuid',
      charged_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'stream_id', 'id'],
    indexes: ['organisation_id, stream_id, charged_at desc, id desc'],
  },

  keys: (_event, recorded) => [
    { organisation_id: organisationOf(recorded), stream_id: idOf(recorded.stream), id: recorded.id },
  ],

  project: (_row, { type: _type, call_id: _call, ...charged }, { metadata: { occurred_at: charged_at } }, key) => ({
    ...key,
    charged_at,
    document: { id: key.id, ...charged, charged_at },
  }),
}
