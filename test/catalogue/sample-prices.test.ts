import { expect, test } from 'vitest'
import { compareSamples } from '#domain/catalogue/sample-prices.ts'
import { draft } from './builders.ts'

test('of a product with thousands of questions that choose a factor, a hundred samples are priced', () => {
  const questions = Array.from({ length: 3_000 }, (_, place) => ({
    key: `answer_${place}`,
    label: 'A question',
    question_type: 'boolean' as const,
  }))
  const by_answer = questions.map(({ key }) => ({ key, cover_types: ['life'], values: { true: 1_001 } }))
  const smoker = { key: 'smoker', label: 'Do you smoke?', question_type: 'boolean' as const }
  const before = draft({
    factors: { by_answer },
    journeys: [{ slug: 'standard', name: 'Standard', questions: [smoker, ...questions] }],
  })
  const after = { ...before, policy_fee_pence: 1 }
  const rate_tables = new Map()

  const { samples } = compareSamples({ draft: before, rate_tables }, { draft: after, rate_tables }, '2026-01-01')

  expect(samples).toBeLessThanOrEqual(100)
})
