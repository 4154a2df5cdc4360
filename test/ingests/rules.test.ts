import { describe, expect, test } from 'vitest'
import type { LeadRule } from '#domain/campaigns/events.ts'
import type { IngestContent } from '#domain/ingests/events.ts'
import { detailNamed, fillsTrap, isUsableKey, sentFields } from '#domain/ingests/fields.ts'
import { unmetRules, type Formats } from '#domain/ingests/rules.ts'

/** What a campaign asks of a lead, and by which names it finds what was sent. */

const nothing: IngestContent = {
  identity: null,
  data: null,
  text: null,
  declared: null,
  consent: null,
  provenance: null,
}
const formats: Formats = {
  email: (text) => text.includes('@'),
  phone: (text) => text.startsWith('0'),
  postcode: (text) => /^[A-Z]{1,2}\d{1,2} ?\d[A-Z]{2}$/i.test(text),
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined),
}
type Sent = Partial<IngestContent> & { readonly fieldNames?: Readonly<Record<string, string>> }
const unmet = (rule: LeadRule, { fieldNames = {}, ...content }: Sent) =>
  unmetRules([rule], {
    fields: sentFields({ ...nothing, ...content }, fieldNames),
    consent: content.consent ?? null,
    fieldNames,
    formats,
    today: '2026-06-15',
  })
const failed = (rule: LeadRule, field: string, reason: unknown = expect.any(String)) => [
  { field, rule: rule.rule, reason },
]

describe('a field that is required', () => {
  const rule = (field: string): LeadRule => ({ rule: 'required', field })

  test('was sent under any of its usual names', () => {
    expect(unmet(rule('email'), { data: { 'Email Address': 'ada@example.com' } })).toEqual([])
  })
  test('was not sent: it is named as the sender calls it', () => {
    expect(unmet(rule('email'), {})).toEqual(failed(rule('email'), 'email', 'is missing'))
    expect(unmet(rule('budget'), { fieldNames: { budget: 'q17' } })).toEqual(
      failed(rule('budget'), 'q17', 'is missing'),
    )
  })
  test.each<[string, string, Sent, boolean]>([
    ['a name', 'name', { data: { name: 'Ada Ash' } }, true],
    ['a name by its last part', 'name', { data: { surname: 'Ash' } }, true],
    ['a name by its first part', 'name', { data: { forename: 'Ada' } }, true],
    ['a first name by the whole', 'first_name', { data: { name: 'Ada Ash' } }, true],
    ['a last name by the whole', 'last_name', { data: { name: 'Ada Ash' } }, true],
    ['no last name by a name of one word', 'last_name', { data: { name: 'Ada' } }, false],
    ['no last name by a word and spaces', 'last_name', { identity: { name: ' Ada ' } }, false],
    ['no email address by a name', 'email', { data: { name: 'Ada Ash' } }, false],
    ['a fact that was declared', 'budget', { declared: { budget: 100 } }, true],
    ['a fact that was declared as a list', 'budget', { declared: { budget: ['a', 'b'] } }, true],
    ['no fact that is null', 'budget', { declared: { budget: null } }, false],
    ['no fact that is empty', 'budget', { declared: { budget: '' } }, false],
    ['no fact that is an empty list', 'budget', { declared: { budget: [] } }, false],
    ['a fact that is only in the data', 'budget', { declared: { budget: '' }, data: { budget: 5 } }, true],
    ['nothing that every object has', 'constructor', {}, false],
  ])('%s', (_name, field, sent, isMet) => {
    expect(unmet(rule(field), sent)).toEqual(isMet ? [] : failed(rule(field), field, 'is missing'))
  })
})

test.each<[string, Extract<LeadRule, { rule: 'format' }>['format'], string, boolean]>([
  ['email', 'email', 'ada@example.com', true],
  ['email', 'email', 'ada', false],
  ['phone', 'phone', '0770', true],
  ['phone', 'phone', '770', false],
  ['postcode', 'postcode', 'LS1 1AA', true],
  ['postcode', 'postcode', 'Leeds', false],
  ['date', 'date', '2026-01-01', true],
  ['date', 'date', 'soon', false],
  ['number', 'number', '1', true],
  ['number', 'number', '-1,200.50', true],
  ['number', 'number', '+£ 1,200', true],
  ['number', 'number', '€12.5', true],
  ['number', 'number', ' $9 ', true],
  ['number', 'number', '12.', false],
  ['number', 'number', '12.x', false],
  ['number', 'number', '1.2.3', false],
  ['number', 'number', 'a12', false],
  ['number', 'number', '12a', false],
  ['number', 'number', ',1', false],
])('a %s as %s: “%s” is one: %s', (_name, format, value, isOne) => {
  const rule: LeadRule = { rule: 'format', field: 'answer', format }
  const reasons = {
    email: 'email',
    phone: 'telephone',
    postcode: 'postcode',
    date: 'date',
    number: 'number',
    pattern: '',
  }

  expect(unmet(rule, { declared: { answer: value } })).toEqual(
    isOne ? [] : failed(rule, 'answer', expect.stringContaining(reasons[format])),
  )
})

test('what was sent and fails is named as it was sent, whatever the campaign calls it', () => {
  const rule: LeadRule = { rule: 'format', field: 'email', format: 'email' }

  for (const sent of [{ data: { 'Email Address': 'ada' } }, { data: { form: { mail: 'ada' } } }])
    expect(unmet(rule, { ...sent, fieldNames: { email: 'E-Mail' } })).toEqual(
      failed(rule, 'form' in sent.data ? 'form.mail' : 'Email Address'),
    )
})

test.each([
  ['^A\\d+$', 'A12', true],
  ['^A\\d+$', 'B12', false],
  ['^a+$', 'a'.repeat(1000), true],
  ['^a+$', 'a'.repeat(1001), false],
])('a value of the pattern %s', (pattern, value, isOne) => {
  const rule: LeadRule = { rule: 'format', field: 'code', format: 'pattern', pattern }

  expect(unmet(rule, { declared: { code: value } })).toEqual(
    isOne ? [] : failed(rule, 'code', expect.stringContaining('form')),
  )
})

test('a field that was not sent breaks no rule but that it must be there', () => {
  for (const rule of [
    { rule: 'format', field: 'code', format: 'email' },
    { rule: 'allowed_values', field: 'code', values: ['a'] },
    { rule: 'age_range', field: 'dob', min: 18 },
    { rule: 'postcode_range', field: 'postal_code', allowed: ['LS'] },
    { rule: 'no_duplicate', days: 30 },
  ] as unknown as readonly LeadRule[])
    expect(unmet(rule, {})).toEqual([])
})

test('one of several values is allowed, however it is written', () => {
  const rule: LeadRule = { rule: 'allowed_values', field: 'plan', values: ['Gold', 'Silver'] }

  expect(unmet(rule, { declared: { plan: 'gold' } })).toEqual([])
  expect(unmet(rule, { declared: { plan: 'SILVER' } })).toEqual([])
  expect(unmet(rule, { declared: { plan: 'iron' } })).toEqual(failed(rule, 'plan', 'must be one of Gold, Silver'))
})

test('every item of a list must be an allowed value', () => {
  const rule: LeadRule = { rule: 'allowed_values', field: 'plan', values: ['Gold', 'Silver'] }

  for (const sent of ['data', 'declared']) {
    expect(unmet(rule, { [sent]: { plan: ['gold', 'SILVER'] } })).toEqual([])
    expect(unmet(rule, { [sent]: { plan: [null, 'gold'] } })).toEqual([])
    expect(unmet(rule, { [sent]: { plan: ['gold', 'iron'] } })).toEqual(failed(rule, 'plan'))
  }
})

test('a list that was declared is one text', () => {
  const rule: LeadRule = { rule: 'format', field: 'wants', format: 'pattern', pattern: '^life, health$' }

  expect(unmet(rule, { declared: { wants: ['life', 'health'] } })).toEqual([])
})

describe('an age', () => {
  const between: LeadRule = { rule: 'age_range', field: 'dob', min: 18, max: 70 }
  test.each([
    ['2008-06-15', undefined],
    ['2008-06-16', 'under 18'],
    ['1955-06-16', undefined],
    ['1955-06-15', 'over 70'],
    ['2026-06-16', 'not a date of birth'],
    ['soon', 'not a date of birth'],
  ])('of somebody born on %s: %s', (dob, reason) => {
    expect(unmet(between, { data: { dob } })).toEqual(
      reason === undefined ? [] : failed(between, 'dob', expect.stringContaining(reason)),
    )
  })
  test('has no limit that was not set', () => {
    expect(unmet({ rule: 'age_range', field: 'dob', min: 18 }, { data: { dob: '1900-01-01' } })).toEqual([])
    expect(unmet({ rule: 'age_range', field: 'dob', min: 0 }, { data: { dob: '2026-06-15' } })).toEqual([])
    expect(unmet({ rule: 'age_range', field: 'dob', max: 70 }, { data: { dob: '2026-06-15' } })).toEqual([])
  })
})

describe('a postcode', () => {
  const rule = (limits: { allowed?: string[]; excluded?: string[] }): LeadRule => ({
    rule: 'postcode_range',
    field: 'postal_code',
    ...limits,
  })
  test.each<[{ allowed?: string[]; excluded?: string[] }, string, string | undefined]>([
    [{ allowed: ['LS'] }, 'LS1 1AA', undefined],
    [{ allowed: ['ls'] }, 'ls11aa', undefined],
    [{ allowed: ['L'] }, 'LS1 1AA', 'outside'],
    [{ allowed: ['M', 'LS1'] }, 'LS1 1AA', undefined],
    [{ allowed: ['LS1'] }, 'LS11 1AA', 'outside'],
    [{ allowed: ['LS 1'] }, 'LS1 1AA', undefined],
    [{ allowed: ['LS1 1AA'] }, 'LS1 1AA', undefined],
    [{ allowed: ['LS1 1AB'] }, 'LS1 1AA', 'outside'],
    [{ excluded: ['M', 'LS'] }, 'LS1 1AA', 'excluded'],
    [{ excluded: ['L'] }, 'LS1 1AA', undefined],
    [{ allowed: ['LS'], excluded: ['LS1'] }, 'LS1 1AA', 'excluded'],
    [{ allowed: ['LS'] }, 'Leeds', 'not a UK postcode'],
    [{}, 'LS1 1AA', undefined],
  ])('within %o: %s %s', (limits, postal_code, reason) => {
    expect(unmet(rule(limits), { data: { postal_code } })).toEqual(
      reason === undefined ? [] : failed(rule(limits), 'postal_code', expect.stringContaining(reason)),
    )
  })
})

describe('consent', () => {
  const marketing: LeadRule = { rule: 'consent', purpose: 'first_party_marketing' }
  const byEmail: LeadRule = { ...marketing, channel: 'email' }
  const given = (channels: object) =>
    ({ consent: { purposes: { first_party_marketing: channels } } }) as unknown as Sent
  test.each<[LeadRule, Sent, string | undefined]>([
    [marketing, {}, 'consent.first_party_marketing'],
    [marketing, given({ sms: true, email: false }), undefined],
    [marketing, given({ email: false }), 'consent.first_party_marketing'],
    [marketing, given({}), 'consent.first_party_marketing'],
    [byEmail, given({ email: true }), undefined],
    [byEmail, given({ email: false }), 'consent.first_party_marketing.email'],
    [byEmail, given({ sms: true }), 'consent.first_party_marketing.email'],
    [byEmail, {}, 'consent.first_party_marketing.email'],
  ])('%o with %o', (rule, sent, field) => {
    expect(unmet(rule, sent)).toEqual(field === undefined ? [] : failed(rule, field, 'is not given'))
  })
})

test('of several rules those that are not met are named, in their order', () => {
  const rules: readonly LeadRule[] = [
    { rule: 'required', field: 'name' },
    { rule: 'required', field: 'email' },
    { rule: 'required', field: 'phone_number' },
  ]
  const fields = sentFields({ ...nothing, data: { email: 'ada@example.com' } })

  expect(unmetRules(rules, { fields, consent: null, fieldNames: {}, formats, today: '2026-06-15' })).toMatchObject([
    { field: 'name' },
    { field: 'phone_number' },
  ])
})

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
