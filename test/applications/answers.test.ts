import { describe, expect, test } from 'vitest'
import { checkAnswer } from '#domain/applications/answer-check.ts'
import { changeAnswers, isAsked, settleAnswers } from '#domain/applications/answers.ts'
import { consentFaults } from '#domain/applications/consent.ts'
import { changeCover } from '#domain/applications/cover.ts'
import { derive } from '#domain/applications/derive.ts'
import type { ReleaseQuestion } from '#domain/catalogue/events.ts'
import { fullJourney, illnessCover, lifeCover, standardPresentation } from './release.ts'

const today = '2026-01-15'
const question = (key: string): ReleaseQuestion => {
  const found = fullJourney.questions.find((each) => each.key === key)
  if (!found) throw new Error(`There is no question ${key}.`)
  return found
}
const checked = (key: string, validation: ReleaseQuestion['validation'], sent: unknown) =>
  checkAnswer({ ...question(key), validation }, sent)

describe('an answer', () => {
  test.each([
    ['weight_kg', { min: 30.5, max: 300 }, 30.5],
    ['weight_kg', { min: 30.5, max: 300 }, 300],
    ['born_on', { min: '1900-01-01', max: '2025-12-31' }, '1900-01-01'],
    ['born_on', { min: '1900-01-01', max: '2025-12-31' }, '2025-12-31'],
    ['conditions', { min_length: 2 }, ['asthma', 'gout']],
    ['conditions', { max_length: 2 }, ['asthma', 'gout']],
    ['conditions', {}, []],
    ['reference', { min_length: 3 }, 'ABC'],
    ['reference', { max_length: 3 }, 'ABC'],
    ['reference', {}, 'A'.repeat(1000)],
    ['reference', { max_length: 2000 }, 'A'.repeat(2000)],
    ['reference', {}, 'one\n\ttwo'],
  ] as const)('to %s within %j may be at the limit: %j', (key, validation, sent) => {
    expect(checked(key, validation, sent)).toEqual({ answer: sent })
  })

  test.each([
    ['conditions', { min_length: 2 }, ['asthma'], 'must select at least 2'],
    ['reference', {}, 'A'.repeat(1001), 'must not be longer than 1000 characters'],
    ['reference', { max_length: 2000 }, 'A'.repeat(2001), 'must not be longer than 2000 characters'],
  ] as const)('to %s within %j may not be beyond it: %j', (key, validation, sent, reason) => {
    expect(checked(key, validation, sent)).toEqual({ reason })
  })

  test('with a pattern is not longer than a pattern is tried on, whatever the release allows', () => {
    const validation = { pattern: '^z|a*b', max_length: 200_000 }

    expect(checked('reference', validation, 'a'.repeat(999) + 'b')).toEqual({ answer: 'a'.repeat(999) + 'b' })
    expect(checked('reference', validation, 'a'.repeat(1000) + 'b')).toEqual({
      reason: 'must not be longer than 1000 characters',
    })
  })
})

/** Listed in another order than they are asked: what is derived from a derived answer comes first. */
const questions: readonly ReleaseQuestion[] = [
  { ...question('earnings'), key: 'total', position: 9, derivation: { kind: 'sum', keys: ['part', 'pay'] } },
  { ...question('earnings'), key: 'part', position: 8, derivation: { kind: 'sum', keys: ['pay'] } },
  { ...question('salary'), key: 'pay', position: 1 },
]

describe('derived answers', () => {
  test('follow from each other in the order of the questions', () => {
    expect(changeAnswers(questions, {}, { pay: 2 }, today).change).toEqual({
      saved: { pay: 2, part: 2, total: 4 },
      removed: [],
    })
    expect(settleAnswers(questions, { pay: 2, part: 9, total: 9 }, today)).toEqual({
      saved: { part: 2, total: 4 },
      removed: [],
    })
  })

  test('are not held without those that they follow from', () => {
    expect(settleAnswers(questions, { part: 9 }, today)).toEqual({ saved: {}, removed: ['part'] })
  })

  const held = (answers: Record<string, number | boolean | string>) => new Map(Object.entries(answers))
  test.each([
    ['a sum', { kind: 'sum', keys: ['a', 'b'] }, { a: 0.1, b: 0.2 }, 0.3],
    ['a sum without a part', { kind: 'sum', keys: ['a', 'b'] }, { a: 1 }, undefined],
    ['a sum of what is no number', { kind: 'sum', keys: ['a', 'b'] }, { a: 1, b: '2' }, undefined],
    ['whether any is so', { kind: 'any', keys: ['a', 'b'] }, { a: false, b: true }, true],
    ['whether any is so, and none is', { kind: 'any', keys: ['a', 'b'] }, { a: false, b: false }, false],
    ['whether any is so, without one of them', { kind: 'any', keys: ['a', 'b'] }, { a: true }, undefined],
    ['whether any is so, of what is no yes or no', { kind: 'any', keys: ['a'] }, { a: 'yes' }, undefined],
    ['a body mass index', { kind: 'bmi', height_cm: 'a', weight_kg: 'b' }, { a: 180, b: 81 }, 25],
    ['a body mass index without a height', { kind: 'bmi', height_cm: 'a', weight_kg: 'b' }, { b: 81 }, undefined],
    ['a body mass index without a weight', { kind: 'bmi', height_cm: 'a', weight_kg: 'b' }, { a: 180 }, undefined],
    ['a body mass index of no height', { kind: 'bmi', height_cm: 'a', weight_kg: 'b' }, { a: 0, b: 81 }, undefined],
    ['an age', { kind: 'age', key: 'a' }, { a: '1990-01-16' }, 35],
    ['an age without a date', { kind: 'age', key: 'a' }, {}, undefined],
  ] as const)('may be %s', (_, derivation, answers, expected) => {
    expect(
      derive(
        { ...derivation, ...('keys' in derivation && { keys: [...derivation.keys] }) } as never,
        held(answers),
        today,
      ),
    ).toBe(expected)
  })
})

test('an answer to a question that the journey does not have any more is dropped', () => {
  expect(changeAnswers(questions, { gone: 1, pay: 2, part: 2, total: 4 }, { pay: 3 }, today).change.removed).toEqual([
    'gone',
  ])
})

test('a question about a selection is asked when one of several values was chosen', () => {
  expect(isAsked(question('inhaler'), { conditions: ['gout', 'asthma'] })).toBe(true)
  expect(isAsked(question('inhaler'), { conditions: ['gout'] })).toBe(false)
  expect(isAsked(question('inhaler'), {})).toBe(false)
})

describe('the limits of a product are those of all its covers', () => {
  const none = { cover_amount_pence: null, term_years: null, components: [] }
  const faultsOf = (sent: { cover_amount_pence?: number; term_years?: number }, covers = [lifeCover, illnessCover]) =>
    changeCover(covers, none, sent).fields
  const smaller = { ...illnessCover, sum_assured_min_pence: 500_000, term_years_min: 3 }

  test('from the least of any to the greatest of any', () => {
    expect(faultsOf({ cover_amount_pence: 500_000, term_years: 3 }, [lifeCover, smaller])).toEqual({})
    expect(faultsOf({ cover_amount_pence: 499_999, term_years: 2 }, [lifeCover, smaller])).toEqual({
      cover_amount_pence: 'must be from 500000 to 100000000',
      term_years: 'must be from 3 to 40',
    })
  })

  test('and the one amount of a product is named by itself', () => {
    const tier = { ...lifeCover, sum_assured_min_pence: 1_000_000, sum_assured_max_pence: 1_000_000 }
    expect(faultsOf({ cover_amount_pence: 999_999 }, [tier])).toEqual({ cover_amount_pence: 'must be 1000000' })
    expect(faultsOf({ cover_amount_pence: 1_000_000 }, [tier])).toEqual({})
  })

  test('and a cover without a shortest or a longest term has none', () => {
    const unwanted = { term_years: 'is not wanted here: there is no fixed term' }

    expect(faultsOf({ term_years: 5 }, [{ ...lifeCover, term_years_min: null }])).toEqual(unwanted)
    expect(faultsOf({ term_years: 5 }, [{ ...lifeCover, term_years_max: null }])).toEqual(unwanted)
  })
})

describe('consent', () => {
  const unknown = { 'consent_answers.no_email': 'is not an opt-out of this presentation' }
  const stageOf = (changes: object) => ({
    ...standardPresentation,
    stages: standardPresentation.stages.map((stage) => ({ ...stage, ...changes })),
  })

  test('is refused by the boxes of the stage that asks for personal details', () => {
    expect(consentFaults(standardPresentation, { no_email: false }, undefined)).toEqual({})
    expect(consentFaults(stageOf({ stage_type: 'partner_details' }), { no_email: false }, undefined)).toEqual(unknown)
    expect(consentFaults(stageOf({ config: {} }), { no_email: false }, undefined)).toEqual(unknown)
  })

  test('has no boxes without a presentation', () => {
    expect(consentFaults(null, { no_email: false }, undefined)).toEqual(unknown)
  })

  test('to marketing is given by channel', () => {
    expect(consentFaults(null, undefined, { email: true, sms: false })).toEqual({})
    expect(consentFaults(null, undefined, { fax: true })).toEqual({
      'marketing_answers.fax': 'must be one of email, sms, whatsapp, phone, post',
    })
  })
})
