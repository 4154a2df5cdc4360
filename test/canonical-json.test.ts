import { expect, test } from 'vitest'
import { canonicalJson, isSameJson } from '#domain/canonical-json.ts'

test.each([
  ['keys in order', { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
  ['lists as they are', [3, 1, { b: null, a: 'x' }], '[3,1,{"a":"x","b":null}]'],
  ['text as JSON writes it', 'a "b"\n', '"a \\"b\\"\\n"'],
  ['a key as JSON writes it', { 'a"b': 1 }, '{"a\\"b":1}'],
  ['nothing undefined', { a: undefined, b: false }, '{"b":false}'],
  ['null for what is undefined by itself', undefined, 'null'],
  ['null for what is undefined in a list', [undefined], '[null]'],
  ['null', null, 'null'],
  ['an empty object', {}, '{}'],
  ['a date as its text', new Date(0).toISOString(), '"1970-01-01T00:00:00.000Z"'],
])('a value is written with %s', (_, value, text) => {
  expect(canonicalJson(value)).toBe(text)
})

test('values are the same when they say the same', () => {
  expect(isSameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true)
  expect(isSameJson({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true)
  expect(isSameJson([1, 2], [2, 1])).toBe(false)
  expect(isSameJson({ a: null }, {})).toBe(false)
})
