import { expect, test } from 'vitest'
import { completeValues, valueFault } from '#domain/outcomes/calculate.ts'
import type { Formula, OutcomeType } from '#domain/outcomes/events.ts'
import { seededModel } from '#domain/outcomes/record.ts'

const typeWith = (formula: Formula, key = 'commission'): OutcomeType => ({
  key: 'sold',
  label: 'Sold',
  repeatable: true,
  product: 'none',
  values: [{ key, required: true, formula }],
  effect: 'won',
  stage: null,
})
const complete = (formula: Formula, values: Record<string, number>, key?: string) =>
  completeValues(typeWith(formula, key), seededModel, values)

const percentOf: Formula = {
  operation: 'product',
  of: [{ value: 'premium' }, { value: 'commission_rate' }, { constant: '0.01' }],
}

test.each([
  [{ premium: 1000, commission_rate: 12.5 }, 125],
  [{ premium: 1, commission_rate: 50 }, 1],
  [{ premium: 1, commission_rate: 49.99 }, 0],
  [{ premium: 115, commission_rate: 10 }, 12],
])('a product of %o is exact and half up to a penny: %s', (values, commission) => {
  expect(complete(percentOf, values).values).toEqual({ ...values, commission })
})

test('a value whose measure is no longer declared is worked out as a whole number', () => {
  const half: Formula = { operation: 'product', of: [{ value: 'premium' }, { constant: '0.5' }] }

  expect(completeValues(typeWith(half), { measures: [] }, { premium: 25 }).values).toEqual({
    premium: 25,
    commission: 13,
  })
})

test('a calculated value is missing while an operand is', () => {
  expect(Object.keys(complete(percentOf, { premium: 1000 }).values)).toEqual(['premium'])
  expect(complete(percentOf, { premium: 1000 })).toEqual({ values: { premium: 1000 }, missing_values: ['commission'] })
})

test('a sum and a quotient; nothing is divided by nothing', () => {
  const sum: Formula = { operation: 'sum', of: [{ value: 'premium' }, { constant: '0.5' }] }
  const quotient: Formula = { operation: 'quotient', of: [{ value: 'premium' }, { value: 'policies' }] }
  expect(complete(sum, { premium: 10 }).values).toEqual({ premium: 10, commission: 11 })
  expect(complete(quotient, { premium: 10, policies: 3 }).values['commission']).toBe(3)
  const parts: Formula = { operation: 'sum', of: [{ value: 'premium' }, { constant: '0.4' }, { constant: '0.9' }] }
  expect(complete(parts, { premium: 10 }).values['commission']).toBe(11)
  const byHalf: Formula = { operation: 'quotient', of: [{ value: 'premium' }, { constant: '0.5' }] }
  expect(complete(byHalf, { premium: 10 }).values['commission']).toBe(20)
  expect(complete(quotient, { premium: 10, policies: 0 }).missing_values).toEqual(['commission'])
  expect(complete(quotient, { premium: 10, policies: 3 }, 'commission_rate').values['commission_rate']).toBe(3.33)
})

test('a calculated value that is too large to be exact is missing', () => {
  const double: Formula = { operation: 'product', of: [{ value: 'premium' }, { constant: '2' }] }
  const largest = Number.MAX_SAFE_INTEGER

  expect(complete(double, { premium: (largest - 1) / 2 }).values['commission']).toBe(largest - 1)
  expect(complete(double, { premium: (largest + 1) / 2 })).toMatchObject({ missing_values: ['commission'] })
})

test('a calculated value may be an operand of a later one', () => {
  const type = typeWith({ operation: 'product', of: [{ value: 'premium' }, { constant: '12' }] }, 'annual_premium')
  const chained = {
    ...type,
    values: [
      ...type.values,
      ...typeWith({ operation: 'product', of: [{ value: 'annual_premium' }, { constant: '0.5' }] }).values,
    ],
  }
  expect(completeValues(chained, seededModel, { premium: 100 }).values).toEqual({
    premium: 100,
    annual_premium: 1200,
    commission: 600,
  })
})

test.each([
  ['money', 1, true],
  ['money', 1.5, false],
  ['money', -1, false],
  ['money', 0, true],
  ['money', 2 ** 53, false],
  ['percent', 12.3456, true],
  ['percent', 12.34567, false],
  ['percent', 100_000, true],
  ['percent', 100_000.01, false],
  ['percent', 1e-7, false],
  ['count', 3, true],
  ['count', 3.1, false],
] as const)('%s may be %d: %s', (unit, value, isFine) => {
  expect(valueFault(unit, value) === undefined).toBe(isFine)
})

test.each([
  ['money', -1, 'must not be negative'],
  ['money', 1.5, 'must be whole pence'],
  ['count', 1.5, 'must be a whole number'],
  ['percent', 1.23456, 'must have at most four decimals'],
] as const)('a value that is none is told why: %s %d %s', (unit, value, reason) => {
  expect(valueFault(unit, value)).toBe(reason)
})
