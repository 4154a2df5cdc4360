import { expect, test } from 'vitest'
import { sentFields } from '#domain/ingests/fields.ts'
import { readText } from '../../command-api/ingests/read-text.ts'
import { nameParts, tidyDetails } from '../../command-api/ingests/tidy.ts'
import { nothing } from './builders.ts'

/** How the name and the date of birth of a person are read, as they are sent. */

test.each([
  ['van der Berg, Anna', 'Anna', 'van der Berg', undefined],
  ['Smith Jones, Ann', 'Ann', 'Smith Jones', undefined],
  ['Smith Jones, Dr Ann Mary', 'Ann Mary', 'Smith Jones', 'Dr'],
  ['Mrs Smith Jones, Ann', 'Ann', 'Smith Jones', 'Mrs'],
  ['Finch,Ada', 'Ada', 'Finch', undefined],
  ['Anna van der Berg', 'Anna', 'van der Berg', undefined],
  ['Mr Ludwig van Beethoven', 'Ludwig', 'van Beethoven', 'Mr'],
  ['Van Morrison', 'Van', 'Morrison', undefined],
  ['van Morrison', 'van', 'Morrison', undefined],
  ['Ada Mary Finch', 'Ada Mary', 'Finch', undefined],
  ['Dr Ada Finch, PhD', 'Ada', 'Finch', 'Dr'],
  ['Finch,', undefined, 'Finch', undefined],
  ['Ada', 'Ada', undefined, undefined],
])('the name %s is %s %s', (name, first_name, last_name, title) => {
  const given = Object.entries({ first_name, last_name, title }).filter(([, value]) => value !== undefined)
  const expected = name === 'Finch,' ? { first_name: 'Finch' } : Object.fromEntries(given)

  expect(nameParts(name)).toEqual(expected)
})

const today = '2026-01-15'
const bornIn = (dob: string, time_zone: string) =>
  tidyDetails(sentFields({ ...nothing, data: { dob, email: 'a@example.com' } }), { today, time_zone })

test.each([
  ['1990-03-25T23:00:00.000Z', 'Europe/London', '1990-03-26'],
  ['1990-03-25T23:00:00.000+0000', 'Europe/London', '1990-03-26'],
  ['1990-03-25T23:00Z', 'Europe/London', '1990-03-26'],
  ['1990-01-25T23:00:00Z', 'Europe/London', '1990-01-25'],
  ['1990-03-26T00:00:00.000Z', 'America/New_York', '1990-03-26'],
  ['1990-03-26T00:00:00+0000', 'America/New_York', '1990-03-26'],
  ['1990-03-26T00:00:01Z', 'America/New_York', '1990-03-25'],
  ['1990-03-26T05:00:00Z', 'America/New_York', '1990-03-26'],
  ['1990-03-25T23:00:00', 'Europe/London', '1990-03-25'],
  ['1990-03-25', 'America/New_York', '1990-03-25'],
])('a date of birth sent as %s is, in %s, %s', (dob, time_zone, expected) => {
  expect(bornIn(dob, time_zone).details.dob).toBe(expected)
})

test.each(['14/03/2087', '14 March 2087', '2087-03-14', '2087-03-14T10:00:00Z'])(
  'a year of birth that is still to come is refused, and named: %s',
  (dob) => {
    const { details, refused } = bornIn(dob, 'Europe/London')

    expect(details).toEqual({ email: 'a@example.com' })
    expect(refused).toEqual({ dob: 'must be in the past' })
  },
)
test('of a year of two digits it is the last that has been', () => {
  expect(bornIn('14/03/87', 'Europe/London').details.dob).toBe('1987-03-14')
  expect(bornIn('14/03/27', 'Europe/London').details.dob).toBe('1927-03-14')
})
test('in a text, too', () => {
  const read = (text: string) => readText(text, { today, time_zone: 'Europe/London' }).details.dob

  expect(read('I was born on 14 March 2087.')).toBeUndefined()
  expect(read('Date of birth: 1990-03-25T23:00:00Z')).toBe('1990-03-26')
})
