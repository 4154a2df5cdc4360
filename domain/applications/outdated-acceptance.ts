import type { MarketQuoteEvent } from '../market-quotes/events.ts'
import type { QuoteEvent } from '../quotes/events.ts'
import type { ApplicationEvent } from './events.ts'
import { evolve, latestQuote, pricedInputs, type ApplicationState } from './state.ts'

/** These events; and if they change what an accepted quote, or a search of the market, rests on, that it is outdated. */
export const withOutdatedAcceptance = (
  state: ApplicationState,
  events: readonly ApplicationEvent[],
): readonly (ApplicationEvent | MarketQuoteEvent | QuoteEvent)[] => {
  const { market_search } = state.record
  if (state.record.status !== 'quoted' && !market_search) return events
  const recorded = { occurred_at: state.record.updated_at }
  const after = events.reduce((before, event) => evolve(before, event, recorded) ?? before, state)
  const inputs = pricedInputs(after)
  const isOutdated = state.record.status === 'quoted' && inputs !== pricedInputs(state)
  const stale = inputs !== state.searched_inputs
  return [
    ...events,
    ...(isOutdated ? [{ type: 'AcceptanceOutdated', application_id: state.record.id } as const] : []),
    ...(isOutdated ? voidedAcceptance(state) : []),
    ...(market_search && market_search.stale !== stale
      ? [{ type: 'MarketQuotesOutdated', request_id: market_search.request_id, stale } as const]
      : []),
  ]
}

/** An application that the team accepted has a quote that nobody has accepted yet. */
const voidedAcceptance = (state: ApplicationState): readonly QuoteEvent[] => {
  const quote = latestQuote(state)?.quote
  return quote?.status === 'current' && quote.accepted_at !== null
    ? [{ type: 'QuoteAcceptanceVoided', quote_id: quote.id }]
    : []
}
