import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mostRates, parseRateCsv, toRateCsv } from '#domain/rating/rate-table-csv.ts'
import { cellKey, rateAt } from '#domain/rating/rate-table.ts'
import { published } from './request.ts'
import type { Dimension } from '#domain/rating/events.ts'

test('rates are read from a file', () => {
  expect(parseRateCsv('age,term,smoker,rate_e4\n34,25,n,45818\n34,25,s,109713\n')).toEqual({
    dimensions: ['age', 'term', 'smoker'],
    cells: { '34|25|n': 45818, '34|25|s': 109713 },
  })
})

test('a file as a spreadsheet saves it is read too', () => {
  const parsed = parseRateCsv('\uFEFFage, smoker, rate_e4\r\n40, n, 620011\r\n\r\n')
  expect(parsed).toEqual({ dimensions: ['age', 'smoker'], cells: { '40|n': 620011 } })
})

test('all that is wrong with a file is told with its line and column', () => {
  const lines = ['34,25,n,45818', '121,25,n,1', '34,0,x,12.5', '34,25,n,7', '34,25,n', '', '35,25,n,0', '035,25,n,1']
  expect(parseRateCsv(['age,term,smoker,rate_e4', ...lines].join('\n'))).toEqual({
    faults: [
      { line: 3, column: 'age', message: 'must be a whole number from 0 to 120, not “121”' },
      { line: 4, column: 'term', message: 'must be a whole number from 1 to 100, not “0”' },
      { line: 4, column: 'smoker', message: 'must be n or s, not “x”' },
      {
        line: 4,
        column: 'rate_e4',
        message: 'must be a whole number above 0, in ten-thousandths of a penny, not “12.5”',
      },
      { line: 5, column: 'age', message: 'line 2 has a rate for the same cell' },
      { line: 6, column: 'rate_e4', message: 'the line has 3 fields, the header 4' },
      { line: 7, column: 'term', message: 'the line has 1 fields, the header 4' },
      { line: 8, column: 'rate_e4', message: 'must be a whole number above 0, in ten-thousandths of a penny, not “0”' },
      { line: 9, column: 'age', message: 'must be a whole number from 0 to 120, not “035”' },
    ],
  })
})

test.each([
  ['', '1'],
  ['rate_e4', 'rate_e4'],
  ['age,term', 'term'],
  ['term,age,rate_e4', 'age'],
  ['age,sex,rate_e4', 'sex'],
  ['age,,rate_e4', '2'],
  ['age,age,rate_e4', 'age'],
])('the header “%s” is refused at %s', (header, column) => {
  expect(parseRateCsv(`${header}\n34,1,2,3\n`)).toMatchObject({ faults: [{ line: 1, column }] })
})

test('the header is refused with what it should be', () => {
  const message =
    'is out of place: the first line names the columns: some of age, term, smoker and variant in this order, then rate_e4'

  expect(parseRateCsv('age,sex,term,rate_e4\n34,m,25,1\n')).toEqual({
    faults: [
      { line: 1, column: 'sex', message },
      { line: 1, column: 'term', message },
    ],
  })
  expect(parseRateCsv('smoker,age,rate_e4\n')).toMatchObject({ faults: [{ column: 'age', message }] })
  expect(parseRateCsv('age,rate_e4,term\n')).toMatchObject({ faults: [{ column: 'rate_e4' }, { column: 'term' }] })
})

test.each([
  ['a', true],
  ['A-1_b.c', true],
  ['x'.repeat(100), true],
  ['x'.repeat(101), false],
  ['-a', false],
  ['a b', false],
  ['', false],
])('“%s” is a variant: %s', (variant, isOne) => {
  const message = `must be a letter or digit, then letters, digits, _, . and -, not “${variant}”`
  expect(parseRateCsv(`variant,rate_e4\n${variant},5\n`)).toEqual(
    isOne
      ? { dimensions: ['variant'], cells: { [variant]: 5 } }
      : { faults: [{ line: 2, column: 'variant', message }] },
  )
})

test.each([
  ['age', '0', '120', '121'],
  ['term', '1', '100', '101'],
])('%s goes from %s to %s', (column, least, most, beyond) => {
  expect(parseRateCsv(`${column},rate_e4\n${least},1\n${most},1\n`)).toEqual({
    dimensions: [column],
    cells: { [least]: 1, [most]: 1 },
  })
  expect(parseRateCsv(`${column},rate_e4\n${beyond},1\n`)).toMatchObject({ faults: [{ column }] })
})

test('a line is not looked at again when its like was wrong', () => {
  expect(parseRateCsv('age,rate_e4\n34,x\n34,5\n34,0\n')).toMatchObject({ faults: [{ line: 2 }, { line: 4 }] })
})

test('a line of too many fields is told', () => {
  expect(parseRateCsv('age,rate_e4\n34,5,6\n')).toEqual({
    faults: [{ line: 2, column: '3', message: 'the line has 3 fields, the header 2' }],
  })
})

test('a file without rates is refused', () => {
  expect(parseRateCsv('age,rate_e4\n')).toEqual({ faults: [{ line: 2, column: 'age', message: 'there are no rates' }] })
})

describe('a table', () => {
  const csvOf = (count: number) =>
    ['variant,rate_e4', ...Array.from({ length: count }, (_, index) => `v${index},5`)].join('\n')

  test('has at most 50,000 rates', () => {
    const parsed = parseRateCsv(csvOf(50_000))

    expect(mostRates).toBe(50_000)
    expect('cells' in parsed && Object.keys(parsed.cells)).toHaveLength(50_000)
  })

  test('of more is refused at the first line that is too many, with what to do', () => {
    const message =
      'a table has at most 50000 rates, and this one 50001: make a table of each variant, and name it after the answer, as ip.to65.d{deferred_weeks}'

    expect(parseRateCsv(csvOf(50_001))).toEqual({ faults: [{ line: 50_002, column: 'variant', message }] })
  })
})

test('rates are written by age, then term, as numbers, then smoker', () => {
  const cells = { '34|10|s': 1, '34|5|n': 2, '9|40|n': 3, '34|10|n': 4, '100|5|n': 5 }

  expect(toRateCsv({ dimensions: ['age', 'term', 'smoker'], cells })).toBe(
    'age,term,smoker,rate_e4\n9,40,n,3\n34,5,n,2\n34,10,n,4\n34,10,s,1\n100,5,n,5\n',
  )
})

const dimensionLists: readonly (readonly Dimension[])[] = [
  ['age', 'term', 'smoker'],
  ['age', 'smoker'],
  ['age'],
  ['age', 'term', 'smoker', 'variant'],
]
const point = fc.record({
  age: fc.integer({ min: 0, max: 120 }),
  term: fc.integer({ min: 1, max: 100 }),
  smoker: fc.boolean(),
  variant: fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,7}$/),
})
const table = fc
  .tuple(
    fc.constantFrom(...dimensionLists),
    fc.array(fc.tuple(point, fc.integer({ min: 1, max: 999_999_999 })), { minLength: 1, maxLength: 50 }),
  )
  .map(([dimensions, rates]) => ({
    key: 'some.table',
    dimensions: [...dimensions],
    cells: Object.fromEntries(rates.map(([at, rate]) => [cellKey(dimensions, at) ?? '', rate])),
  }))

test('whatever a table holds, it is the same when written and read again', () => {
  fc.assert(
    fc.property(table, ({ dimensions, cells }) => {
      const text = toRateCsv({ dimensions, cells })
      expect(parseRateCsv(text)).toEqual({ dimensions, cells })
      const reversed = Object.fromEntries(Object.entries(cells).toReversed())
      expect(toRateCsv({ dimensions, cells: reversed })).toBe(text)
    }),
  )
})

test('a rate is found under what the table depends on, and nowhere else', () => {
  const wholeLife = published({ key: 'life.wol', dimensions: ['age', 'smoker'], cells: { '40|n': 620011 } })
  const at = { age: 40, term: 25, smoker: false, variant: undefined }
  expect(rateAt(wholeLife, at)).toBe(620011)
  expect(rateAt(wholeLife, { ...at, smoker: true })).toBeUndefined()
  expect(rateAt(wholeLife, { ...at, smoker: null })).toBeUndefined()
  const byVariant = published({ key: 'v', dimensions: ['variant'], cells: { a: 1 } })
  expect(rateAt(byVariant, { ...at, variant: 'constructor' })).toBeUndefined()
  expect(rateAt(byVariant, at)).toBeUndefined()
})
