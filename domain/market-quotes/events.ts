import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ApplicationId, CalendarDate, CurrencyCode, OrganisationId, Pence, ProductId, ProductType } from '../values.ts'

export const MarketResultStatus = z.enum(['success', 'referred', 'declined', 'unavailable', 'error', 'timeout'])
export type MarketResultStatus = z.infer<typeof MarketResultStatus>

const Answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

/** The search that providers get. */
export const MarketSearch = z.object({
  product_type: ProductType,
  cover_amount_pence: Pence.nullable(),
  term_years: z.int().nullable(),
  start_date: CalendarDate,
  lives: z.array(
    z.object({ dob: CalendarDate, postcode_area: z.string().nullable(), answers: z.record(z.string(), Answer) }),
  ),
  options: z.record(z.string(), Answer),
})
export type MarketSearch = z.infer<typeof MarketSearch>

/** A provider's answer, without its name. */
export const MarketOffer = z.object({
  status: MarketResultStatus,
  status_reason: z.string().nullable(),
  product_name: z.string(),
  premium_pence: Pence,
  plan_fee_pence: Pence.nullable(),
  variations: z.array(z.unknown()),
  features: z.array(z.unknown()),
  evidence_required: z.boolean(),
  further_underwriting: z.boolean(),
  standard_or_underwritten: z.enum(['standard', 'underwritten']).nullable(),
  expiry_date: CalendarDate.nullable(),
})
export type MarketOffer = z.infer<typeof MarketOffer>

export const ReceivedResult = z.object({
  result_id: z.uuid(),
  provider_id: z.string(),
  provider_name: z.string(),
  logo_url: z.string().nullable(),
  /** Tells what the person answered. */
  offer: personal(MarketOffer),
})
export type ReceivedResult = z.infer<typeof ReceivedResult>

export const MarketFailure = z.enum(['all_providers_failed', 'provider_timeout', 'panel_unreachable', 'no_results'])
export type MarketFailure = z.infer<typeof MarketFailure>

const request = { request_id: z.uuid() }

/** Stream `application-<application id>`: the latest search of an application counts. */
export const marketQuoteEvents = {
  MarketSearchRequested: event({
    ...request,
    organisation_id: OrganisationId,
    application_id: ApplicationId,
    product_id: ProductId,
    currency_code: CurrencyCode,
    search: personal(MarketSearch),
    /** The search that it takes the place of, if that was still under way. */
    replaces: z.uuid().nullable(),
    expires_at: z.iso.datetime(),
    /** Real time: the search ends then, whatever has come. */
    deadline_at: z.iso.datetime(),
  }),
  /** The panel has taken it on. */
  MarketSearchAccepted: event({ ...request, search_id: z.string(), provider_count: z.int().min(0) }),
  /** Those that are new. */
  MarketResultsReceived: event({ ...request, results: z.array(ReceivedResult) }),
  MarketSearchCompleted: event({ ...request }),
  MarketSearchFailed: event({ ...request, failure_code: MarketFailure }),
  /** `stale`: the answers are no longer those searched with. */
  MarketQuotesOutdated: event({ ...request, stale: z.boolean() }),
  MarketResultSelected: event({ ...request, result_id: z.uuid() }),
  ApplicationHandedOff: event({ ...request, result_id: z.uuid() }),
}
export type MarketQuoteEvent = EventOf<typeof marketQuoteEvents>
