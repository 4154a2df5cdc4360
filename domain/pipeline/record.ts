import { recordsFold } from '../records-fold.ts'
import type { OrganisationId } from '../values.ts'
import { pipelineEvents, type Pipeline, type Stage } from './events.ts'

/** The pipeline of an organisation that declared none. */
export const seededPipeline: Pipeline = {
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
    { points: 20, fact: null, equals: null, activity: 'reply', source: null },
    { points: 30, fact: null, equals: null, activity: 'booking', source: null },
    { points: 20, fact: null, equals: null, activity: 'application_started', source: null },
    { points: 30, fact: null, equals: null, activity: 'quote_issued', source: null },
  ],
  grades: { a: 80, b: 60, c: 40, d: 20 },
  first_contact_minutes: 60,
  dormant_after_days: 30,
  reading: { calls_a_day: 1_000, tokens_a_day: null },
}

export const stageOf = ({ stages }: Pick<Pipeline, 'stages'>, key: string): Stage | undefined =>
  stages.find((stage) => stage.key === key)

export const firstStageOf = ({ stages }: Pick<Pipeline, 'stages'>, kind: Stage['kind']): Stage | undefined =>
  stages.find((stage) => stage.kind === kind)

/** The declared pipelines, for a process that keeps them in memory. */
export const pipelinesFold = recordsFold({
  name: 'pipelines',
  version: 2,
  categories: ['pipeline'],
  events: pipelineEvents,
  evolve: (_former: Pipeline | undefined, { pipeline }) => pipeline,
})

/** The pipeline of an organisation. */
export type Pipelines = (organisation_id: OrganisationId) => Pipeline

export const pipelinesOf =
  (declared: ReadonlyMap<string, Pipeline>): Pipelines =>
  (organisation_id) =>
    declared.get(organisation_id) ?? seededPipeline
