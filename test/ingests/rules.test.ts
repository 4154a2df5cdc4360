import { describe, expect, test } from 'vitest'
import type { LeadRule } from '#domain/campaigns/events.ts'
import type { IngestContent } from '#domain/ingests/events.ts'
import { sentFields } from '#domain/ingests/fields.ts'
import { unmetRules, type Formats, type RuleFacts } from '#domain/ingests/rules.ts'
import { nothing } from './builders.ts'

/** What a campaign asks of a lead. */

const formats: Formats = {
  email: (text) => text.includes('@'),
  phone: (text) => text.startsWith('0'),
  postcode: (text) => /^[A-Z]{1,2}\d{1,2} ?\d[A-Z]{2}$/i.test(text),
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined),
}
type Sent = Partial<IngestContent> & {
  readonly fieldNames?: Readonly<Record<string, string>>
  readonly refused?: RuleFacts['refused']
}
const unmet = (rule: LeadRule, { fieldNames = {}, refused = {}, ...content }: Sent) =>
  unmetRules([rule], {
    fields: sentFields({ ...nothing, ...content }, fieldNames),
    refused,
    consent: content.consent ?? null,
    fieldNames,
    formats,
    today: '2026-06-15',
  })
const failed = (rule: LeadRule, field: string, reason: unknown = expect.any(String)) => [
  { field, rule: rule.rule, reason },
]

describe('a detail that was sent and cannot be used', () => {
  const why = 'must not hold control characters'
  const ada = { data: { forename: 'Ada', surname: 'Ash' } }
  test.each<[string, string, Sent, boolean]>([
    ['a phone', 'phone', { data: { mobile: '12' }, refused: { phone_number: why } }, false],
    ['a whole name', 'name', { data: { name: 'Ada Ash' }, refused: { name: why } }, false],
    ['a last name by the whole', 'last_name', { data: { name: 'Ada Ash' }, refused: { name: why } }, false],
    ['a name of which one part is kept', 'name', { ...ada, refused: { last_name: why } }, true],
    ['a name of which no part is kept', 'name', { ...ada, refused: { first_name: why, last_name: why } }, false],
    ['a phone beside another detail', 'phone', { data: { phone: '0770' }, refused: { email: why } }, true],
  ])('%s: required, %s', (_what, field, sent, isMet) => {
    const rule: LeadRule = { rule: 'required', field }
    expect(unmet(rule, sent)).toEqual(isMet ? [] : failed(rule, expect.any(String) as never, `cannot be used: ${why}`))
  })
})

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

  expect(
    unmetRules(rules, { fields, refused: {}, consent: null, fieldNames: {}, formats, today: '2026-06-15' }),
  ).toMatchObject([{ field: 'name' }, { field: 'phone_number' }])
})
