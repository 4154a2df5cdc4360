import { z } from 'zod'
import {
  MarketFailure,
  MarketOffer,
  MarketSearch,
  marketQuoteEvents,
  type MarketQuoteEvent,
} from '#domain/market-quotes/events.ts'
import { ApplicationId, ProductId } from '#domain/values.ts'
import type { Personal } from '../event.ts'
import { ShownGone, shownGone, type ApplicationEvents, type Told } from './quote-events.ts'

/** Prices that came from outside: what was sent to the panel, and what its providers answered. */
export const MarketPrice = z
  .object({
    origin: z.literal('market'),
    request_id: z.uuid(),
    application_id: ApplicationId,
    product_id: ProductId,
    said: z.string().describe('Where the prices come from, in words.'),
    currency_code: z.string(),
    requested_at: z.iso.datetime(),
    search_id: z.string().nullable().describe('The panel’s own id of the search; null: the panel never took it on.'),
    sent: MarketSearch.nullable().describe('What the providers were sent. null: masked, or gone.'),
    results: z.array(
      z.object({
        result_id: z.uuid(),
        provider_id: z.string(),
        provider_name: z.string(),
        received_at: z.iso.datetime(),
        selected_at: z.iso.datetime().nullable().describe('When the customer chose it.'),
        offer: MarketOffer.nullable().describe('What the provider answered. null: masked, or gone.'),
      }),
    ),
    failure_code: MarketFailure.nullable(),
    gone: z.array(ShownGone).describe('What events said of a person who was erased.'),
  })
  .meta({ id: 'MarketQuotePrice' })
type MarketPrice = z.input<typeof MarketPrice>

type OfSearch = { readonly event: MarketQuoteEvent; readonly recorded: Told['recorded'] }

const isOfSearch =
  (request_id: string) =>
  (told: Told): told is OfSearch =>
    Object.hasOwn(marketQuoteEvents, told.event.type) && (told.event as MarketQuoteEvent).request_id === request_id

/** The prices of a search of the market. Undefined: the application has not made it. */
export const marketPriceOf = (
  { told, gone }: ApplicationEvents,
  request_id: string,
  personal: Personal,
): MarketPrice | undefined => {
  const ofSearch = told.filter(isOfSearch(request_id))
  const [first] = ofSearch
  if (first?.event.type !== 'MarketSearchRequested') return undefined
  const { application_id, product_id, currency_code, search } = first.event
  const isShown = ({ recorded }: Pick<OfSearch, 'recorded'>) => personal === 'opened' && !recorded.erased
  const accepted = ofSearch.find(({ event }) => event.type === 'MarketSearchAccepted')?.event
  const failed = ofSearch.find(({ event }) => event.type === 'MarketSearchFailed')?.event
  const ids = new Set(ofSearch.map(({ recorded }) => recorded.id))
  return {
    origin: 'market',
    request_id,
    application_id,
    product_id,
    said: 'These prices were not worked out here: they are what the providers of the panel answered to what they were sent.',
    currency_code,
    requested_at: first.recorded.metadata.occurred_at,
    search_id: accepted?.type === 'MarketSearchAccepted' ? accepted.search_id : null,
    sent: isShown(first) ? search : null,
    results: ofSearch.flatMap((each) => resultsOf(each, ofSearch, isShown(each))),
    failure_code: failed?.type === 'MarketSearchFailed' ? failed.failure_code : null,
    gone: gone.filter(({ recorded }) => ids.has(recorded.id)).map(shownGone),
  }
}

const resultsOf = (
  { event, recorded }: OfSearch,
  ofSearch: readonly OfSearch[],
  isShown: boolean,
): MarketPrice['results'] => {
  if (event.type !== 'MarketResultsReceived') return []
  return event.results.map(({ result_id, provider_id, provider_name, offer }) => {
    const selected = ofSearch.find(
      ({ event: later }) => later.type === 'MarketResultSelected' && later.result_id === result_id,
    )
    return {
      result_id,
      provider_id,
      provider_name,
      received_at: recorded.metadata.occurred_at,
      selected_at: selected?.recorded.metadata.occurred_at ?? null,
      offer: isShown ? offer : null,
    }
  })
}
