import { expect, test } from 'vitest'
import { evolveQuote, Quote } from '#domain/quotes/record.ts'
import { applied, decided, firstId, issuedQuote, quote, secondId } from './builders.ts'

const issuedAt = '2026-06-01T09:00:00.000Z'
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
] as const)
  test(`${event.type} changes ${Object.keys(shown).join(' and ')}, and nothing else`, () => {
    expect(then(event)).toEqual({ ...issued(), ...shown })
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
