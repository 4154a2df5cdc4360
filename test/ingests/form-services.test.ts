import { describe, expect, test } from 'vitest'
import { fillsTrap, sentFields } from '#domain/ingests/fields.ts'
import { readDeterministically } from '../../command-api/ingests/reader.ts'
import { tidyDetails } from '../../command-api/ingests/tidy.ts'
import { nothing } from './builders.ts'
import { formServices } from './form-services.ts'

/** What form services send is about the person who filled the form in, whatever is wrapped around it. */

const today = '2026-01-15'
const time_zone = 'Europe/London'
const fieldsOf = (data: Readonly<Record<string, unknown>>) => sentFields({ ...nothing, data })
const detailsOf = (data: Readonly<Record<string, unknown>>) => tidyDetails(fieldsOf(data), { today, time_zone }).details
const factsOf = (data: Readonly<Record<string, unknown>>) => {
  const content = { ...nothing, data }
  const material = { content, fields: fieldsOf(data), wanted: [], currency: 'GBP', today, time_zone }
  const read = readDeterministically({ ...material, organisation_id: '' as never })
  return read.outcome === 'read' ? read.facts : undefined
}

test('there are fourteen services, each with a person of its own', () => {
  expect(new Set(formServices.map(({ person }) => person['email'])).size).toBe(14)
})

test.each(formServices)('a lead of $service is about its person, with its facts', ({ data, person, facts }) => {
  const known = Object.fromEntries(Object.entries(person).filter(([, value]) => value !== null))

  expect(detailsOf(data)).toEqual(known)
  expect(factsOf(data)).toMatchObject(facts)
})

describe('the name of a wrapper', () => {
  test('is not the person’s: that stands beside the email address or the phone', () => {
    const form = { name: 'Sample Form', data: { name: 'Some One', email: 'someone@example.com' } }

    expect(detailsOf(form)).toMatchObject({ first_name: 'Some', last_name: 'One' })
    expect(factsOf(form)).toMatchObject({ name: 'Sample Form' })
    expect(detailsOf({ title: 'Quote', data: { phone: '0113 496 0100' } })).toEqual({ phone_number: '+441134960100' })
  })
  test('is a fact where the person says no name', () => {
    const form = { name: 'Sample Form', title: 'Ask us', data: { email: 'someone@example.com' } }

    expect(detailsOf(form)).toEqual({ email: 'someone@example.com' })
    expect(factsOf(form)).toMatchObject({ name: 'Sample Form', title: 'Ask us' })
  })
  test('is the person’s where the wrapper has the email address itself, or nobody has one', () => {
    expect(detailsOf({ name: 'Ada Finch', email: 'a@example.com', form: { name: 'Sample' } })).toMatchObject({
      last_name: 'Finch',
    })
    expect(detailsOf({ name: 'Ada Finch', data: { dob: '1988-03-14' } })).toMatchObject({ last_name: 'Finch' })
    expect(detailsOf({ person: { name: 'Ada Finch' }, contact_details: { email: 'a@example.com' } })).toMatchObject({
      last_name: 'Finch',
    })
    expect(detailsOf({ email: 'a@example.com', person: { name: 'Ada Finch' } })).toMatchObject({ last_name: 'Finch' })
  })
  test('beside the form is not the person’s either', () => {
    expect(detailsOf({ form: { name: 'New Form' }, fields: { email: 'a@example.com' } })).toEqual({
      email: 'a@example.com',
    })
  })
  test('is the person’s where the campaign says so', () => {
    const { details } = sentFields(
      { ...nothing, data: { name: 'Ada Finch', data: { email: 'a@example.com' } } },
      { name: 'name' },
    )
    expect(details.get('name')).toEqual({ value: 'Ada Finch', sender: 'name' })
  })
})

describe('a list of named values is read as fields', () => {
  test.each([
    [
      'name and value',
      [
        { name: 'firstname', value: 'Cat' },
        { name: 'email', value: 'cat@example.com' },
      ],
    ],
    [
      'label and value',
      [
        { label: 'First name', value: 'Cat' },
        { label: 'Your email', value: 'cat@example.com' },
      ],
    ],
    [
      'key and values',
      [
        { key: 'first_name', values: ['Cat'] },
        { key: 'email', values: ['cat@example.com', 'x@y.z'] },
      ],
    ],
    [
      'id and value',
      [
        { id: 'first_name', value: 'Cat' },
        { id: 'email', value: 'cat@example.com' },
      ],
    ],
    [
      'question and answer',
      [
        { question: 'What is your first name?', answer: 'Cat' },
        { question: 'Email', answer: 'cat@example.com' },
      ],
    ],
    [
      'a type that says what it is',
      [
        { id: 'first_name', value: 'Cat' },
        { label: 'How to reach you', type: 'email', value: 'cat@example.com' },
      ],
    ],
  ])('of %s', (_what, list) => {
    expect(detailsOf({ name: 'Sample Form', submission: { form_fields: list } })).toEqual({
      first_name: 'Cat',
      email: 'cat@example.com',
    })
  })
  test('under the name of each, and what else is said of it is kept', () => {
    expect(factsOf({ fields: [{ name: 'pet', value: 'cat', age: 4 }] })).toEqual({ pet: 'cat', pet_age: 4 })
  })
  test('a campaign finds its fields by any of their names, and a trap by its own', () => {
    const data = { fields: [{ key: 'question_9aZ', label: 'Which month?', value: 'May' }] }

    for (const theirs of ['question_9aZ', 'Which month?'])
      expect(sentFields({ ...nothing, data }, { month: theirs }).others.get('month')?.value).toBe('May')
    expect(fillsTrap({ ...nothing, data }, ['which_month'])).toBe(true)
  })
  test('that are about something else are not the person’s', () => {
    const product = {
      product: {
        fields: [
          { name: 'name', value: 'Life' },
          { name: 'email', value: 'a@b.example' },
        ],
      },
    }

    expect(detailsOf(product)).toEqual({})
    expect(factsOf(product)).toEqual({ product_fields_name: 'Life', product_fields_email: 'a@b.example' })
  })
  test('a field for somebody else’s email address is not theirs', () => {
    const fields = [
      { label: 'Name', type: 'text', value: 'Ada Finch' },
      { label: "Your partner's email", type: 'email', value: 'partner@example.com' },
    ]
    expect(detailsOf({ fields })).toEqual({ first_name: 'Ada', last_name: 'Finch' })
  })
  test('things that only have names are no fields', () => {
    expect(factsOf({ pets: [{ name: 'Rex', type: 'dog' }] })).toEqual({ pets_name: 'Rex', pets_type: 'dog' })
    expect(factsOf({ cover: { value: 100, currency: 'GBP' } })).toEqual({ cover_value: 100, cover_currency: 'GBP' })
  })
  test('a second telephone number is a fact', () => {
    const both = { phone: '0113 496 0100', mobile: '07700 900123', email: 'a@example.com', Email: 'a@example.com' }

    expect(detailsOf(both)).toEqual({ phone_number: '+441134960100', email: 'a@example.com' })
    expect(factsOf(both)).toEqual({ mobile: '07700 900123' })
  })
})
