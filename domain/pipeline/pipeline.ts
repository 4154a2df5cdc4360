import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { pipelineEvents, type Pipeline } from './events.ts'
import { seededPipeline } from './record.ts'

export type DeclarePipeline = {
  readonly type: 'DeclarePipeline'
  readonly organisation_id: OrganisationId
  /** A part that is left out stays. */
  readonly declared: Partial<Pipeline>
}

/** The pipeline of an organisation's leads, as it last declared it. */
export const pipeline: Decider<DeclarePipeline, typeof pipelineEvents, Pipeline | undefined> = {
  category: 'pipeline',
  events: pipelineEvents,
  initialState: undefined,
  decide: ({ organisation_id, declared }, before) => {
    const wanted = { ...(before ?? seededPipeline), ...declared }
    return isSameJson(wanted, before ?? seededPipeline)
      ? []
      : [{ type: 'PipelineDeclared', organisation_id, pipeline: wanted }]
  },
  evolve: (_before, event) => event.pipeline,
}
