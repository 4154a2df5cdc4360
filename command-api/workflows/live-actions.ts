import { idOf } from '#domain/event.ts'
import { lifecycleActionEvents } from '#domain/workflows/events.ts'
import { evolveLifecycleAction, type LifecycleAction } from '#domain/workflows/record.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { liveFold } from '#infra/consumers/live-fold.ts'

/** The lifecycle actions that there are, by id, as this process knows them. */
export type LiveActions = ReadonlyMap<string, LifecycleAction>

/** Follows the events of lifecycle actions; resolves when it knows all there are. */
export const followLifecycleActions = (
  eventLog: EventLog,
  options: Parameters<typeof liveFold>[3],
): Promise<LiveActions> =>
  liveFold(
    eventLog,
    {
      name: 'lifecycle actions',
      categories: ['lifecycle_action'],
      events: lifecycleActionEvents,
      apply: (actions, event, { stream, metadata }) => {
        const action = evolveLifecycleAction(actions.get(idOf(stream)), event, metadata)
        if (action) actions.set(action.id, action)
        else actions.delete(idOf(stream))
      },
    },
    new Map<string, LifecycleAction>(),
    options,
  )
