import { describe, expect, test } from 'vitest'
import type { IngestContent } from '#domain/ingests/events.ts'
import { detailNamed } from '#domain/ingests/field-names.ts'
import { fillsTrap, isUsableKey, itemsOf, sentFields } from '#domain/ingests/fields.ts'
import { tidyDetails } from '../../command-api/ingests/tidy.ts'
import { nothing } from './builders.ts'

/** By which names what was sent is found. */

const usual: Readonly<Record<string, string>> = {
  contact_id: 'contactid',
  external_id: 'externalid externalref externalreference crmid',
  title: 'title salutation honorific',
  first_name: 'firstname forename givenname fname christianname',
  last_name: 'lastname surname familyname lname secondname',
  name: 'name fullname yourname contactname customername',
  email: 'email emailaddress mail youremail contactemail workemail homeemail',
  phone_number:
    'phone phonenumber telephone telephonenumber tel mobile mobilenumber mobilephone cell contactnumber daytimephone homephone yourphone',
  dob: 'dob dateofbirth birthdate birthday born',
  postal_code: 'postalcode postcode zip zipcode',
  address_line1: 'addressline1 address1 line1 street streetaddress address',
  address_line2: 'addressline2 address2 line2',
  city: 'city town posttown',
  country: 'country countrycode',
}
test.each(Object.entries(usual))('%s is known by its usual names', (name, aliases) => {
  for (const alias of aliases.split(' ')) {
    expect([alias, detailNamed(alias)]).toEqual([alias, name])
    expect([alias, detailNamed(` ${alias.slice(0, 2).toUpperCase()}-_.${alias.slice(2)}`)]).toEqual([alias, name])
  }
})
test('other names are no details', () => {
  for (const name of ['', 'e', 'email2', 'product']) expect(detailNamed(name)).toBeUndefined()
})

describe('what was sent', () => {
  const sent = (data: Record<string, unknown>, fieldNames?: Record<string, string>) =>
    sentFields({ ...nothing, data }, fieldNames)

  test('is known by the usual names of its fields, at any depth of a person, and by those of the campaign', () => {
    const { details, others } = sentFields(
      {
        ...nothing,
        data: {
          Contact: { 'E-Mail': 'a@example.com', Mobile: '07700 900123' },
          product: { name: 'Life', sumAssured: 250000 },
          geb: '1988-03-14',
          list: [1, 2],
          empty: '',
        },
      },
      { dob: 'Geb' },
    )
    expect([...details].map(([name, { value, sender }]) => [name, value, sender])).toEqual([
      ['email', 'a@example.com', 'Contact.E-Mail'],
      ['phone_number', '07700 900123', 'Contact.Mobile'],
      ['dob', '1988-03-14', 'geb'],
    ])
    expect([...others].map(([key, { value }]) => [key, value])).toEqual([
      ['product_name', 'Life'],
      ['product_sum_assured', 250000],
      ['list', 1],
      ['list_2', 2],
    ])
  })

  test('never becomes a property that every object has', () => {
    const data = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "fine": 4}') as Record<string, unknown>
    expect([...sentFields({ ...nothing, data }).others.keys()]).toEqual(['proto', 'field', 'to_string', 'fine'])
  })

  test.each(
    'contact contact_details person personal personal_details customer customer_details lead applicant client user details address home_address identity fields form_fields form data answers payload body form_data values'.split(
      ' ',
    ),
  )('within %s is the person’s', (parent) => {
    expect(sent({ [parent]: { email: 'ada@example.com' } }).details.get('email')).toEqual({
      value: 'ada@example.com',
      sender: `${parent}.email`,
    })
  })
  test.each(['product', 'my_person', 'persons', 'contact_of'])('within %s is not', (parent) => {
    const { details, others } = sent({ [parent]: { email: 'ada@example.com' } })

    expect(details.size).toBe(0)
    expect(others.get(`${parent}_email`)).toEqual({ value: 'ada@example.com', sender: `${parent}.email` })
  })
  test('within a person of something else is not', () => {
    expect(sent({ product: { contact: { email: 'a@b.example' } } }).details.size).toBe(0)
    expect(sent({ contact: { product: { email: 'a@b.example' } } }).details.size).toBe(0)
  })
  test('by a name of the campaign’s comes under ours', () => {
    const { details, others } = sent({ q1: 'ada@example.com', part: { q2: 7 } }, { email: 'Q-1', budget: 'part.q2' })

    expect(details.get('email')).toEqual({ value: 'ada@example.com', sender: 'q1' })
    expect(others.get('budget')).toEqual({ value: 7, sender: 'part.q2' })
    expect(sent({ part: { q2: 7 } }, { budget: 'q2' }).others.get('budget')).toEqual({ value: 7, sender: 'part.q2' })
    expect([...sent({ part: { q2: 7 } }, { budget: 'q2', goal: 'part.q2' }).others.keys()]).toEqual(['goal'])
    expect(sent({ a: { b: { q2: 7 } } }, { budget: 'q2' }).others.get('budget')).toEqual({ value: 7, sender: 'a.b.q2' })
  })
  test('first counts: identity, then data, then what was declared', () => {
    const { details } = sentFields({
      ...nothing,
      identity: { email: 'one@example.com', phone: '' },
      data: { email: 'two@example.com', phone: '0771' },
      declared: { email: 'three@example.com', phone: '0772', city: 'Leeds', country: '', name: null, title: ['a'] },
    })

    expect([...details].map(([name, { value, sender }]) => [name, value, sender])).toEqual([
      ['email', 'one@example.com', 'email'],
      ['phone_number', '0771', 'phone'],
      ['city', 'Leeds', 'city'],
    ])
  })
  test.each<[string, IngestContent['declared'], object]>([
    ['our own name', { email: 'ada@example.com', phone: '0772' }, { email: 'ada@example.com', phone_number: '0772' }],
    ['another usual name', { Email: 'ada@example.com', mobile: '0772', post_code: 'LS1 4AP' }, {}],
    ['our name of a whole name, which would have to be read', { name: 'Ada Finch' }, {}],
    ['our own name, without a single value', { email: null, city: '', title: ['Ms'] }, {}],
    ['a key that is no detail', { budget: 5 }, {}],
    ['a date of birth as it is stored', { dob: '1988-03-14' }, { dob: '1988-03-14' }],
    ...['14/03/1988', '1988-3-14', '1988-03-1', '8-03-14', '11988-03-14', '1988-03-144']
      .concat(['abcd-03-14', '1988-ab-14', '1988-03-ab'])
      .map((dob): [string, IngestContent['declared'], object] => [
        `a date of birth that must be read: ${dob}`,
        { dob },
        {},
      ]),
  ])(
    'what is declared is never interpreted, and is a detail only under our own name: %s',
    (_what, declared, expected) => {
      const found = sentFields({ ...nothing, declared })

      expect(Object.fromEntries([...found.details].map(([name, { value }]) => [name, value]))).toEqual(expected)
      expect(found.declared).toEqual(declared)
    },
  )
  test('is trimmed, and what is empty is none', () => {
    const { others } = sent({ a: '  x  ', b: '   ', c: '', d: null, e: 0, f: false })

    expect(Object.fromEntries([...others].map(([key, { value }]) => [key, value]))).toEqual({ a: 'x', e: 0, f: false })
  })
  test('in a list: the first is the field, the others are numbered', () => {
    const { others } = sent({ pets: ['cat', 'dog'] })

    expect([...others].map(([key, { value }]) => [key, value])).toEqual([
      ['pets', 'cat'],
      ['pets_2', 'dog'],
    ])
  })
  test('twice under one key counts once, the first', () => {
    expect(sent({ 'a-b': 1, a_b: 2 }).others.get('a_b')).toEqual({ value: 1, sender: 'a-b' })
  })
  test.each([
    ['someThing', 'some_thing'],
    ['__Some -- thing!!__', 'some_thing'],
    ['a'.repeat(70), 'a'.repeat(64)],
  ])('as %s has the key %s', (sender, key) => {
    expect([...sent({ [sender]: 1 }).others.keys()]).toEqual([key])
  })
  test.each(['!!!', 'constructor', 'valueOf'])('as %s has none', (sender) => {
    expect(isUsableKey(sender)).toBe(false)
    expect(sent({ [sender.toLowerCase()]: 1 }).others.has(sender)).toBe(false)
  })
  test.each([
    ['a', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['', false],
    ['A', false],
    ['a b', false],
    ['a_.-9', true],
    ['toString', false],
  ])('under the key %s can be kept: %s', (key, isUsable) => {
    expect(isUsableKey(key)).toBe(isUsable)
  })
  test.each<[Record<string, unknown>, Record<string, unknown>]>([
    [
      { 'a b': 1, a_b: 2, aB: 3 },
      { a_b: 1, a_b_2: 2, a_b_3: 3 },
    ],
    [
      { fields: ['golf', 'chess', 'tea'].map((value) => ({ name: 'hobby', value })) },
      { hobby: 'golf', hobby_2: 'chess', hobby_3: 'tea' },
    ],
    [
      { Страна: 'x', 国: 'y', constructor: 'z' },
      { field: 'x', field_2: 'y', field_3: 'z' },
    ],
    [{ name: { constructor: 'x' } }, { name_constructor: 'x' }],
  ])('as %o loses no value that is called the same as another, or as nothing that a key is made of', (data, kept) => {
    expect(Object.fromEntries([...sent(data).others].map(([key, { value }]) => [key, value]))).toEqual(kept)
  })
  test('as a list of values with one name is one field with all of them', () => {
    const fields = sent({ fields: ['golf', 'chess'].map((value) => ({ name: 'hobby', value })) })
    const hobby = fields.others.get('hobby')
    expect(hobby && itemsOf(fields, hobby)).toEqual(['golf', 'chess'])
  })
  test.each<[string, (length: number) => Partial<IngestContent>]>([
    ['a number for a name', (length) => ({ data: { 1: `a@${'.'.repeat(length)}@` } })],
    ['a phone', (length) => ({ declared: { phone: `1${'('.repeat(length)}1` } })],
    [
      'a name around many values',
      (length) => ({
        data: { ['kX_'.repeat(length / 3)]: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`a${at}`, 1])) },
      }),
    ],
  ])('takes time in proportion to its length: %s', (_what, made) => {
    const begun = performance.now()
    tidyDetails(sentFields({ ...nothing, ...made(200_000) }), { today: '2026-01-12', time_zone: 'Europe/London' })
    expect(performance.now() - begun).toBeLessThan(5_000)
  })
  test('of 500 values and 8 levels is read whole, and of more is truncated', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]))
    const deep = (levels: number): Record<string, unknown> => (levels === 1 ? { x: 1 } : { x: deep(levels - 1) })

    expect(sent(many(500))).toMatchObject({ truncated: false })
    expect(sent(many(500)).others.size).toBe(500)
    expect(sent(many(501))).toMatchObject({ truncated: true })
    expect(sent(many(501)).others.size).toBe(500)
    expect(sent(deep(8))).toMatchObject({ truncated: false })
    expect(sent(deep(9))).toMatchObject({ truncated: true })
    expect(sent({ a: 'x'.repeat(2000) })).toMatchObject({ truncated: false })
    expect(sent({ a: 'x'.repeat(2001) })).toMatchObject({ truncated: true })
    expect(sent({ a: 'x'.repeat(2001) }).others.get('a')).toMatchObject({ value: 'x'.repeat(2000) })
  })
  test('with more declared values than a lead can hold is truncated', () => {
    const declaring = (count: number) =>
      sentFields({
        ...nothing,
        declared: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1])),
      })

    expect(declaring(2_000)).toMatchObject({ truncated: false })
    expect(declaring(2_001)).toMatchObject({ truncated: true })
  })
  test.each<[Partial<IngestContent>, boolean]>([
    [{ data: { website: 'x' } }, true],
    [{ declared: { 'Web-Site': 'x' } }, true],
    [{ data: { website: 0 } }, true],
    [{ data: { website: '' } }, false],
    [{ data: { website: false } }, false],
    [{ data: { website: null } }, false],
    [{ data: { other: 'x' } }, false],
    [{ data: { form: { fields: [{ name: 'Ada' }, { Website: 'x' }] } } }, true],
    [{ data: { website: { url: 'x' } } }, true],
    [{ data: { form: { website: '' } } }, false],
    [{ data: { form: { website: false } } }, false],
    [{}, false],
  ])('%o fills a trap: %s', (content, isFilled) => {
    expect(fillsTrap({ ...nothing, ...content }, ['website'])).toBe(isFilled)
    expect(fillsTrap({ ...nothing, ...content }, [])).toBe(false)
  })
})
