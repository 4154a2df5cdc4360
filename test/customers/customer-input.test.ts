import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AnyCustomerInput, readCustomer } from '../../command-api/customer-input.ts'

const facts = { today: '2026-01-15', country: null }
const read = (sent: Record<string, unknown>, changes: Partial<typeof facts> | { country: string } = {}) =>
  readCustomer(sent, { ...facts, ...changes })
const x = (length: number) => 'x'.repeat(length)

describe('what is kept of', () => {
  test.each([
    ['title', ' Dr ', 'Dr'],
    ['first_name', ' Anna ', 'Anna'],
    ['first_name', x(100), x(100)],
    ['last_name', 'Ní Bhriain-O’Dowd', 'Ní Bhriain-O’Dowd'],
    ['email', ' Anna.Ash+life@Example.ORG ', 'anna.ash+life@example.org'],
    ['phone_number', '07700 900123', '+447700900123'],
    ['phone_number', '0044 (0)7700 900-123', '+447700900123'],
    ['email', `${x(64)}@example.org`, `${x(64)}@example.org`],
    ['phone_number', '+44 (0)113 496 0000 ext. 12', '+441134960000'],
    ['phone_number', '+33 6 12 34 56 78', '+33612345678'],
    ['dob', '1990-01-15', '1990-01-15'],
    ['dob', '2026-01-14', '2026-01-14'],
    ['dob', '1905-01-16', '1905-01-16'],
    ['postal_code', 'sw1a1aa', 'SW1A 1AA'],
    ['address_line1', '1 High Street', '1 High Street'],
    ['city', 'Leeds', 'Leeds'],
    ['country', 'gb', 'GB'],
    ['country', 'UK', 'GB'],
    ['country', 'fr', 'FR'],
    ['country', 'United Kingdom', 'United Kingdom'],
    ['email', '\u200Banna\u200B@exam\u00ADple.org\uFEFF', 'anna@example.org'],
    ['email', 'smith&jones@example.org', 'smith&jones@example.org'],
    ['email', "Miles.O'Brien@example.org", "miles.o'brien@example.org"],
    ['email', 'anna@Bücher.example', 'anna@bücher.example'],
    ['email', 'jöran@xn--bcher-kva.example', 'jöran@xn--bcher-kva.example'],
    ['email', 'anna@example.xn--p1ai', 'anna@example.xn--p1ai'],
    ['phone_number', '\u202A+44\u200B 113 245 0100\u202C', '+441132450100'],
    ['first_name', 'An\u200Bna\u2060', 'Anna'],
    ['first_name', 'می\u200Cنا', 'می\u200Cنا'],
    ['last_name', '\u200Dक्\u200Dष\u200C', 'क्\u200Dष'],
    ['address_line1', '\u200E1 High Street\u00AD', '1 High Street'],
  ])('%s %j: %j', (name, sent, kept) => {
    expect(read({ [name]: sent })).toEqual({ details: { [name]: kept }, refused: {} })
  })
})

describe('what is wrong with', () => {
  test.each([
    ['title', x(21), 'longer than 20'],
    ['first_name', x(101), 'longer than 100'],
    ['first_name', 'An\u0000na', 'control characters'],
    ['last_name', 'As\ud800h', 'control characters'],
    ['first_name', 5, 'text'],
    ['email', 'nowhere', 'email address'],
    ['email', 'a@b', 'email address'],
    ['email', `${x(50)}@${`${x(60)}.`.repeat(4)}org`, 'at most 254'],
    ['email', `${x(65)}@example.org`, '64 of them before the @'],
    ['email', ['anna@example.org'], 'text'],
    ['phone_number', '12', 'too_short'],
    ['phone_number', '07700 900123 45678', 'too_long'],
    ['phone_number', '07700 90012', 'too_short'],
    ['phone_number', '+44 (0)7700 90012', 'too_short'],
    ['phone_number', '07700 9001234', 'too_long'],
    ['phone_number', '4.47911E+11', 'a spreadsheet has rounded the number'],
    ['email', 'anna..ash@example.org', 'email address'],
    ['email', '.anna@example.org', 'email address'],
    ['email', 'anna@exa mple.org', 'email address'],
    ['email', 'anna@-example.org', 'email address'],
    ['email', 'anna@10.0.0.1', 'email address'],
    ['email', 'anna@bob@example.org', 'email address'],
    ['email', 'Anna <anna@example.org>', 'email address'],
    ['phone_number', 'call me', 'format_invalid'],
    ['phone_number', '07700 900123;drop', 'format_invalid'],
    ['dob', '2026-01-15', 'in the past'],
    ['dob', '2026-01-16', 'in the past'],
    ['dob', '1905-01-15', 'more than 120 years'],
    ['dob', '1990-02-30', 'a date'],
    ['dob', '15/01/1990', 'a date'],
    ['postal_code', 'nowhere', 'UK postcode'],
    ['address_line1', x(201), 'longer than 200'],
    ['country', 'ZZ', 'ISO 3166-1'],
    ['country', 'EU', 'ISO 3166-1'],
    ['country', x(101), 'longer than 100'],
  ])('%s %j', (name, sent, reason) => {
    expect(read({ [name]: sent })).toEqual({
      details: {},
      refused: { [name]: expect.stringContaining(reason) as unknown },
    })
  })
})

test('what is null or blank is as if it had not been sent', () => {
  const names = ['title', 'first_name', 'last_name', 'email', 'phone_number', 'dob', 'postal_code', 'city', 'country']
  const blank = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? ' ' : null]))
  expect(read({ ...blank, unheard: 1 })).toEqual({ details: {}, refused: {} })
})

test.each(['\u200B', '\uFEFF\u2060', '\u200D', ' \u00AD ', '\u3164', '\u2800'])(
  '%j as a first name is none',
  (first_name) => {
    expect(read({ first_name })).toEqual({ details: {}, refused: {} })
  },
)

const Documented = z.fromJSONSchema(z.looseObject({}).parse(AnyCustomerInput.meta()?.['override']))
const isDocumented = (sent: unknown) => Documented.safeParse(sent).success

test('the document allows null and an empty text for every detail, since the service does', () => {
  const names = Object.keys(
    z.object({ properties: z.looseObject({}) }).parse(AnyCustomerInput.meta()?.['override']).properties,
  )
  expect(names).toHaveLength(11)
  for (const name of names)
    for (const nothing of [null, ''])
      expect([name, isDocumented({ [name]: nothing }), read({ [name]: nothing }).refused]).toEqual([name, true, {}])
})

test.each([
  ['title', 20],
  ['first_name', 100],
  ['last_name', 100],
  ['address_line1', 200],
  ['address_line2', 200],
  ['city', 100],
  ['country', 100],
])('the document says how long %s may be: %i characters', (name, most) => {
  for (const length of [most, most + 1]) {
    const sent = { [name]: x(length) }
    expect([length, isDocumented(sent)]).toEqual([length, Object.keys(read(sent).refused).length === 0])
  }
})

test.each([null, '', ' '])('a second address line of %j is no second line', (address_line2) => {
  expect(read({ address_line2 })).toEqual({ details: { address_line2: null }, refused: {} })
})

test('postcodes and phone numbers abroad are those of the country, sent or known', () => {
  const french = { postal_code: '75001', phone_number: '06 12 34 56 78' }
  const kept = { postal_code: '75001', phone_number: '+33612345678' }
  expect(read({ ...french, country: 'FR' })).toEqual({ details: { ...kept, country: 'FR' }, refused: {} })
  expect(read(french, { country: 'FR' })).toEqual({ details: kept, refused: {} })
  expect(read(french, { country: 'GB' }).refused).toHaveProperty('postal_code')
  expect(read({ postal_code: 'ls11ur' }, { country: 'England' }).details).toEqual({ postal_code: 'LS1 1UR' })
})

test('whatever is sent, what is kept can be sent again', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.emailAddress(),
    fc.constantFrom('0113 4960000', 'GB'),
    fc.anything(),
  )
  const names = ['title', 'first_name', 'email', 'phone_number', 'dob', 'postal_code', 'address_line2', 'country']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (sent) => {
      const { details, refused } = read(sent)
      fc.pre(refused['country'] === undefined) // by which postcodes and phone numbers are judged
      expect(read(details)).toEqual({ details, refused: {} })
    }),
  )
})
