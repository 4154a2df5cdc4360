import { expect, test } from 'vitest'
import { seededModel } from '#domain/outcomes/record.ts'
import { readReceived } from '../../command-api/outcomes/read-received.ts'
import { nobody, said } from './builders.ts'

const read = (premium: string, currency_code: string) =>
  readReceived(
    { ...said, lead: { ...nobody, external_id: 'CRM-1' }, values: { premium } },
    { model: seededModel, slugs: [], currency_code, now: '2026-01-15T12:00:00.000Z' },
  )

test.each([
  ['GBP', '12.5', 1_250],
  ['JPY', '1250', 1_250],
  ['KWD', '1.25', 1_250],
])(
  'an amount of another system is counted in the smallest unit of the currency: %s %s',
  (currency, premium, amount) => {
    expect(read(premium, currency)).toMatchObject({ report: { currency, values: { premium: amount } } })
  },
)

test.each([
  ['GBP', '12.505', 'must be an amount in pounds, as 12.50'],
  ['JPY', '12.5', 'must be an amount in JPY, as 1250'],
  ['GBP', '-1', 'must not be negative'],
  ['GBP', '12.', 'must be an amount in pounds, as 12.50'],
  ['JPY', 'soon', 'must be an amount in JPY, as 1250'],
])('one that is not whole pence, negative or not a number is never rounded: %s %s', (currency, premium, reason) => {
  expect(read(premium, currency)).toEqual({ fields: { 'values.premium': reason } })
})

test('why it cannot be used is said in the words of the outcomes API', () => {
  const sent = { ...said, lead: { ...nobody, id: 'CRM-1' }, occurred_at: 'soon', deal_ref: 'D'.repeat(201) }

  expect(
    readReceived(sent, { model: seededModel, slugs: [], currency_code: 'GBP', now: '2026-01-15T12:00:00.000Z' }),
  ).toEqual({
    fields: {
      'lead.id': 'must be a UUID',
      occurred_at: expect.stringMatching(/^must be a date/) as unknown,
      deal_ref: 'must have at most 200 characters',
    },
  })
})

test.each([
  ['a\0b', 'must not hold the character U+0000'],
  ['a\ud83d', 'must be valid Unicode: it holds half of a surrogate pair'],
])('a text that cannot be stored passes the checks here as little as in the outcomes API: %j', (text, reason) => {
  const sent = { ...said, lead: { ...nobody, external_id: text }, deal_ref: text, note: text }

  expect(
    readReceived(sent, { model: seededModel, slugs: [], currency_code: 'GBP', now: '2026-01-15T12:00:00.000Z' }),
  ).toEqual({ fields: { 'lead.external_id': reason, deal_ref: reason, note: reason } })
})
