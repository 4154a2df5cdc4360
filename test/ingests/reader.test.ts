import { describe, expect, test } from 'vitest'
import { sentFields } from '#domain/ingests/fields.ts'
import type { FieldType } from '#domain/pipeline/events.ts'
import { readDeterministically } from '../../command-api/ingests/reader.ts'
import { content, received } from './builders.ts'

const { organisation_id } = received

describe('the deterministic reader', () => {
  const field = (key: string, type: FieldType, options: string[] = []) => ({ key, label: key, type, options })
  const read = (data: Record<string, unknown>, text: string | null = null, currency = 'GBP') =>
    readDeterministically({
      organisation_id,
      content: { data, text },
      fields: sentFields({ ...content, data }),
      wanted: [
        field('budget', 'money'),
        field('children', 'number'),
        field('moves_on', 'date'),
        field('smoker', 'boolean'),
        field('product', 'choice', ['Life', 'Critical illness']),
        field('pets', 'choices', ['Cat', 'Dog, large', 'Horse']),
      ],
      currency,
      today: '2026-01-15',
      time_zone: 'Europe/London',
    })

  test('reads values as the types that the organisation has set up', () => {
    expect(
      read({
        Budget: '£1,250.50',
        children: '2',
        'Moves on': '3 March 2026',
        smoker: 'No',
        product: 'critical-illness',
      }),
    ).toMatchObject({
      facts: { budget: 125050, children: 2, moves_on: '2026-03-03', smoker: false, product: 'Critical illness' },
    })
  })

  test.each<[title: string, data: Record<string, unknown>, facts: object]>([
    ['sent as a list', { Pets: ['dog, large', 'CAT', 'parrot'] }, { pets: ['Cat', 'Dog, large'] }],
    [
      'after an empty choice, as forms send it',
      { pets: ['', ' ', 'dog, large', 'cat'] },
      { pets: ['Cat', 'Dog, large'] },
    ],
    ['after null, and a number that is none', { pets: [null, Infinity, 'cat', 'horse'] }, { pets: ['Cat', 'Horse'] }],
    ['sent as a text', { pets: 'horse, cat' }, { pets: ['Cat', 'Horse'] }],
    ['beside another of that name', { pets: ['Cat'], 'pets.2': 'Horse' }, { pets: ['Cat'], pets_2: 'Horse' }],
    ['and any other list is its items', { list: ['a', 'b'] }, { list: 'a', list_2: 'b' }],
  ])('what holds several is one fact, a list for multi-value fields: %s', (_title, data, facts) => {
    expect(read(data)).toMatchObject({ facts })
  })

  test.each([
    ['GBP', '£1,250.50', 125_050],
    ['JPY', '¥1,250', 1_250],
    ['KWD', '1,250.505', 1_250_505],
  ])('counts an amount in the smallest unit of the currency of the organisation: %s %s', (currency, budget, amount) => {
    expect(read({ budget }, null, currency)).toMatchObject({ facts: { budget: amount } })
  })

  test('leaves out what is no value of the type', () => {
    expect(read({ children: 'some', smoker: 'perhaps', product: 'boat' })).toMatchObject({ facts: {} })
  })

  test('reads 200 facts, and of more the first 200', () => {
    const readMany = (count: number) => {
      const found = read(Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, index])))
      return found.outcome === 'read' && [Object.keys(found.facts).length, found.truncated]
    }

    expect([readMany(200), readMany(201)]).toEqual([
      [200, false],
      [200, true],
    ])
  })

  test('reads lines of a form in free text', () => {
    expect(read({}, 'Cover wanted: life\nPostcode: ls1 4ap\nsee https://example.com')).toMatchObject({
      facts: { cover_wanted: 'life' },
      details: { postal_code: 'LS1 4AP' },
      truncated: false,
    })
  })

  test('says when a text was too long to be read in full', () => {
    expect(read({}, 'a'.repeat(20_001))).toMatchObject({ truncated: true })
  })
})
