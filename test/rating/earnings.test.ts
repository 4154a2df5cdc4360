import { expect, test } from 'vitest'
import { price } from '#domain/rating/price.ts'
import { aged, coverOf, incomeProtection, requestOf } from './request.ts'

const earning = (...pounds: readonly unknown[]) =>
  pounds.map((annual_income) => aged(34, { smoker: false, occupation_class: 1, deferred_weeks: 13, annual_income }))

const priceOf = (cover_amount_pence: number, pounds: readonly unknown[], currency_code = 'GBP') => {
  const [first, second] = earning(...pounds)
  if (!first) throw new Error('Somebody must earn.')
  return price(
    requestOf({
      release: {
        product_type: 'income_protection',
        currency_code,
        covers: [coverOf(0, incomeProtection)],
        earnings: { key: 'annual_income', percent: 60 },
      },
      cover_amount_pence,
      lives: second ? [first, second] : [first],
    }),
  )
}

test('income protection of up to 60 % of the earnings is quoted', () => {
  expect(priceOf(1_800_000, [30_000]).outcome).toBe('priced')
  // 60 % of £30,000.02 is £18,000.012.
  expect(priceOf(1_800_001, [30_000.02]).outcome).toBe('priced')
})

test('income protection above 60 % of the earnings is left out because of its amount', () => {
  expect(priceOf(1_800_001, [30_000])).toMatchObject({
    outcome: 'no_quotable_cover',
    excluded_covers: [
      { reason: 'amount', message: expect.stringContaining('60 % of earnings at most: £18,000') as string },
    ],
  })
})

test('earnings are told in the unit of the currency, whatever its smallest one is', () => {
  expect(priceOf(1_800_000, [3_000_000], 'JPY').outcome).toBe('priced')
  expect(priceOf(1_800_001, [3_000_000], 'JPY')).toMatchObject({
    excluded_covers: [{ message: expect.stringContaining('at most: JP¥1,800,000') as string }],
  })
})

test('of two people the one who earns less counts', () => {
  expect(priceOf(1_800_000, [50_000, 30_000]).outcome).toBe('priced')
  expect(priceOf(1_800_001, [50_000, 30_000]).outcome).toBe('no_quotable_cover')
})

test('earnings that were not told are asked for', () => {
  expect(priceOf(1_800_000, [undefined])).toEqual({ outcome: 'details_missing', fields: ['answers.annual_income'] })
})
