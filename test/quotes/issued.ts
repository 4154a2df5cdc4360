import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { QuoteComponent } from '#domain/rating/events.ts'
import { CoverId } from '#domain/values.ts'

/** Level life cover of £250,000 over 25 years for someone of 34 who does not smoke. */
export const quoteComponent = (changes: Partial<QuoteComponent> = {}): QuoteComponent => ({
  cover_id: CoverId.parse('40000000-0000-4000-8000-000000000001'),
  cover_index: 0,
  cover_type: 'life',
  title: null,
  pricing_basis: 'rated',
  benefit_basis: 'lump_sum',
  cover_amount_pence: 25_000_000,
  monthly_benefit_pence: null,
  term_years: 25,
  expires_on: '2051-06-02',
  premium_pence: 1100,
  premium_basis: 'guaranteed',
  review_period_years: null,
  indexation_method: 'none',
  ci_payout_basis: 'additional',
  members: null,
  member_premium_pence: null,
  minimum_premium_applied: false,
  loading_percent: 0,
  ...changes,
})

type Issued = Extract<ApplicationStreamEvent, { type: 'QuoteIssued' }>
type Placed = 'quote_id' | 'organisation_id' | 'application_id' | 'product_id' | 'journey_id' | 'product_release_id'

/** A quote of that component, issued on 1 June 2026. */
export const quoteIssued = (placed: Pick<Issued, Placed>, changes: Partial<Issued> = {}): Issued => ({
  type: 'QuoteIssued',
  ...placed,
  inputs_digest: 'digest',
  decision: 'standard',
  currency_code: 'GBP',
  premium_pence: 1250,
  annual_premium_pence: 15_000,
  total_premium_pence: 375_000,
  policy_fee_pence: 150,
  cover_amount_pence: 25_000_000,
  term_years: 25,
  joint: false,
  members: null,
  start_date: '2026-06-02',
  components: [quoteComponent()],
  excluded_covers: [],
  journey_loading: '1.00',
  loadings: [],
  rate_tables: [{ key: 'life.level', version: 3 }],
  expires_at: '2026-07-01T09:00:00.000Z',
  ...changes,
})
