import { application } from '#domain/applications/application.ts'
import type { NoteMarketSearch, SearchMarket, SelectMarketResult } from '#domain/applications/market.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { MarketOffer, MarketQuoteEvent, ReceivedResult } from '#domain/market-quotes/events.ts'
import { decided } from '../quotes/builders.ts'
import { stateOf } from '../scenario.ts'
import { anna, answered, covered, customerSaved, started } from './builders.ts'
import { marketRelease } from './release.ts'

/** What the tests of market searches have in common: an application that is searched with on 1 June 2026. */

export const now = '2026-06-01T09:00:00.000Z'
export const request_id = '90000000-0000-4000-8000-000000000001'
export const secondId = '90000000-0000-4000-8000-000000000002'

export const search = (changes: Partial<SearchMarket> = {}): SearchMarket => ({
  type: 'SearchMarket',
  request_id,
  release: marketRelease,
  today: '2026-06-01',
  now,
  real_now: now,
  ...changes,
})
export const applied: readonly ApplicationStreamEvent[] = [
  started(),
  customerSaved({ ...anna, dob: '1992-03-10', postal_code: 'YO1 7HH' }),
  answered({ smoker: false, height_cm: 170 }),
  covered({ cover_amount_pence: 20_000_000, term_years: 25 }),
]
export const requested = decided(applied, search())
export const searching = [...applied, ...requested]

export const offerOf = (changes: Partial<MarketOffer> = {}): MarketOffer => ({
  status: 'success',
  status_reason: null,
  product_name: 'Albion Term',
  premium_pence: 1234,
  plan_fee_pence: 150,
  variations: [],
  features: [],
  evidence_required: false,
  further_underwriting: false,
  standard_or_underwritten: 'standard',
  expiry_date: null,
  ...changes,
})
export const resultOf = (index: number, changes: Partial<MarketOffer> = {}): ReceivedResult => ({
  result_id: `91000000-0000-4000-8000-00000000000${index}`,
  provider_id: `provider-${index}`,
  provider_name: 'Albion Mutual',
  logo_url: null,
  offer: offerOf(changes),
})
export const note = (changes: Partial<NoteMarketSearch> = {}): NoteMarketSearch => ({
  type: 'NoteMarketSearch',
  request_id,
  search_id: 'srch',
  provider_count: 8,
  results: [],
  ended: null,
  ...changes,
})
export const recordOf = (events: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, events, now)
  if (!state) throw new Error('The application was not started.')
  return state.record
}
export const typesOf = (events: readonly ApplicationStreamEvent[]) => events.map(({ type }) => type)
export const found = [
  ...searching,
  ...decided(searching, note({ results: [resultOf(1), resultOf(2)], ended: 'finished' })),
]

export const select = (changes: Partial<SelectMarketResult> = {}): SelectMarketResult => ({
  type: 'SelectMarketResult',
  release: marketRelease,
  result_id: resultOf(2).result_id,
  today: '2026-06-01',
  now,
  ...changes,
})
export const chosen: readonly MarketQuoteEvent[] = [
  { type: 'MarketResultSelected', request_id, result_id: resultOf(2).result_id },
  { type: 'ApplicationHandedOff', request_id, result_id: resultOf(2).result_id },
]
