import { expect, test } from 'vitest'
import { MarketQuotes, MarketResult } from '#domain/market-quotes/record.ts'

const uuid = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'
const result = {
  ordinal: 1,
  result_id: uuid,
  provider_name: 'Acme',
  logo_url: null,
  product_name: 'Term',
  premium_pence: 1250,
  premium_monthly: '£12.50',
  plan_fee_pence: null,
  status: 'success',
  status_reason: null,
  variations: [],
  features: ['x'],
  evidence_required: false,
  further_underwriting: false,
  standard_or_underwritten: null,
  expiry_date: '2026-06-30',
  selected: false,
}

test('a result of a market search has one of six states', () => {
  for (const status of ['success', 'referred', 'declined', 'unavailable', 'error', 'timeout'])
    expect(MarketResult.parse({ ...result, status })).toEqual({ ...result, status })
  expect(MarketResult.safeParse({ ...result, status: '' }).success).toBe(false)
})

test('a market search has one of four states', () => {
  const search = {
    request_id: uuid,
    fetched_at: null,
    expires_at: null,
    stale: false,
    provider_count: 1,
    failure_code: null,
    selected_result_id: null,
    results: [result],
  }

  for (const status of ['pending', 'fetching', 'completed', 'failed'])
    expect(MarketQuotes.parse({ ...search, status })).toEqual({ ...search, status })
  expect(MarketQuotes.safeParse({ ...search, status: '' }).success).toBe(false)
})
