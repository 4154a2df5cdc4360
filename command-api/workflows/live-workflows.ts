import { recordsFold } from '#domain/records-fold.ts'
import { workflowEvents } from '#domain/workflows/events.ts'
import { evolveWorkflow, type Workflow } from '#domain/workflows/record.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** The workflows that there are, by id, as this process knows them. */
export type LiveWorkflows = ReadonlyMap<string, Workflow>

/** Follows the events of workflows; resolves when it knows all there are. */
export const followWorkflows = (folds: LiveFolds): Promise<LiveWorkflows> =>
  folds.follow(
    recordsFold({
      name: 'workflows',
      version: 1,
      categories: ['workflow'],
      events: workflowEvents,
      evolve: evolveWorkflow,
    }),
    new Map<string, Workflow>(),
  )
