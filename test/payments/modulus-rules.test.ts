import { describe, expect, test } from 'vitest'
import { dashedSortCode, passesModulusCheck, type ModulusRow } from '#domain/bank-account.ts'

/** The rules by which lines of the published weights depart from the algorithm, each by weights that look at one digit. */

const letters = 'uvwxyzabcdefgh'
const weighing = (letter: string, weight = 1): readonly number[] =>
  Array.from(letters, (each) => (each === letter ? weight : 0))
const line = (changes: Partial<ModulusRow>): ModulusRow => ({
  from: '000000',
  to: '999999',
  algorithm: 'MOD10',
  weights: weighing('h'),
  exception: undefined,
  ...changes,
})
const substitutions = new Map([['938173', '038017']])
const check = (rows: readonly ModulusRow[], account_number: string, sort_code = '000000') =>
  passesModulusCheck({ rows, substitutions }, { sort_code, account_number })

/** Passes when the digit is 0. */
const isZero = (letter: string, exception?: number): ModulusRow => line({ weights: weighing(letter), exception })

test.each([
  ['100000', false],
  ['100009', false],
  ['099999', true],
  ['100010', true],
])('a line covers its sort codes from first to last: is 1 at the end all right for %s? %s', (sort_code, passes) => {
  expect(check([line({ from: '100000', to: '100009' })], '00000001', sort_code)).toBe(passes)
})

test('of two lines both must pass', () => {
  const both = [isZero('g'), isZero('h')]

  expect(check(both, '00000000')).toBe(true)
  expect(check(both, '00000010')).toBe(false)
  expect(check(both, '00000001')).toBe(false)
})

describe('either of two lines is enough', () => {
  test.each([
    [10, 11],
    [12, 13],
  ])('with exceptions %i and %i', (first, second) => {
    const either = [isZero('c', first), isZero('d', second)]

    expect(check(either, '00000000')).toBe(true)
    expect(check(either, '00100000')).toBe(true)
    expect(check(either, '00010000')).toBe(true)
    expect(check(either, '00110000')).toBe(false)
  })

  test('with exceptions 2 and 9', () => {
    const either = [isZero('c', 2), isZero('d', 9)]

    expect(check(either, '00100000')).toBe(true)
    expect(check(either, '00010000')).toBe(true)
    expect(check(either, '00110000')).toBe(false)
  })

  test.each([
    [10, 13],
    [12, 11],
    [undefined, 13],
    [12, undefined],
  ])('but not with %s and %s', (first, second) => {
    expect(check([isZero('c', first), isZero('d', second)], '00010000')).toBe(false)
    expect(check([isZero('c', first), isZero('d', second)], '00100000')).toBe(false)
  })
})

test('exception 1 adds 27', () => {
  const row = line({ algorithm: 'DBLAL', weights: weighing('a'), exception: 1 })

  expect(check([row], '30000000')).toBe(true)
  expect(check([row], '00000000')).toBe(false)
})

test('exception 2 weighs accounts that do not begin with 0 in its own way, and with 9 in place g in another', () => {
  const row = line({ algorithm: 'MOD11', weights: weighing('b'), exception: 2 })

  expect(check([row], '00000007')).toBe(true)
  expect(check([row], '01000000')).toBe(false)
  // 6 x 1 + 1 x 5 = 11; 3 x 9 + 1 x 6 = 33
  expect(check([row], '10000005')).toBe(true)
  expect(check([row], '10000004')).toBe(false)
  expect(check([row], '10000096')).toBe(true)
  expect(check([row], '10000095')).toBe(false)
  // 4 x 1 counts only where g is no 9.
  expect(check([row], '11000001')).toBe(true)
  expect(check([row], '11000096')).toBe(true)
})

test('exception 3 skips the second line for accounts with 6 or 9 in place c', () => {
  const second = (exception?: number) => [isZero('a'), isZero('h', exception)]

  expect(check(second(3), '00600001')).toBe(true)
  expect(check(second(3), '00900001')).toBe(true)
  expect(check(second(3), '00500001')).toBe(false)
  expect(check(second(), '00600001')).toBe(false)
  expect(check(second(3), '10600001')).toBe(false)
})

test('exception 4 compares the remainder with the last two digits', () => {
  const row = line({ algorithm: 'MOD11', weights: [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], exception: 4 })

  expect(check([row], '30000003')).toBe(true)
  expect(check([row], '30000004')).toBe(false)
  expect(check([row], '30000013')).toBe(false)
  expect(check([row], '91000010')).toBe(true)
})

describe('exception 5', () => {
  const first = line({ algorithm: 'MOD11', weights: weighing('a'), exception: 5 })
  const second = line({ algorithm: 'DBLAL', weights: weighing('a', 2), exception: 5 })

  test.each([
    ['00000000', true],
    ['00000010', false],
    ['20000090', true],
    ['20000080', false],
    ['10000000', false],
  ])('compares 11 less the remainder with place g: %s %s', (account_number, passes) => {
    expect(check([first], account_number)).toBe(passes)
  })

  test('has no check digit for a remainder of 1', () => {
    for (const digit of '0123456789') expect(check([first], `100000${digit}0`)).toBe(false)
  })

  test.each([
    ['00000000', true],
    ['00000001', false],
    ['60000007', true],
    ['60000003', false],
    ['50000009', true],
  ])('compares 10 less the remainder with place h: %s %s', (account_number, passes) => {
    expect(check([second], account_number)).toBe(passes)
  })

  test('checks the sort code that stands for another', () => {
    const row = line({ algorithm: 'MOD11', weights: weighing('u'), exception: 5 })

    expect(check([row], '00000000', '938173')).toBe(true)
    expect(check([row], '00000000', '938174')).toBe(false)
  })
})

test.each([
  ['40000011', true],
  ['80000011', true],
  ['30000011', false],
  ['90000011', false],
  ['40000021', false],
])('exception 6 cannot check accounts of foreign currency: %s %s', (account_number, passes) => {
  expect(check([isZero('h', 6)], account_number)).toBe(passes)
})

test('exception 7 does not weigh the sort code and a and b where g is 9', () => {
  expect(check([isZero('u', 7)], '00000090', '100000')).toBe(true)
  expect(check([isZero('b', 7)], '01000090')).toBe(true)
  expect(check([isZero('b', 7)], '01000080')).toBe(false)
  expect(check([isZero('c', 7)], '00100090')).toBe(false)
})

test('exception 8 checks sort code 090126, exception 9 checks 309634', () => {
  expect(check([isZero('u', 8)], '00000000', '100000')).toBe(true)
  expect(check([isZero('v', 8)], '00000000', '100000')).toBe(false)
  expect(check([isZero('v', 9)], '00000000', '010000')).toBe(true)
  expect(check([isZero('u', 9)], '00000000', '010000')).toBe(false)
})

test.each([
  ['09000090', 10, true],
  ['99000090', 10, true],
  ['19000090', 10, false],
  ['08000090', 10, false],
  ['09000080', 10, false],
  ['09000090', 11, false],
])('exception 10 is as 7 where a and b are 09 or 99: %s with %i %s', (account_number, exception, passes) => {
  expect(check([isZero('b', exception)], account_number)).toBe(passes)
})

test.each([
  ['00000005', true],
  ['01000000', true],
  ['01000001', true],
  ['01000009', true],
  ['01000002', false],
  ['11000000', false],
])('exception 14 checks accounts of seven digits with a 0, 1 or 9 behind them: %s %s', (account_number, passes) => {
  expect(check([line({ algorithm: 'MOD11', weights: weighing('b'), exception: 14 })], account_number)).toBe(passes)
})

test('only six digits are written as a sort code', () => {
  expect(dashedSortCode('089999')).toBe('08-99-99')
  expect(dashedSortCode('0899991')).toBe('0899991')
  expect(dashedSortCode('x089999')).toBe('x089999')
})
