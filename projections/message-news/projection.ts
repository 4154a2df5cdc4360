import { idOf, organisationOf } from '#domain/event.ts'
import { messageNewsEvents, type MessageNewsEvent } from '#domain/message-news/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  /** Of what was told: with several people who have one address, of all their rows. */
  readonly news_id: string
  readonly contact_id: string | null
  readonly received_at: string
  readonly document: Omit<MessageNewsEvent, 'type'>
}

/** What message gateways have told, and of whom. */
export const messageNews: Projection<typeof messageNewsEvents, Row, 'organisation_id' | 'id'> = {
  name: 'message_news',
  version: 2,
  categories: ['message_news'],
  events: messageNewsEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      news_id: 'uuid',
      contact_id: 'uuid',
      received_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, received_at, id', 'organisation_id, contact_id, received_at, id'],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: recorded.id }],

  project: (_row, { type: _type, ...document }, { stream, metadata: { occurred_at: received_at } }, key) => {
    const { contact_id } = document
    return { ...key, news_id: idOf(stream), contact_id, received_at, document }
  },
}
