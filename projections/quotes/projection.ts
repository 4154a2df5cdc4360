import { organisationOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { evolveQuote, type Quote } from '#domain/quotes/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly application_id: string
  readonly created_at: string
  readonly document: Quote
}

/** Every quote as it is shown. */
export const quotes: Projection<typeof quoteEvents, Row, 'organisation_id' | 'id'> = {
  name: 'quotes',
  version: 1,
  categories: ['application'],
  events: quoteEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      application_id: 'uuid',
      created_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, application_id, created_at'],
  },

  keys: ({ quote_id }, recorded) => [{ organisation_id: organisationOf(recorded), id: quote_id }],

  project: (row, event, { metadata }, key) => {
    const document = evolveQuote(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of quote ${event.quote_id}, which was never issued.`)
    return { ...key, application_id: document.application_id, created_at: document.created_at, document }
  },
}
