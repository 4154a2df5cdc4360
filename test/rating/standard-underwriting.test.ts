import { describe, expect, test } from 'vitest'
import type { Answers } from '#domain/rating/answers.ts'
import { standardUnderwriting, underwrite } from '#domain/rating/underwriting.ts'

const judged = (answers: Answers, cover: 'life' | 'critical_illness' = 'life') =>
  underwrite(standardUnderwriting, answers, cover)
const standard = { ending: undefined, loadings: [], extraPercent: 0, extraPerMillePence: 0 }
const percent = (code: string, label: string, value: number) => ({
  ...standard,
  loadings: [{ code, label, basis: 'percent', value: String(value) }],
  extraPercent: value,
})
const referral = (code: string, message: string) => ({
  ...standard,
  ending: { decision: 'refer', reason: { code, message } },
})

const from30 = percent('bmi_30', 'Body mass index 30 to 34.9', 25)
const from35 = percent('bmi_35', 'Body mass index 35 to 39.9', 75)
const from40 = referral('bmi_40', 'Our underwriters need to look at your height and weight first.')

describe('the standard questionnaire', () => {
  for (const [name, answers, expected] of [
    ['accepts a body mass index of 29.9', { bmi: 29.9 }, standard],
    ['loads one of 30 by 25 %', { bmi: 30 }, from30],
    ['loads one of 34.9 by 25 %', { bmi: 34.9 }, from30],
    ['loads one of 35 by 75 %', { bmi: 35 }, from35],
    ['loads one of 39.9 by 75 %', { bmi: 39.9 }, from35],
    ['refers one of 40', { bmi: 40 }, from40],
    [
      'loads controlled high blood pressure by 25 %',
      { blood_pressure: 'controlled' },
      percent('blood_pressure', 'Controlled high blood pressure', 25),
    ],
    ['accepts normal blood pressure', { blood_pressure: 'normal' }, standard],
    ['accepts 30 units of alcohol a week', { alcohol_units: 30 }, standard],
    [
      'refers more than 30 units',
      { alcohol_units: 31 },
      referral('alcohol', 'Our underwriters need to look at how much you drink first.'),
    ],
    [
      'charges £1.50 a year for each £1,000 for hazardous pursuits',
      { hazardous_pursuits: true },
      {
        ...standard,
        loadings: [{ code: 'hazardous_pursuits', label: 'Hazardous pursuits', basis: 'per_mille', value: '1.50' }],
        extraPerMillePence: 150,
      },
    ],
    ['accepts no hazardous pursuits', { hazardous_pursuits: false }, standard],
    ['looks at no family history for life cover', { family_history: true }, standard],
  ] as const)
    test(name, () => {
      expect(judged(answers)).toEqual(expected)
    })

  test('loads a family history by 50 % for critical illness cover', () => {
    const loaded = percent('family_history', 'Family history before the age of 60', 50)

    expect(judged({ family_history: true }, 'critical_illness')).toEqual(loaded)
    expect(judged({ family_history: false }, 'critical_illness')).toEqual(standard)
  })

  test('works out the body mass index from height and weight', () => {
    const bmi = { key: 'bmi', kind: 'bmi', height_cm: 'height_cm', weight_kg: 'weight_kg' }

    expect(standardUnderwriting.derived).toEqual([bmi])
  })
})

describe('extra percentages that add up', () => {
  const rules = { ...standardUnderwriting, rules: [] }
  const withExtra = (extra_percent: number) =>
    underwrite(
      { ...rules, rules: [{ code: 'extra', label: 'Extra', when: { key: 'ill', equals: true }, extra_percent }] },
      { ill: true },
      'life',
    ).ending

  const limit = (message: string) => ({ code: 'extra_premium_limit', message })
  const refer = { decision: 'refer', reason: limit('Our underwriters need to look at your answers first.') }
  const decline = { decision: 'decline', reason: limit('We cannot offer this cover at a price we think fair.') }

  for (const [extra, ending] of [
    [200, undefined],
    [201, refer],
    [350, refer],
    [351, decline],
  ] as const)
    test(`to ${extra} lead to ${ending?.decision ?? 'acceptance'}`, () => {
      expect(withExtra(extra)).toEqual(ending)
    })
})
