import { describe, expect, test } from 'vitest'
import type { Pipeline, PipelineEvent, Stage } from '#domain/pipeline/events.ts'
import { pipeline } from '#domain/pipeline/pipeline.ts'
import { firstStageOf, pipelinesOf, seededPipeline, stageOf } from '#domain/pipeline/record.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(pipeline)
const declare = (declared: Partial<Pipeline>) => ({ type: 'DeclarePipeline', organisation_id, declared }) as const
const declared = (whole: Pipeline): PipelineEvent => ({ type: 'PipelineDeclared', organisation_id, pipeline: whole })

const stages: Stage[] = [
  { key: 'first-call', label: 'First call', kind: 'open', probability: null },
  { key: 'sold', label: 'Sold', kind: 'won', probability: 100 },
]
const own: Pipeline = { ...seededPipeline, stages, dormant_after_days: null }

describe('how an organisation works its leads', () => {
  scenario('is as it is in the guide for what was never declared', {
    given: [],
    when: declare({ first_contact_minutes: 60, dormant_after_days: 30, grades: { a: 80, b: 60, c: 40, d: 20 } }),
    then: [],
  })
  scenario('is what it declares; what is left out is as it was at the beginning', {
    given: [],
    when: declare({ stages, dormant_after_days: null }),
    then: [declared(own)],
  })
  scenario('is what it declares; what is left out stays as it was declared before', {
    given: [declared(own)],
    when: declare({ first_contact_minutes: 15 }),
    then: [declared({ ...own, first_contact_minutes: 15 })],
  })
  scenario('does not change when it is declared as it is', {
    given: [declared(own)],
    when: declare({ stages, dormant_after_days: null }),
    then: [],
  })
  scenario('can be declared as it was at the beginning', {
    given: [declared(own)],
    when: declare({ stages: seededPipeline.stages, dormant_after_days: 30 }),
    then: [declared(seededPipeline)],
  })

  test('is that of the organisation, or that of one that has declared nothing', () => {
    const known = pipelinesOf(new Map([[organisation_id, own]]))

    expect(known(organisation_id)).toBe(own)
    expect(known('6f6c9e0a-3c1b-4d5e-8f70-000000000000' as typeof organisation_id)).toBe(seededPipeline)
  })

  test('has the stages, scores, grades and deadlines of the set-up guide while nothing is declared', () => {
    expect(seededPipeline).toEqual({
      stages: [
        { key: 'new', label: 'New', kind: 'open', probability: 10 },
        { key: 'contacted', label: 'Contacted', kind: 'open', probability: 25 },
        { key: 'quoted', label: 'Quoted', kind: 'open', probability: 50 },
        { key: 'won', label: 'Won', kind: 'won', probability: 100 },
        { key: 'lost', label: 'Lost', kind: 'lost', probability: 0 },
      ],
      team_members: [],
      custom_fields: [],
      score_rules: [
        ['reply', 20],
        ['booking', 30],
        ['application_started', 20],
        ['quote_issued', 30],
      ].map(([activity, points]) => ({ points, activity, fact: null, equals: null, source: null })),
      grades: { a: 80, b: 60, c: 40, d: 20 },
      first_contact_minutes: 60,
      dormant_after_days: 30,
      reading: { calls_a_day: 1_000, tokens_a_day: null },
    })
  })
})

describe('a stage', () => {
  test('is found by its key', () => {
    expect(stageOf({ stages }, 'sold')).toBe(stages[1])
    expect(stageOf({ stages }, 'unsold')).toBeUndefined()
  })
  test('of a kind is the first one in the order of work', () => {
    expect(firstStageOf(seededPipeline, 'open')?.key).toBe('new')
    expect(firstStageOf({ stages }, 'won')?.key).toBe('sold')
    expect(firstStageOf({ stages }, 'lost')).toBeUndefined()
  })
})
