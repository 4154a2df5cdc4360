import { expect, test } from 'vitest'
import { yearsAfter } from '#domain/dates.ts'
import { ageLastBirthday, birthday, nextBirthday } from '#domain/rating/age.ts'

test.each([
  ['1990-06-15', '2026-06-14', 35],
  ['1990-06-15', '2026-06-15', 36],
  ['1990-12-31', '2026-01-01', 35],
  ['2026-03-01', '2026-03-01', 0],
])('born %s, on %s one is %i', (dob, on, age) => {
  expect(ageLastBirthday(dob, on)).toBe(age)
})

test('someone born on 29 February is a year older on 1 March of other years', () => {
  expect(ageLastBirthday('1992-02-29', '2026-02-28')).toBe(33)
  expect(ageLastBirthday('1992-02-29', '2026-03-01')).toBe(34)
  expect(nextBirthday('1992-02-29', '2026-02-28')).toBe('2026-03-01')
  expect(nextBirthday('1992-02-29', '2028-02-28')).toBe('2028-02-29')
  expect(birthday('1960-02-29', 140)).toBe('2100-03-01')
})

test('the next birthday comes after the date, a year after a birthday itself', () => {
  expect(nextBirthday('1990-06-15', '2026-06-14')).toBe('2026-06-15')
  expect(nextBirthday('1990-06-15', '2026-06-15')).toBe('2027-06-15')
})

test('a term ends on the same day, or on 28 February where there is no 29th', () => {
  expect(yearsAfter('2027-01-31', 25)).toBe('2052-01-31')
  expect(yearsAfter('2028-02-29', 1)).toBe('2029-02-28')
  expect(yearsAfter('2028-02-29', 4)).toBe('2032-02-29')
})
