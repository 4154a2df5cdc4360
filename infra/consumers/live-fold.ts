import { setTimeout as pause } from 'node:timers/promises'
import { fromStored, type EventOf, type EventShapes, type Position, type RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import type { Progress } from './progress.ts'

export type Fold<Shapes extends EventShapes, State> = {
  readonly name: string
  readonly categories: readonly string[]
  readonly events: Shapes
  readonly apply: (state: State, event: EventOf<Shapes>, recorded: RecordedEvent) => void
}

/**
 * Keeps in memory what the events of some categories add up to, for what every request needs at once (who may call).
 * Resolves when it has caught up for the first time. `state` is changed in place as events arrive.
 */
export const liveFold = async <Shapes extends EventShapes, State>(
  eventLog: EventLog,
  { name, categories, events, apply }: Fold<Shapes, State>,
  state: State,
  { log, signal, progress }: { log: Log; signal: AbortSignal; progress: Progress },
): Promise<State> => {
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>()
  let after: Position | undefined

  const follow = async () => {
    const from = after === undefined ? {} : { after }
    for await (const batch of eventLog.subscribe({ ...from, categories, types: Object.keys(events), signal })) {
      for (const recorded of batch.events) apply(state, fromStored(events, recorded), recorded)
      after = batch.position
      progress.passed(name, categories, after)
      if (batch.caughtUp) resolve()
    }
  }

  const run = async () => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (error) {
        log.error({ error, fold: name }, 'live fold failed, trying again')
        await pause(1000, undefined, { signal }).catch(() => undefined)
      }
    }
    resolve()
  }
  progress.passed(name, categories, undefined)
  void run()
  await caughtUp
  return state
}
