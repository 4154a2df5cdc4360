import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { daysAfter } from '#domain/dates.ts'
import { workingDayFrom, workingDayUntil } from '#domain/working-days.ts'
import { bankCalendarCheck, readBankCalendar } from '#infra/bank-holidays.ts'
import { england } from './calendars.ts'

const weekday = (date: string) => new Date(date).getUTCDay()
const mondayFrom = (date: string): string => (weekday(date) === 1 ? date : mondayFrom(daysAfter(date, 1)))

/** Easter Sunday, by the rule of Meeus, Jones and Butcher. */
const easterOf = (year: number): string => {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const f = Math.floor((b + 8) / 25)
  const g = Math.floor((b - f + 1) / 3)
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  return daysAfter(`${year}-03-01`, h + l - 7 * m + 21)
}

/** Those of the law, and those that are proclaimed every year; a weekday is given for each that falls on a weekend. */
const inEngland = (year: number): readonly string[] => {
  const easter = easterOf(year)
  const fixed = [`${year}-01-01`, `${year}-12-25`, `${year}-12-26`]
  const given = fixed.reduce<readonly string[]>((taken, date) => {
    const free = (day: string): string =>
      [0, 6].includes(weekday(day)) || taken.includes(day) ? free(daysAfter(day, 1)) : day
    return [...taken, free(date)]
  }, [])
  const mondays = [`${year}-05-01`, `${year}-05-25`, `${year}-08-25`].map(mondayFrom)
  return [...given, daysAfter(easter, -2), daysAfter(easter, 1), ...mondays].toSorted()
}

test('the bank holidays that come along are those of England and Wales, substitute days among them', () => {
  const years = [2024, 2025, 2026, 2027, 2028]

  expect(england.holidays).toEqual(years.flatMap(inEngland))
  expect(england.holidays).toEqual(expect.arrayContaining(['2026-12-28', '2027-12-27', '2027-12-28', '2028-01-03']))
})

test('no bank works at Christmas, and banks work on the days before and after it', () => {
  expect(workingDayFrom(england, '2026-12-25')).toBe('2026-12-29')
  expect(workingDayUntil(england, '2026-12-28')).toBe('2026-12-24')
  expect(workingDayFrom(england, '2026-12-24')).toBe('2026-12-24')
  expect(workingDayUntil(england, '2026-12-29')).toBe('2026-12-29')
})

describe('a file of bank holidays of one’s own', () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'coverstream-holidays-'))
  })
  afterAll(async () => rm(directory, { recursive: true, force: true }))
  const read = async (text: string) => {
    const BANK_HOLIDAYS_FILE = join(directory, 'holidays.json')
    await writeFile(BANK_HOLIDAYS_FILE, text)
    return () => readBankCalendar({ BANK_HOLIDAYS_FILE })
  }

  test('counts in place of those of England, in whatever order', async () => {
    const events = [
      { title: 'St Andrew’s Day', date: '2026-11-30', notes: '', bunting: true },
      { title: '2nd January', date: '2026-01-02', notes: '', bunting: true },
    ]
    const readOwn = await read(JSON.stringify({ division: 'scotland', events }))

    expect(readOwn()).toEqual({ weekend: [6, 0], holidays: ['2026-01-02', '2026-11-30'] })
  })

  test.each([
    ['{', 'BANK_HOLIDAYS_FILE: is not JSON'],
    ['{ "scotland": {} }', 'of one part of the country: events required'],
    ['{ "events": [] }', 'events must have at least 1'],
    ['{ "events": [{ "date": "2026-02-30" }] }', 'events.0.date must be a date'],
  ])('of %s is refused: %s', async (text, line) => {
    expect(await read(text)).toThrow(line)
  })

  test('that cannot be read is named with its variable', () => {
    expect(() => readBankCalendar({ BANK_HOLIDAYS_FILE: '/no/such/file' })).toThrow(
      /^BANK_HOLIDAYS_FILE: cannot be read: ENOENT/,
    )
  })
})

describe('health', () => {
  const at = (instant: string) => bankCalendarCheck(england, { now: () => new Date(instant) })

  test('says nothing of bank holidays that are known for six months', () => {
    expect(at('2028-06-26T12:00:00.000Z')).toEqual({ name: 'bank_holidays', ok: true })
  })

  test.each(['2028-06-27T12:00:00.000Z', '2031-01-01T12:00:00.000Z'])(
    'names those that end sooner, or have ended, and the process stays ready: %s',
    (instant) => {
      const detail = 'no bank holiday after 2028-12-26 is known: name a newer file in BANK_HOLIDAYS_FILE'
      expect(at(instant)).toEqual({ name: 'bank_holidays', ok: true, detail })
    },
  )
})
