import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import {
  ApplicationId,
  CalendarDate,
  CurrencyCode,
  JourneyId,
  Pence,
  ProductId,
  QuoteId,
  ReleaseId,
} from '../values.ts'
import type { QuoteEvent } from './events.ts'
import { ExcludedCover, Loading, QuoteComponent, RateTableUsed } from '../rating/events.ts'

export const QuoteStatus = z.enum(['current', 'replaced', 'bought', 'rejected', 'expired'])
export type QuoteStatus = z.infer<typeof QuoteStatus>

/** A quote as it is shown. */
export const Quote = z
  .object({
    id: QuoteId,
    display_id: z.string(),
    application_id: ApplicationId,
    product_id: ProductId,
    journey_id: JourneyId,
    product_release_id: ReleaseId,
    status: QuoteStatus,
    decision: z.enum(['standard', 'loaded']).describe('loaded: accepted at other than the standard terms.'),
    currency_code: CurrencyCode,
    premium_pence: Pence.describe('A month, all components and the policy fee.'),
    premium_frequency: z.literal('monthly'),
    annual_premium_pence: Pence.describe('Twelve months.'),
    total_premium_pence: Pence.nullable().describe(
      'Over the term, for level guaranteed premiums; null with no fixed term, or when reviewable or indexed.',
    ),
    policy_fee_pence: Pence.describe('Included in premium_pence.'),
    cover_amount_pence: Pence.nullable(),
    term_years: z.int().nullable(),
    joint: z.boolean(),
    members: z.int().nullable(),
    start_date: CalendarDate,
    components: z.array(QuoteComponent),
    excluded_covers: z.array(ExcludedCover),
    journey_loading: z.string(),
    loadings: z.array(Loading),
    rate_tables: z.array(RateTableUsed).describe('The published tables that priced it.'),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    accepted_at: z.iso.datetime().nullable().describe('Null again when a later change made the acceptance void.'),
    bought_at: z.iso.datetime().nullable(),
    rejected_at: z.iso.datetime().nullable(),
    replaced_by: QuoteId.nullable(),
    policy_id: z.uuid().nullable(),
  })
  .meta({ id: 'Quote' })
export type Quote = z.infer<typeof Quote>

/** The quote after an event, for the command side and the read model alike. */
export const evolveQuote = (
  quote: Quote | undefined,
  event: QuoteEvent,
  { occurred_at }: Recorded,
): Quote | undefined => {
  if (event.type === 'QuoteIssued') return issued(event, occurred_at)
  return quote && { ...quote, ...changeBy(event, occurred_at) }
}

const issued = (event: Extract<QuoteEvent, { type: 'QuoteIssued' }>, created_at: string): Quote => ({
  id: event.quote_id,
  display_id: `quo_${event.quote_id}`,
  application_id: event.application_id,
  product_id: event.product_id,
  journey_id: event.journey_id,
  product_release_id: event.product_release_id,
  status: 'current',
  decision: event.decision,
  currency_code: event.currency_code,
  premium_pence: event.premium_pence,
  premium_frequency: 'monthly',
  annual_premium_pence: event.annual_premium_pence,
  total_premium_pence: event.total_premium_pence,
  policy_fee_pence: event.policy_fee_pence,
  cover_amount_pence: event.cover_amount_pence,
  term_years: event.term_years,
  joint: event.joint,
  members: event.members,
  start_date: event.start_date,
  components: event.components,
  excluded_covers: event.excluded_covers,
  journey_loading: event.journey_loading,
  loadings: event.loadings,
  rate_tables: event.rate_tables,
  created_at,
  expires_at: event.expires_at,
  accepted_at: null,
  bought_at: null,
  rejected_at: null,
  replaced_by: null,
  policy_id: null,
})

const changeBy = (event: Exclude<QuoteEvent, { type: 'QuoteIssued' }>, occurred_at: string): Partial<Quote> => {
  switch (event.type) {
    case 'QuoteReplaced':
      return { status: 'replaced', replaced_by: event.replaced_by }
    case 'QuoteAccepted':
      return { accepted_at: occurred_at }
    case 'QuoteAcceptanceVoided':
      return { accepted_at: null }
    case 'QuoteRejected':
      return { status: 'rejected', rejected_at: occurred_at }
    case 'QuoteExpired':
      return { status: 'expired' }
    case 'QuoteBought':
      return { status: 'bought', bought_at: occurred_at, policy_id: event.policy_id }
  }
}

/** A current quote is past its time. It is expired once the event says so, moments later. */
export const hasRunOut = ({ status, expires_at }: Quote, now: string): boolean =>
  status === 'current' && Date.parse(expires_at) <= Date.parse(now)
