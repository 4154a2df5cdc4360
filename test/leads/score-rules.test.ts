import { describe, expect, test } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import type { Facts, LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { scoreOf } from '#domain/leads/score.ts'
import type { ScoreRule } from '#domain/pipeline/events.ts'
import { scenariosOf } from '../scenario.ts'
import { about, act, created, pipeline, recorded } from './builders.ts'

const scenario = scenariosOf(lead)

const put = (facts: Facts): OneLeadCommand => ({ type: 'RecordFacts', facts, ingest_id: null, mode: 'store' })

describe('what score rules ask for', () => {
  const rule = { points: 10, fact: null, equals: null, activity: null, source: null }
  const of = (given: Partial<ScoreRule>, facts: Facts) =>
    scoreOf({ facts, activities: {}, source: 'fair' }, { score_rules: [{ ...rule, ...given }] })
  test.each<readonly [string, Partial<ScoreRule>, Facts, number]>([
    ['nothing', {}, {}, 10],
    ['a fact, which is known', { fact: 'pets' }, { pets: false }, 10],
    ['a fact, which is not known', { fact: 'pets' }, { car: true }, 0],
    ['a value of it, as text', { fact: 'pets', equals: '2' }, { pets: 2 }, 10],
    ['another value', { fact: 'pets', equals: '3' }, { pets: 2 }, 0],
    ['one of several values', { fact: 'pets', equals: 'cat' }, { pets: ['dog', 'cat'] }, 10],
    ['a value without saying of what', { equals: 'cat' }, { pets: 'dog' }, 10],
    ['its source', { source: 'fair' }, {}, 10],
    ['another source', { source: 'website' }, {}, 0],
    ['an activity that did not happen', { activity: 'reply' }, {}, 0],
    ['a fact and an activity that did not happen', { fact: 'pets', activity: 'reply' }, { pets: 1 }, 0],
  ])('%s', (_name, given, facts, points) => {
    expect(of(given, facts)).toBe(points)
  })
  const byFact = { ...rule, fact: 'pets' }
  const scores = (points: number) => ({ pipeline: { ...pipeline, score_rules: [{ ...byFact, points }] } })
  const scored = (score: number, grade: 'D' | 'E'): LeadEvent => ({
    type: 'LeadScored',
    ...about,
    score,
    from_grade: 'E',
    grade,
  })
  scenario('a score that changes within its grade is recorded', {
    given: [created],
    when: act(put({ pets: 1 }), scores(19)),
    then: [recorded({ pets: 1 }), scored(19, 'E')],
  })
  scenario('a score and a grade that stay as they are are not', {
    given: [created, recorded({ pets: 1 }), scored(19, 'E')],
    when: act(put({ pets: 2 }), scores(19)),
    then: [recorded({ pets: 2 })],
  })
  scenario('a grade changes with its bounds where the score does not', {
    given: [created, recorded({ pets: 1 }), scored(19, 'E')],
    when: act(put({ pets: 2 }), { pipeline: { ...scores(19).pipeline, grades: { a: 80, b: 60, c: 40, d: 19 } } }),
    then: [recorded({ pets: 2 }), scored(19, 'D')],
  })
  scenario('rules that were changed score nothing where nothing happens', {
    given: [created, recorded({ pets: 1 })],
    when: act(put({ pets: 1 }), scores(19)),
    then: [],
  })
})
