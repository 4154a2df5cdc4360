import { expect, test } from 'vitest'
import { evolveQuote, Quote } from '#domain/quotes/record.ts'
import { ApiApplicationId, PolicyId } from '#domain/values.ts'
import { applied, decided, firstId, issuedQuote, quote, secondId } from './builders.ts'

const issuedAt = '2026-06-01T09:00:00.000Z'
const policy_id = PolicyId.parse('b0000000-0000-4000-8000-000000000001')
const laterAt = '2026-06-02T10:00:00.000Z'

const issued = () => evolveQuote(undefined, issuedQuote(decided(applied(), quote())), { occurred_at: issuedAt })
const then = (event: Parameters<typeof evolveQuote>[1]) => evolveQuote(issued(), event, { occurred_at: laterAt })

test('a quote is shown with everything that it was issued with', () => {
  const {
    type: _type,
    quote_id,
    organisation_id: _organisation,
    inputs_digest: _digest,
    ...terms
  } = issuedQuote(decided(applied(), quote()))

  expect(issued()).toEqual({
    ...terms,
    id: quote_id,
    display_id: `quo_${firstId}`,
    status: 'current',
    premium_frequency: 'monthly',
    created_at: issuedAt,
    accepted_at: null,
    bought_at: null,
    rejected_at: null,
    replaced_by: null,
    policy_id: null,
  })
})

test('a quote and its components are shown with these fields, in this order', () => {
  const shown = issued()

  expect(Object.keys(shown ?? {}).join(' ')).toBe(
    'id display_id application_id product_id journey_id product_release_id status decision currency_code ' +
      'premium_pence premium_frequency annual_premium_pence total_premium_pence policy_fee_pence cover_amount_pence ' +
      'term_years joint members start_date components excluded_covers journey_loading loadings rate_tables created_at ' +
      'expires_at accepted_at bought_at rejected_at replaced_by policy_id',
  )
  expect(Object.keys(shown?.components[0] ?? {}).join(' ')).toBe(
    'cover_id cover_index cover_type title pricing_basis benefit_basis cover_amount_pence monthly_benefit_pence ' +
      'term_years expires_on premium_pence premium_basis review_period_years indexation_method ci_payout_basis members ' +
      'member_premium_pence minimum_premium_applied loading_percent',
  )
})

for (const [event, shown] of [
  [
    { type: 'QuoteReplaced', quote_id: firstId, replaced_by: secondId },
    { status: 'replaced', replaced_by: secondId },
  ],
  [{ type: 'QuoteAccepted', quote_id: firstId, via: 'accept_quote' }, { accepted_at: laterAt }],
  [
    { type: 'QuoteRejected', quote_id: firstId, reason: null },
    { status: 'rejected', rejected_at: laterAt },
  ],
  [{ type: 'QuoteExpired', quote_id: firstId }, { status: 'expired' }],
  [
    {
      type: 'QuoteBought',
      quote_id: firstId,
      policy_id,
      policy_number: 'POL-123456782',
      start_date: '2026-06-02',
      collection_day: 1,
      expires_on: [] as never[],
      bought_on: '2026-06-02',
      test: false,
      asked: { start_date: null, collection_day: null },
      bought_by: ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001'),
      idempotency_key: null,
    },
    { status: 'bought', bought_at: laterAt, policy_id },
  ],
] as const)
  test(`${event.type} changes ${Object.keys(shown).join(' and ')}, and nothing else`, () => {
    expect(then(event)).toEqual({ ...issued(), ...shown })
  })

test('an acceptance that a change made void is none, and the quote stays', () => {
  const accepted = then({ type: 'QuoteAccepted', quote_id: firstId, via: 'bind' })

  expect(evolveQuote(accepted, { type: 'QuoteAcceptanceVoided', quote_id: firstId }, { occurred_at: laterAt })).toEqual(
    issued(),
  )
})

test('what happens to a quote that was never issued shows nothing', () => {
  expect(evolveQuote(undefined, { type: 'QuoteExpired', quote_id: firstId }, { occurred_at: laterAt })).toBeUndefined()
})

test('a quote can be shown in each status, and in no other', () => {
  for (const status of ['current', 'replaced', 'bought', 'rejected', 'expired'])
    expect(Quote.safeParse({ ...issued(), status }).success).toBe(true)
  expect(Quote.safeParse({ ...issued(), status: '' }).success).toBe(false)
})

test('a quote is monthly, and its decision is standard or loaded', () => {
  for (const decision of ['standard', 'loaded']) expect(Quote.safeParse({ ...issued(), decision }).success).toBe(true)
  expect(Quote.safeParse({ ...issued(), decision: '' }).success).toBe(false)
  expect(Quote.safeParse({ ...issued(), premium_frequency: '' }).success).toBe(false)
})

test('only a quote whose shape is known can be shown', () => {
  expect(Quote.safeParse({}).success).toBe(false)
})
