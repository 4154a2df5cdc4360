import { idOf } from '#domain/event.ts'
import { pipelineEvents, type Pipeline } from '#domain/pipeline/events.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** How an organisation works its leads, as this process knows it. */
export type Pipelines = (organisation_id: OrganisationId) => Pipeline

/** Follows what organisations declare; resolves when it knows all there is. */
export const followPipelines = async (folds: LiveFolds): Promise<Pipelines> => {
  const declared = await folds.follow(
    {
      name: 'pipelines',
      version: 1,
      categories: ['pipeline'],
      events: pipelineEvents,
      apply: (pipelines, { pipeline }, { stream }) => {
        pipelines.set(idOf(stream), pipeline)
      },
    },
    new Map<string, Pipeline>(),
  )
  return (organisation_id) => declared.get(organisation_id) ?? seededPipeline
}
