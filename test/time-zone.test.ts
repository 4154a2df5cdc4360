import { describe, expect, test } from 'vitest'
import { defaultTimeZone, timeZoneOf } from '#domain/access/record.ts'
import { dateIn, instantIn, startOfDayIn } from '#domain/time-zone.ts'

/** Dates and times as the clocks of a place show them. */

test.each([
  ['Europe/London', '2026-01-31T23:59:59.999Z', '2026-01-31'],
  ['Europe/London', '2026-06-30T22:59:59.999Z', '2026-06-30'],
  ['Europe/London', '2026-06-30T23:00:00.000Z', '2026-07-01'],
  ['Europe/London', '2026-06-30T23:00:59.999Z', '2026-07-01'],
  ['America/New_York', '2026-06-30T23:00:00.000Z', '2026-06-30'],
  ['America/New_York', '2026-07-01T03:59:00.000Z', '2026-06-30'],
  ['America/New_York', '2026-07-01T04:00:00.000Z', '2026-07-01'],
  ['Asia/Kolkata', '2026-06-30T18:29:00.000Z', '2026-06-30'],
  ['Asia/Kolkata', '2026-06-30T18:30:00.000Z', '2026-07-01'],
  ['UTC', '0500-03-01T12:00:00.000Z', '0500-03-01'],
  ['UTC', '0001-01-01T00:00:00.000Z', '0001-01-01'],
])('in %s it is at %s the %s', (zone, instant, date) => {
  expect(dateIn(zone, instant)).toBe(date)
})

describe('a day begins', () => {
  test.each([
    ['Europe/London', '2026-01-15', '2026-01-15T00:00:00.000Z'],
    ['Europe/London', '2026-04-06', '2026-04-05T23:00:00.000Z'],
    ['Europe/London', '2026-03-29', '2026-03-29T00:00:00.000Z'],
    ['Europe/London', '2026-03-30', '2026-03-29T23:00:00.000Z'],
    ['Europe/London', '2026-10-25', '2026-10-24T23:00:00.000Z'],
    ['Europe/London', '2026-10-26', '2026-10-26T00:00:00.000Z'],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    ['Asia/Kolkata', '2026-07-01', '2026-06-30T18:30:00.000Z'],
    ['Pacific/Marquesas', '2026-07-01', '2026-07-01T09:30:00.000Z'],
    ['Pacific/Auckland', '2026-04-05', '2026-04-04T11:00:00.000Z'],
    ['Pacific/Auckland', '2026-09-27', '2026-09-26T12:00:00.000Z'],
    ['UTC', '2026-07-01', '2026-07-01T00:00:00.000Z'],
  ])('in %s on %s at %s', (zone, date, instant) => {
    expect(startOfDayIn(zone, date)).toBe(instant)
  })

  test.each([
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ])('in %s on %s at one o’clock, since the clock goes forward at midnight: %s', (zone, date, instant) => {
    expect(startOfDayIn(zone, date)).toBe(instant)
    expect(dateIn(zone, instant)).toBe(date)
    expect(dateIn(zone, new Date(Date.parse(instant) - 60_000).toISOString())).not.toBe(date)
  })

  test('in America/Havana the first time that it is midnight, when the clock goes back', () => {
    expect(startOfDayIn('America/Havana', '2026-11-01')).toBe('2026-11-01T04:00:00.000Z')
  })
})

describe('the clocks show a time', () => {
  test.each([
    ['Europe/London', '2026-01-15', '09:30', '2026-01-15T09:30:00.000Z'],
    ['Europe/London', '2026-07-15', '09:30', '2026-07-15T08:30:00.000Z'],
    ['Asia/Kolkata', '2026-07-15', '09:30', '2026-07-15T04:00:00.000Z'],
    // Forward from one to two.
    ['Europe/London', '2026-03-29', '00:59', '2026-03-29T00:59:00.000Z'],
    ['Europe/London', '2026-03-29', '02:00', '2026-03-29T01:00:00.000Z'],
    // Back from two to one.
    ['Europe/London', '2026-10-25', '00:59', '2026-10-24T23:59:00.000Z'],
    ['Europe/London', '2026-10-25', '02:00', '2026-10-25T02:00:00.000Z'],
    ['America/New_York', '2026-03-08', '01:59', '2026-03-08T06:59:00.000Z'],
    ['America/New_York', '2026-03-08', '03:00', '2026-03-08T07:00:00.000Z'],
  ])('in %s on %s at %s: %s', (zone, date, time, instant) => {
    expect(instantIn(zone, date, time)).toBe(instant)
  })

  test('that comes twice for the first time', () => {
    expect(instantIn('Europe/London', '2026-10-25', '01:30')).toBe('2026-10-25T00:30:00.000Z')
    expect(instantIn('America/New_York', '2026-11-01', '01:30')).toBe('2026-11-01T05:30:00.000Z')
  })

  test('that is left out as long after midnight as on any other day', () => {
    expect(instantIn('Europe/London', '2026-03-29', '01:30')).toBe('2026-03-29T01:30:00.000Z')
    expect(instantIn('America/New_York', '2026-03-08', '02:30')).toBe('2026-03-08T07:30:00.000Z')
  })
})

test('an organisation that does not say, or is not known yet, is in London', () => {
  const organisations = new Map([['one', { time_zone: 'Asia/Kolkata' }]])

  expect(timeZoneOf(organisations, 'one')).toBe('Asia/Kolkata')
  expect(timeZoneOf(organisations, 'another')).toBe('Europe/London')
  expect(defaultTimeZone).toBe('Europe/London')
})
