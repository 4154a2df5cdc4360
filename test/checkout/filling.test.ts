import { expect, test } from 'vitest'
import { fill, fillAll, fillingOf, unknownPlaceholders } from '#domain/checkout/filling.ts'
import type { Quote } from '#domain/quotes/record.ts'

const product = { name: 'Term Life', cooldown_days: 30 }
const quote = {
  cover_amount_pence: 25_000_000,
  currency_code: 'GBP',
  term_years: 20,
  premium_pence: 1_234,
  start_date: '2026-06-02',
} as Quote
const filling = fillingOf(product, quote)
const without = fillingOf(product, { ...quote, cover_amount_pence: null, term_years: null })

test('a text says what the customer buys, as a person would write it', () => {
  expect(fill('{product_name}: {cover_amount} for {term_years} years', filling)).toBe(
    'Term Life: £250,000 for 20 years',
  )
  expect(fill('{premium} from {start_date}, {cooldown_days} days', filling)).toBe('£12.34 from 2 June 2026, 30 days')
})

test('what the quote does not have stays empty, and what is no placeholder stays as it is', () => {
  expect(fill('{cover_amount}|{term_years}|{else}|{}', without)).toBe('||{else}|{}')
})

test('a point is not shown when one of its placeholders has nothing to fill it', () => {
  expect(fillAll('{cover_amount} for {premium}', filling)).toBe('£250,000 for £12.34')
  expect(fillAll('{cover_amount} for {premium}', without)).toBeUndefined()
  expect(fillAll('{premium} for {term_years} years', without)).toBeUndefined()
  expect(fillAll('{premium} a month', without)).toBe('£12.34 a month')
  expect(fillAll('{else} a month', without)).toBe('{else} a month')
})

test('what a text asks for and cannot have is found', () => {
  expect(unknownPlaceholders('{premium} {else} and {other} of {product_name}{}')).toEqual(['else', 'other', ''])
})
