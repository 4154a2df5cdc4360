import { expect, test } from 'vitest'
import { seededModel } from '#domain/outcomes/record.ts'
import { readReport } from '../../command-api/outcomes/inputs.ts'

const sold = { type: 'sold', occurred_at: '2026-01-15T12:00:00.000Z', product: 'term', values: { premium: 100 } }
const reading = { model: seededModel, slugs: ['term'], currency_code: 'GBP', now: '2026-01-15T12:00:00.000Z' }

test('a value of the type whose measure is no longer declared is refused', () => {
  const measures = seededModel.measures.filter(({ key }) => key !== 'premium')

  expect(readReport(sold, { ...reading, model: { ...seededModel, measures } })).toEqual({
    fields: { 'values.premium': 'is no value of sold' },
  })
})
