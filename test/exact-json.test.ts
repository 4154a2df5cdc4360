import { expect, test } from 'vitest'
import { parseExactly, withParts } from '#domain/exact-json.ts'

test.each([
  '12345678901234567890',
  '179568673700000011',
  '0.1000000000000000055',
  '1.10',
  '-0',
  '1e400',
  '1E3',
  '5e-324000',
  '-1.0',
])('the number %s is the text of it: we would write it otherwise', (written) => {
  const { value, numbers } = parseExactly(`{"a":[${written}],"b":"${written}"}`)

  expect(value).toEqual({ a: [written], b: written })
  expect([...numbers]).toEqual([written])
})
test.each(['0', '-1', '1.5', '250000', '9007199254740991', '1e+21'])('the number %s is a number', (written) => {
  expect(parseExactly(`{"a":${written}}`)).toEqual({ value: { a: Number(written) }, numbers: new Set() })
})
test('a part is taken from another at its place, within every item of a list', () => {
  const [value, other] = [1, 2].map((n) => ({ a: n, list: [{ b: n, c: n }, { c: n }, n], d: { b: n } }))

  expect(withParts(value, other, ['a', 'list.b', 'none'])).toEqual({
    a: 2,
    list: [{ b: 2, c: 1 }, { c: 1 }, 1],
    d: { b: 1 },
  })
})
