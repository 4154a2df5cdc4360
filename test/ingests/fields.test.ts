import { describe, expect, test } from 'vitest'
import { fillsTrap, sentFields } from '#domain/ingests/fields.ts'
import { content } from './builders.ts'

describe('what was sent', () => {
  test('is known by the usual names of its fields, at any depth of a person, and by those of the campaign', () => {
    const { details, others } = sentFields(
      {
        ...content,
        identity: null,
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

  test('with more values than are read is truncated', () => {
    const data = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`field_${index}`, index]))
    expect(sentFields({ ...content, data }).truncated).toBe(true)
  })

  test('never becomes a property that every object has', () => {
    const data = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "fine": 4}') as Record<string, unknown>
    expect([...sentFields({ ...content, data }).others.keys()]).toEqual(['proto', 'to_string', 'fine'])
  })

  test('fills a trap only with something', () => {
    expect(fillsTrap({ ...content, data: { 'Web-Site': 'x' } }, ['website'])).toBe(true)
    expect(fillsTrap({ ...content, data: { website: '' } }, ['website'])).toBe(false)
  })
})
