import { expect, test } from 'vitest'
import { withDerived, type Answers } from '#domain/rating/answers.ts'
import { standardUnderwriting, underwrite } from '#domain/rating/underwriting.ts'
import { UnderwritingRule, UnderwritingRules } from '#domain/rating/events.ts'

const judge = (answers: Answers, coverType: 'life' | 'critical_illness' = 'life', rules = standardUnderwriting) =>
  underwrite(rules, withDerived(rules.derived, answers, 34), coverType)

const bmi = (weight_kg: number) => judge({ height_cm: 180, weight_kg })

test('nothing answered is nothing found', () => {
  expect(judge({})).toEqual({ ending: undefined, loadings: [], extraPercent: 0, extraPerMillePence: 0 })
})

// At 180 cm a body mass index of 30 is 97.2 kg, of 35 113.4 kg, of 40 129.6 kg.
test.each([
  [97.1, 0],
  [97.2, 25],
  [113.3, 25],
  [113.4, 75],
  [129.5, 75],
])('180 cm and %d kg add %i %', (weight, percent) => {
  expect(bmi(weight)).toMatchObject({ ending: undefined, extraPercent: percent })
})

test('a body mass index of 40 is for an underwriter', () => {
  expect(bmi(129.6).ending).toEqual({
    decision: 'refer',
    reason: { code: 'bmi_40', message: 'Our underwriters need to look at your height and weight first.' },
  })
})

test('extra percentages add up, and each is told', () => {
  const { loadings, extraPercent } = judge({ height_cm: 180, weight_kg: 100, blood_pressure: 'controlled' })
  expect(extraPercent).toBe(50)
  expect(loadings).toEqual([
    { code: 'bmi_30', label: 'Body mass index 30 to 34.9', basis: 'percent', value: '25' },
    { code: 'blood_pressure', label: 'Controlled high blood pressure', basis: 'percent', value: '25' },
  ])
})

test('a hazardous pursuit adds pounds for each thousand of cover', () => {
  expect(judge({ hazardous_pursuits: true })).toMatchObject({
    extraPerMillePence: 150,
    loadings: [{ basis: 'per_mille', value: '1.50' }],
  })
})

test('family history matters to critical illness only', () => {
  expect(judge({ family_history: true }, 'critical_illness').extraPercent).toBe(50)
  expect(judge({ family_history: true }, 'life').extraPercent).toBe(0)
})

test('30 units of alcohol are accepted, 31 are for an underwriter', () => {
  expect(judge({ alcohol_units: 30 }).ending).toBeUndefined()
  expect(judge({ alcohol_units: 31 }).ending).toMatchObject({ decision: 'refer', reason: { code: 'alcohol' } })
})

const adding = (extra_percent: number): UnderwritingRules => ({
  ...standardUnderwriting,
  rules: [{ code: 'x', label: 'X', when: { key: 'x', equals: true }, extra_percent }],
})

test.each([
  [200, undefined],
  [201, 'refer'],
  [350, 'refer'],
  [351, 'decline'],
])('%i % more leads to %s', (percent, decision) => {
  expect(judge({ x: true }, 'life', adding(percent)).ending?.decision).toBe(decision)
})

const ruling = (...decisions: ('refer' | 'postpone' | 'decline')[]): UnderwritingRules => ({
  ...standardUnderwriting,
  rules: decisions.map((decision) => ({ code: decision, label: decision, when: { key: 'x', equals: true }, decision })),
})

test('of several decisions, decline comes before postpone and postpone before refer', () => {
  expect(judge({ x: true }, 'life', ruling('refer', 'postpone', 'decline')).ending?.decision).toBe('decline')
  expect(judge({ x: true }, 'life', ruling('refer', 'postpone')).ending?.decision).toBe('postpone')
  expect(judge({ x: false }, 'life', ruling('decline')).ending).toBeUndefined()
})

test('a list of conditions must hold altogether', () => {
  const when = [
    { key: 'age', min: 30 },
    { key: 'habits', equals: ['cigars', 'pipe'] },
  ]
  const rules: UnderwritingRules = {
    ...standardUnderwriting,
    derived: [{ key: 'age', kind: 'age' }],
    rules: [{ code: 'x', label: 'X', when, extra_percent: 10 }],
  }
  expect(judge({ habits: ['pipe', 'tea'] }, 'life', rules).extraPercent).toBe(10)
  expect(judge({ habits: 'pipe' }, 'life', rules).extraPercent).toBe(10)
  expect(judge({ habits: ['tea'] }, 'life', rules).extraPercent).toBe(0)
  expect(underwrite(rules, withDerived(rules.derived, { habits: 'pipe' }, 29), 'life').extraPercent).toBe(0)
})

test('an answer can be translated before it is judged', () => {
  const derived = [
    { key: 'class', kind: 'mapped', from: 'occupation', values: { Clerk: 1, Diver: 4 }, otherwise: 3 },
  ] as const
  const classOf = (occupation?: unknown) => withDerived(derived, { occupation }, 34)['class']
  expect([classOf('Clerk'), classOf('Diver'), classOf('Baker'), classOf('constructor'), classOf()]).toEqual([
    1,
    4,
    3,
    3,
    undefined,
  ])
})

const rule = { code: 'x', label: 'X', when: { key: 'x', equals: true } }

test.each([
  ['no effect', rule],
  ['two effects', { ...rule, extra_percent: 10, decision: 'refer' }],
  ['a misspelt condition', { ...rule, when: { key: 'x', equal: true }, extra_percent: 10 }],
  ['a condition without limits', { ...rule, when: { key: 'x' }, extra_percent: 10 }],
  ['an unknown key', { ...rule, extra_percents: 10, decision: 'refer' }],
  ['pounds as a number', { ...rule, extra_per_mille: 1.5 }],
])('a rule with %s is refused', (_, refused) => {
  expect(UnderwritingRule.safeParse(refused).success).toBe(false)
})

test('the standard rules are what a release may hold', () => {
  expect(UnderwritingRules.parse(JSON.parse(JSON.stringify(standardUnderwriting)))).toEqual(standardUnderwriting)
})
