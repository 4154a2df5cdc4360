import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { evolveMarketSearch } from '#domain/market-quotes/record.ts'
import { documentProjection, streamId } from '../document-projection.ts'

/** Every search of the market, for the operator: an application shows its latest only. */
export const marketSearches = documentProjection({
  name: 'market_searches',
  version: 1,
  categories: ['application'],
  events: marketQuoteEvents,
  awaited: 'never',
  keys: (event) =>
    event.type === 'MarketSearchRequested' && event.replaces !== null
      ? [{ id: event.request_id }, { id: event.replaces }]
      : [{ id: event.request_id }],
  evolve: evolveMarketSearch,
  columns: {
    application_id: streamId,
    requested_at: 'timestamptz',
    document: 'json',
  },
  indexes: ['organisation_id, requested_at, id'],
})
