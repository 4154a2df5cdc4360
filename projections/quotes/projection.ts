import { quoteEvents } from '#domain/quotes/events.ts'
import { evolveQuote } from '#domain/quotes/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every quote as it is shown. */
export const quotes = documentProjection({
  name: 'quotes',
  version: 3,
  categories: ['application'],
  events: quoteEvents,
  keys: ({ quote_id: id }) => [{ id }],
  evolve: evolveQuote,
  columns: {
    application_id: 'uuid',
    product_id: 'uuid',
    status: 'text',
    created_at: 'timestamptz',
    // Of the application's stream when it was issued: the order in which it was, whoever issued it.
    revision: { type: 'integer', of: (_quote, { revision }, _event, before) => before ?? revision },
    document: 'json',
  },
  indexes: [
    'organisation_id, application_id, revision',
    'organisation_id, created_at, id',
    'organisation_id, product_id, created_at, id',
    'organisation_id, status, created_at, id',
  ],
})
