import { describe, expect, test } from 'vitest'
import { answersOfPartner, changePartnerAnswers } from '#domain/applications/joint.ts'
import { isJoint } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { lifeKeysOf } from '#domain/catalogue/record.ts'
import { fullJourney, jointJourney, jointRelease, lifeCover, planCover } from './release.ts'

const chosenBy = (rate_table: string, changes: Partial<Release> = {}) =>
  lifeKeysOf({ ...jointRelease, covers: [{ ...lifeCover, rate_table }], ...changes }, jointJourney)

describe('a question is asked of each person', () => {
  test('where it is about a life', () => {
    const keys = lifeKeysOf(jointRelease, jointJourney)
    expect([...keys]).toEqual(expect.arrayContaining(['smoker', 'cigarettes', 'height_cm', 'bmi', 'age', 'drinks']))
    expect(keys.has('cover_for')).toBe(false)
  })

  test('and once where it chooses what is bought, and so is what is derived from it', () => {
    const other = {
      ...jointRelease,
      covers: [
        { ...lifeCover, rate_table: 'life.{work}:{smoker}' },
        { ...planCover, members_factor: 'salary', opt_in_factor: 'beer' },
      ],
    }
    const keys = lifeKeysOf(other, jointJourney)
    for (const key of ['work', 'salary', 'earnings', 'beer', 'drinks'])
      expect([key, keys.has(key)]).toEqual([key, false])
    for (const key of ['smoker', 'bonus', 'wine']) expect([key, keys.has(key)]).toEqual([key, true])
  })

  test('also where it chooses the table, when it tells a smoker, loads the price or multiplies it', () => {
    const { underwriting, factors } = jointRelease
    const loads = { code: 'x', label: 'X', extra_percent: 5 }
    const asked = { key: 'work', equals: 'miner' }

    expect(chosenBy('life.{work}').has('work')).toBe(false)
    for (const when of [asked, [{ key: 'wine', equals: true }, asked]])
      expect(
        chosenBy('life.{work}', { underwriting: { ...underwriting, rules: [{ ...loads, when }] } }).has('work'),
      ).toBe(true)
    const by_answer = [{ key: 'work', cover_types: ['life' as const], values: { miner: 2000 } }]
    expect(chosenBy('life.{work}', { factors: { ...factors, by_answer } }).has('work')).toBe(true)
    expect(chosenBy('life.{smoker}').has('smoker')).toBe(true)
    expect(chosenBy('life.{smoker}', { smoker: null }).has('smoker')).toBe(false)
  })

  test('and what is derived from a date, a height or a weight is asked as those are', () => {
    expect(chosenBy('life.{born_on}').has('age')).toBe(false)
    expect(chosenBy('life.{height_cm}').has('bmi')).toBe(false)
    expect(chosenBy('life.{weight_kg}').has('bmi')).toBe(false)
    expect(chosenBy('life.{cigarettes}').has('bmi')).toBe(true)
  })

  test('and what is derived from a question that there is not is asked of each', () => {
    const questions = fullJourney.questions.filter(({ key }) => key !== 'born_on')

    expect(lifeKeysOf(jointRelease, { questions }).has('age')).toBe(true)
  })

  test('and the answer that would make it joint counts only where it does', () => {
    const never = { ...jointRelease, joint: { ...jointRelease.joint, mode: 'never' as const } }

    expect(lifeKeysOf(never, jointJourney).has('cover_for')).toBe(true)
  })
})

describe('the answers of the second person', () => {
  const keys = lifeKeysOf({ ...jointRelease, covers: [{ ...planCover, members_factor: 'salary' }] }, jointJourney)

  test('are their own, and those that are asked once', () => {
    const both = { first: { smoker: true, salary: 1, wine: true }, partner: { wine: false } }

    expect(answersOfPartner(keys, both)).toEqual({ salary: 1, wine: false })
  })

  test('hold nothing of what is asked once, even where that is out of date', () => {
    const both = { first: { salary: 1, bonus: 2, gone: 3 }, partner: {} }

    expect(keys.has('earnings')).toBe(false)
    expect(changePartnerAnswers(jointJourney.questions, keys, both, { wine: true }, '2026-06-01').change).toEqual({
      saved: { wine: true },
      removed: [],
    })
  })
})

test.each([
  ['always', {}, true],
  ['never', { cover_for: 'joint' }, false],
  ['by_answer', { cover_for: 'joint' }, true],
  ['by_answer', { cover_for: 'family' }, true],
  ['by_answer', { cover_for: 'single' }, false],
  ['by_answer', {}, false],
] as const)('cover that is joint %s is for two with %j: %s', (mode, answers, expected) => {
  expect(isJoint({ mode, factor_key: 'cover_for', joint_values: ['joint', 'family'] }, answers)).toBe(expected)
})
