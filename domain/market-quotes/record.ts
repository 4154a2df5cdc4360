import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { money } from '../money.ts'
import { ApplicationId, Pence, ProductId } from '../values.ts'
import { MarketFailure, MarketResultStatus, type MarketQuoteEvent, type ReceivedResult } from './events.ts'

export const MarketResult = z.object({
  ordinal: z.int(),
  result_id: z.uuid(),
  provider_name: z.string(),
  logo_url: z.string().nullable(),
  product_name: z.string(),
  premium_pence: Pence,
  /** For display, in the product's currency. */
  premium_monthly: z.string(),
  plan_fee_pence: Pence.nullable(),
  status: MarketResultStatus,
  status_reason: z.string().nullable(),
  variations: z.array(z.unknown()),
  features: z.array(z.unknown()),
  evidence_required: z.boolean(),
  further_underwriting: z.boolean(),
  standard_or_underwritten: z.string().nullable(),
  expiry_date: z.iso.date(),
  selected: z.boolean(),
})
export type MarketResult = z.infer<typeof MarketResult>

/** The latest market search of an application for a whole-of-market product. */
export const MarketQuotes = z
  .object({
    request_id: z.uuid(),
    status: z.enum(['pending', 'fetching', 'completed', 'failed']),
    fetched_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
    stale: z.boolean(),
    provider_count: z.int(),
    failure_code: MarketFailure.nullable(),
    selected_result_id: z.uuid().nullable(),
    results: z.array(MarketResult),
  })
  .meta({ id: 'MarketQuotes' })
export type MarketQuotes = z.infer<typeof MarketQuotes>

/** A search with what only the service needs of it. */
export const MarketSearchRecord = MarketQuotes.extend({
  application_id: ApplicationId,
  product_id: ProductId,
  currency_code: z.string(),
  /** The panel's own id of it; null until the panel has taken it on. */
  search_id: z.string().nullable(),
  requested_at: z.iso.datetime(),
  deadline_at: z.iso.datetime(),
  replaced: z.boolean(),
  expires_at: z.iso.datetime(),
}).meta({ id: 'MarketSearch' })
export type MarketSearchRecord = z.infer<typeof MarketSearchRecord>

export const isUnderWay = ({ status, replaced }: MarketSearchRecord): boolean =>
  !replaced && (status === 'pending' || status === 'fetching')

/** The fields shown to callers. */
export const shownMarketQuotes = (search: MarketSearchRecord): MarketQuotes => MarketQuotes.parse(search)

/** A search after an event, for the command side and the read models alike. */
export const evolveMarketSearch = (
  search: MarketSearchRecord | undefined,
  event: MarketQuoteEvent,
  { occurred_at }: Recorded,
): MarketSearchRecord | undefined => {
  if (event.type === 'MarketSearchRequested') {
    // A new search is made; of the former one nothing more is told.
    if (search && search.request_id !== event.request_id) return { ...search, replaced: true }
    return {
      request_id: event.request_id,
      application_id: event.application_id,
      product_id: event.product_id,
      currency_code: event.currency_code,
      status: 'pending',
      fetched_at: null,
      expires_at: event.expires_at,
      stale: false,
      provider_count: 0,
      failure_code: null,
      selected_result_id: null,
      results: [],
      search_id: null,
      requested_at: occurred_at,
      deadline_at: event.deadline_at,
      replaced: false,
    }
  }
  if (!search || search.request_id !== event.request_id) return search

  switch (event.type) {
    case 'MarketSearchAccepted':
      return { ...search, status: 'fetching', search_id: event.search_id, provider_count: event.provider_count }
    case 'MarketResultsReceived': {
      const results = [...search.results, ...event.results.map(shownResult(search))]
      return { ...search, results, provider_count: Math.max(search.provider_count, results.length) }
    }
    case 'MarketSearchCompleted':
      return { ...search, status: 'completed', fetched_at: occurred_at }
    case 'MarketSearchFailed':
      return { ...search, status: 'failed', fetched_at: occurred_at, failure_code: event.failure_code }
    case 'MarketQuotesOutdated':
      return { ...search, stale: event.stale }
    case 'MarketResultSelected':
    case 'ApplicationHandedOff': {
      const { result_id } = event
      const results = search.results.map((result) => ({ ...result, selected: result.result_id === result_id }))
      return { ...search, selected_result_id: result_id, results }
    }
  }
}

/** A result without a price has none to show, and holds as long as the search. */
const shownResult =
  ({ results, expires_at, currency_code }: MarketSearchRecord) =>
  ({ result_id, provider_name, logo_url, offer }: ReceivedResult, index: number): MarketResult => {
    const isPriced = offer.status === 'success'
    const premium_pence = isPriced ? offer.premium_pence : 0
    return {
      ordinal: results.length + index + 1,
      result_id,
      provider_name,
      logo_url,
      product_name: offer.product_name,
      premium_pence,
      premium_monthly: isPriced ? money(premium_pence, currency_code) : '',
      plan_fee_pence: offer.plan_fee_pence,
      status: offer.status,
      status_reason: offer.status_reason,
      variations: offer.variations,
      features: offer.features,
      evidence_required: offer.evidence_required,
      further_underwriting: offer.further_underwriting,
      standard_or_underwritten: offer.standard_or_underwritten,
      expiry_date: (isPriced ? offer.expiry_date : null) ?? expires_at.slice(0, 10),
      selected: false,
    }
  }
