import { expect, test } from 'vitest'
import type { LifecycleState } from '#domain/catalogue/events.ts'
import { isLifecycleStep, lifecyclePath } from '#domain/catalogue/lifecycle.ts'

const states: readonly LifecycleState[] = ['draft', 'sandbox', 'production', 'archived']
const paths = (sold: boolean) =>
  Object.fromEntries(
    states.flatMap((from) => states.map((to) => [`${from} ${to}`, lifecyclePath(from, to, sold)?.join(' ')])),
  )

const notSold = {
  'draft draft': '',
  'draft sandbox': 'sandbox',
  'draft production': 'sandbox production',
  'draft archived': 'archived',
  'sandbox draft': 'draft',
  'sandbox sandbox': '',
  'sandbox production': 'production',
  'sandbox archived': 'archived',
  'production draft': 'sandbox draft',
  'production sandbox': 'sandbox',
  'production production': '',
  'production archived': 'archived',
  'archived draft': undefined,
  'archived sandbox': undefined,
  'archived production': 'production',
  'archived archived': '',
}

test('a product goes from one state to another in one step, or in two by way of the sandbox', () => {
  expect(paths(false)).toEqual(notSold)
})

test('what was sold never goes back into the sandbox', () => {
  expect(paths(true)).toEqual({ ...notSold, 'production sandbox': undefined, 'production draft': undefined })
})

test('a step leads to another state', () => {
  expect(isLifecycleStep('production', 'archived', true)).toBe(true)
  expect(isLifecycleStep('production', 'sandbox', true)).toBe(false)
  expect(isLifecycleStep('production', 'sandbox', false)).toBe(true)
  expect(isLifecycleStep('draft', 'production', false)).toBe(false)
})
