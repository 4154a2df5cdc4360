import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ExcludedCover, Loading, QuoteComponent, RateTableUsed } from '../rating/events.ts'
import {
  ApplicationId,
  CalendarDate,
  CurrencyCode,
  JourneyId,
  OrganisationId,
  Pence,
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
    /** By which it is known whether the answers have changed since: equal inputs have equal digests, so it can be guessed. */
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
  QuoteRejected: event({ quote_id: QuoteId, reason: personal(z.string()).nullable() }),
  QuoteExpired: event({ quote_id: QuoteId }),
}
export type QuoteEvent = EventOf<typeof quoteEvents>
