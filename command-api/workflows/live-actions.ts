import { recordsFold } from '#domain/records-fold.ts'
import { lifecycleActionEvents } from '#domain/workflows/events.ts'
import { evolveLifecycleAction, type LifecycleAction } from '#domain/workflows/record.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** The lifecycle actions that there are, by id, as this process knows them. */
export type LiveActions = ReadonlyMap<string, LifecycleAction>

/** Follows the events of lifecycle actions; resolves when it knows all there are. */
export const followLifecycleActions = (folds: LiveFolds): Promise<LiveActions> =>
  folds.follow(
    recordsFold({
      name: 'lifecycle actions',
      version: 1,
      categories: ['lifecycle_action'],
      events: lifecycleActionEvents,
      evolve: evolveLifecycleAction,
    }),
    new Map<string, LifecycleAction>(),
  )
