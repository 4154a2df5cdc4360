import { messageNewsEvents, type MessageNewsEvent } from '#domain/message-news/events.ts'
import { documentProjection, happenedAt, recordedId, streamId } from '../document-projection.ts'

const newsIn = (_before: unknown, { type: _type, ...news }: MessageNewsEvent): Omit<MessageNewsEvent, 'type'> => news

/** Reports of message gateways, and the people concerned. */
export const messageNews = documentProjection({
  name: 'message_news',
  version: 2,
  categories: ['message_news'],
  events: messageNewsEvents,
  keys: recordedId,
  evolve: newsIn,
  columns: {
    // With several people who have one address, of all their rows.
    news_id: streamId,
    contact_id: 'uuid',
    received_at: happenedAt,
    document: 'json',
  },
  indexes: ['organisation_id, received_at, id', 'organisation_id, contact_id, received_at, id'],
})
