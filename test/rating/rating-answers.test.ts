import { describe, expect, test } from 'vitest'
import { yearsAfter } from '#domain/dates.ts'
import { birthday } from '#domain/rating/age.ts'
import { answerText, isMet, withDerived, type Answers } from '#domain/rating/answers.ts'
import { decimalUnits, roundHalfUp } from '#domain/rating/decimal.ts'
import type { DerivedValue } from '#domain/rating/events.ts'

test('an answer is part of a key when it is a text, a number, or yes or no', () => {
  const answers = { text: 'a', number: 0, yes: true, no: false, list: ['a'], none: null }

  expect(Object.keys(answers).map((key) => answerText(answers, key))).toEqual([
    'a',
    '0',
    'true',
    'false',
    undefined,
    undefined,
  ])
  expect(answerText(answers, 'toString')).toBeUndefined()
})

describe('a condition on a number', () => {
  for (const [limit, below, at, above] of [
    [{ min: 10 }, false, true, true],
    [{ above: 10 }, false, false, true],
    [{ max: 10 }, true, true, false],
    [{ below: 10 }, true, false, false],
  ] as const)
    test(`of ${JSON.stringify(limit)} has both sides`, () => {
      const met = (answer: unknown) => isMet({ key: 'units', ...limit }, { units: answer })

      expect([9, 10, 11].map(met)).toEqual([below, at, above])
      expect(['10', true, null, undefined].map(met)).toEqual([false, false, false, false])
    })
})

describe('a body mass index', () => {
  const derived: readonly DerivedValue[] = [{ key: 'bmi', kind: 'bmi', height_cm: 'height', weight_kg: 'weight' }]
  const bmi = (answers: Answers) => withDerived(derived, answers, 34)

  test('follows from a height and a weight', () => {
    expect(bmi({ height: 180, weight: 97.2 })).toEqual({ height: 180, weight: 97.2, bmi: 30 })
  })

  for (const answers of [
    { weight: 97.2 },
    { height: 180 },
    { height: '180', weight: 97.2 },
    { height: 180, weight: '97.2' },
    { height: 0, weight: 97.2 },
    { height: -180, weight: 97.2 },
  ])
    test(`does not follow from ${JSON.stringify(answers)}`, () => {
      expect(Object.hasOwn(bmi(answers), 'bmi')).toBe(false)
    })
})

describe('a decimal number', () => {
  for (const [text, places, units] of [
    ['1', 4, 10_000n],
    ['1.1', 4, 11_000n],
    ['12.3456', 4, 123_456n],
    ['12', 0, 12n],
  ] as const)
    test(`${text} is ${units} units of ${places} places`, () => {
      expect(decimalUnits(text, places)).toBe(units)
    })

  for (const text of ['', '.5', '1.', 'a', '1.2.3', '-1', '1a', 'a1', '1.23456'])
    test(`is not “${text}”`, () => {
      expect(() => decimalUnits(text, 4)).toThrow(`“${text}” is no decimal number with at most 4 places.`)
    })

  test('is rounded up from a half', () => {
    expect([roundHalfUp(149n, 100n), roundHalfUp(150n, 100n), roundHalfUp(250n, 100n)]).toEqual([1, 2, 3])
  })
})

describe('a 29 February', () => {
  test('is a birthday in leap years, and 1 March is in others', () => {
    expect(birthday('1996-02-29', 8)).toBe('2004-02-29')
    expect(birthday('1996-02-29', 4)).toBe('2000-02-29')
    expect(birthday('1896-02-29', 4)).toBe('1900-03-01')
    expect(birthday('1996-02-29', 1)).toBe('1997-03-01')
    expect(birthday('1996-02-28', 1)).toBe('1997-02-28')
  })

  test('is the end of a term in leap years, and 28 February is in others', () => {
    expect(yearsAfter('2000-02-29', 4)).toBe('2004-02-29')
    expect(yearsAfter('2000-02-29', 1)).toBe('2001-02-28')
    expect(yearsAfter('2001-03-01', 1)).toBe('2002-03-01')
    expect(yearsAfter('0099-03-01', 1)).toBe('0100-03-01')
    expect(yearsAfter('0098-03-01', 1)).toBe('0099-03-01')
  })
})
