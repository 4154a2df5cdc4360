import { organisationOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { evolveQuote, type Quote } from '#domain/quotes/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly application_id: string
  readonly product_id: string
  readonly status: string
  readonly created_at: string
  /** Of the application's stream when it was issued: the order in which it was, whoever issued it. */
  readonly revision: number
  readonly document: Quote
}

/** Every quote as it is shown. */
export const quotes: Projection<typeof quoteEvents, Row, 'organisation_id' | 'id'> = {
  name: 'quotes',
  version: 3,
  categories: ['application'],
  events: quoteEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      application_id: 'uuid',
      product_id: 'uuid',
      status: 'text',
      created_at: 'timestamptz',
      revision: 'integer',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, application_id, revision',
      'organisation_id, created_at, id',
      'organisation_id, product_id, created_at, id',
      'organisation_id, status, created_at, id',
    ],
  },

  keys: ({ quote_id }, recorded) => [{ organisation_id: organisationOf(recorded), id: quote_id }],

  project: (row, event, { metadata, revision: now }, key) => {
    const document = evolveQuote(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of quote ${event.quote_id}, which was never issued.`)
    const { application_id, product_id, status, created_at } = document
    const revision = row?.revision ?? now
    return { ...key, application_id, product_id, status, created_at, revision, document }
  },
}
