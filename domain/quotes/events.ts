import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ExcludedCover, Loading, QuoteComponent, RateTableUsed } from '../rating/events.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  CurrencyCode,
  JourneyId,
  OrganisationId,
  Pence,
  PolicyId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '../values.ts'

/** Stream `application-<application id>`: an application's quotes are part of it, since a new one replaces the former. */
export const quoteEvents = {
  QuoteIssued: event({
    quote_id: QuoteId,
    organisation_id: OrganisationId,
    application_id: ApplicationId,
    product_id: ProductId,
    journey_id: JourneyId,
    product_release_id: ReleaseId,
    /** Shows whether the answers have changed since: equal inputs have equal digests, so it can be guessed. */
    inputs_digest: personal(z.string()),
    decision: z.enum(['standard', 'loaded']),
    currency_code: CurrencyCode,
    premium_pence: Pence,
    annual_premium_pence: Pence,
    total_premium_pence: Pence.nullable(),
    policy_fee_pence: Pence,
    cover_amount_pence: Pence.nullable(),
    term_years: z.int().nullable(),
    joint: z.boolean(),
    members: z.int().nullable(),
    start_date: CalendarDate,
    /** These and the loadings reveal the health of the person. */
    components: personal(z.array(QuoteComponent)),
    excluded_covers: personal(z.array(ExcludedCover)),
    journey_loading: z.string(),
    loadings: personal(z.array(Loading)),
    rate_tables: z.array(RateTableUsed),
    expires_at: z.iso.datetime(),
  }),
  QuoteReplaced: event({ quote_id: QuoteId, replaced_by: QuoteId }),
  QuoteAccepted: event({ quote_id: QuoteId, via: z.enum(['accept_quote', 'bind']) }),
  /** A change of the application made its acceptance void: the quote no longer fits, unless the change is taken back. */
  QuoteAcceptanceVoided: event({ quote_id: QuoteId }),
  QuoteRejected: event({ quote_id: QuoteId, reason: personal(z.string()).nullable() }),
  QuoteExpired: event({ quote_id: QuoteId }),
  /** The sale, in one append with all that it decides. */
  QuoteBought: event({
    quote_id: QuoteId,
    policy_id: PolicyId,
    policy_number: z.string().regex(/^[A-Z0-9]{1,10}-\d{9}$/),
    start_date: CalendarDate,
    collection_day: z.int(),
    /** When each cover ends: later than quoted when it starts later. */
    expires_on: z.array(z.object({ cover_index: z.int(), expires_on: CalendarDate.nullable() })),
    /** The date of the sale where the organisation is. */
    bought_on: CalendarDate,
    /** Sold in a sandbox product or with the payment provider's test account. */
    test: z.boolean(),
    /** The request's inputs, by which a repeat is found. */
    asked: z.object({ start_date: CalendarDate.nullable(), collection_day: z.int().nullable() }),
    bought_by: ApiApplicationId,
    /** Chosen by the caller, who may put anything into it. */
    idempotency_key: personal(z.string()).nullable(),
  }),
}
export type QuoteEvent = EventOf<typeof quoteEvents>
export type QuoteBought = Extract<QuoteEvent, { type: 'QuoteBought' }>
