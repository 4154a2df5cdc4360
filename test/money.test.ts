import { expect, test } from 'vitest'
import { money, shortMoney } from '#domain/money.ts'

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
