import { idOf, organisationOf } from '#domain/event.ts'
import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { evolveMarketSearch, type MarketSearchRecord } from '#domain/market-quotes/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly application_id: string
  readonly requested_at: string
  readonly document: MarketSearchRecord
}

/** Every search of the market, for the operator: an application shows its latest only. */
export const marketSearches: Projection<typeof marketQuoteEvents, Row, 'organisation_id' | 'id'> = {
  name: 'market_searches',
  version: 1,
  categories: ['application'],
  events: marketQuoteEvents,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      application_id: 'uuid',
      requested_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, requested_at, id'],
  },

  keys: (event, recorded) => {
    const organisation_id = organisationOf(recorded)
    const own = { organisation_id, id: event.request_id }
    return event.type === 'MarketSearchRequested' && event.replaces !== null
      ? [own, { organisation_id, id: event.replaces }]
      : [own]
  },

  project: (row, event, { stream, metadata }, key) => {
    const document = evolveMarketSearch(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of market search ${key.id}, which was never asked for.`)
    return { ...key, application_id: idOf(stream), requested_at: document.requested_at, document }
  },
}
