import type { Pipeline } from '#domain/pipeline/events.ts'
import { pipelinesFold, pipelinesOf, type Pipelines } from '#domain/pipeline/record.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

export type { Pipelines } from '#domain/pipeline/record.ts'

/** Follows what organisations declare; resolves when it knows all there is. */
export const followPipelines = async (folds: LiveFolds): Promise<Pipelines> =>
  pipelinesOf(await folds.follow(pipelinesFold, new Map<string, Pipeline>()))
