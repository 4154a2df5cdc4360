import { organisationOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  /** What is due: the name of a timer of command-api. */
  readonly kind: string
  readonly id: string
  /** The stream that the timer's command changes. */
  readonly stream: string
  readonly due_at: string
}

/** What will be due, and when. A row goes when what it waits for has happened, or can happen no more. */
export const dueTimes: Projection<typeof quoteEvents, Row, 'organisation_id' | 'kind' | 'id'> = {
  name: 'due_times',
  version: 1,
  categories: ['application'],
  events: quoteEvents,
  awaited: false,
  table: {
    columns: { organisation_id: 'uuid', kind: 'text', id: 'uuid', stream: 'text', due_at: 'timestamptz' },
    key: ['organisation_id', 'kind', 'id'],
    indexes: ['due_at, organisation_id, kind, id'],
  },

  keys: ({ quote_id }, recorded) => [{ organisation_id: organisationOf(recorded), kind: 'quote_expiry', id: quote_id }],

  project: (row, event, { stream }, key) => {
    switch (event.type) {
      case 'QuoteIssued':
        return { ...key, stream, due_at: event.expires_at }
      case 'QuoteAccepted':
        return row
      case 'QuoteReplaced':
      case 'QuoteRejected':
      case 'QuoteExpired':
        return undefined
    }
  },
}
