import { expect, test } from 'vitest'
import type { Dimension } from '#domain/rating/events.ts'
import { withoutRates } from '../../command-api/catalogue/without-rates.ts'

const told = (missing: readonly string[], rates: readonly string[], dimensions: Dimension[] = ['age', 'term']) => {
  const cells = Object.fromEntries(rates.map((cell) => [cell, 100]))
  const text = withoutRates(
    { cover_index: 0, rate_table: 'level', version: 2, cells: missing },
    { dimensions: [...dimensions], cells },
  )
  return text.replace('covers[0] cannot be priced everywhere: level version 2 ', '')
}

test('ages and terms that a table has no rate for at all are named together', () => {
  const missing = ['18|10', '18|11', '19|10', '19|11', '20|11', '21|11', '21|13']
  expect(told(missing, ['20|10', '20|12', '21|10'])).toBe(
    'has no rate at all for age 18 to 19; has no rate at all for term 11, 13',
  )
})

test('what is lacking of others is named cell by cell, up to fifty', () => {
  expect(told(['21|12'], ['20|10', '20|12', '21|10'])).toBe('lacks 21|12')
  const ages = Array.from({ length: 52 }, (_, index) => 18 + index)
  const text = told(
    ages.map((age) => `${age}|s`),
    ages.flatMap((age) => (age === 18 ? [`${age}|n`, '80|s'] : [`${age}|n`])),
    ['age', 'smoker'],
  )
  expect(text).toMatch(/^lacks 18\|s, 19\|s, .*, 67\|s and 2 more$/)
})

test('variants are named as they are, and that not all was looked for', () => {
  const missing = Array.from({ length: 1_000 }, () => '18|a')
  expect(told(missing, ['18|b'], ['age', 'variant'])).toBe('has no rate at all for variant a; more was not looked for')
})
