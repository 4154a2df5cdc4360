import { expect, test } from 'vitest'
import { decimalMoney, exactMoney, money, shortMoney } from '#domain/money.ts'

test.each([
  ['GBP', 123_456, '£1,234.56', '£1,234.56'],
  ['GBP', 123_400, '£1,234.00', '£1,234'],
  ['JPY', 123_456, 'JP¥123,456', 'JP¥123,456'],
  ['KWD', 123_456, 'KWD\u00a0123.456', 'KWD\u00a0123.456'],
  ['KWD', 123_000, 'KWD\u00a0123.000', 'KWD\u00a0123'],
])(
  'an amount in %s has as many decimals as the currency has: %i is %s, in short %s',
  (currency, amount, long, short) => {
    expect(money(amount, currency)).toBe(long)
    expect(shortMoney(amount, currency)).toBe(short)
  },
)

test.each([
  ['GBP', '12.5', 1_250, '12.50'],
  ['GBP', '12', 1_200, '12.00'],
  ['JPY', '1250', 1_250, '1250'],
  ['KWD', '1.25', 1_250, '1.250'],
])(
  'an amount in %s that is written as a number is counted exactly: %s is %i, or %s',
  (currency, written, amount, shown) => {
    expect(exactMoney(written, currency)).toBe(amount)
    expect(exactMoney(shown, currency)).toBe(amount)
    expect(decimalMoney(amount, currency)).toBe(shown)
  },
)

test.each([
  ['GBP', '12.505'],
  ['JPY', '12.5'],
  ['KWD', '1.2505'],
])('an amount in %s with more decimals than the currency has is none, and never rounded: %s', (currency, written) => {
  expect(exactMoney(written, currency)).toBeUndefined()
  expect(exactMoney(`${written}0`, currency)).toBeUndefined()
})
