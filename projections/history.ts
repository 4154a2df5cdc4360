import type { Position } from '#domain/event.ts'
import type { Batch, EventLog } from '#infra/event-log/event-log.ts'
import { beyond } from '#infra/consumers/follow.ts'
import type { SomeProjection } from './projection.ts'

/**
 * The more events are folded together, the fewer rows are written: of those that happen to the same thing within a short
 * time, only the last leaves a row. Beyond this, little is gained for the memory that it takes.
 */
export const eventsAtOnce = 4_000

type BoundedPage = {
  /** By default from the first event. */
  readonly after?: Position | undefined
  /** By default to the end of the log, as it is when that is reached. */
  readonly upTo?: Position | undefined
  readonly signal: AbortSignal
}

/** What has happened of all that concerns a projection. Throws when the signal is aborted. */
export const history = async function* (
  eventLog: EventLog,
  { categories, events: shapes }: SomeProjection,
  { after, upTo, signal }: BoundedPage,
): AsyncGenerator<Batch> {
  if (upTo !== undefined && after !== undefined && after >= upTo) return
  const types = Object.keys(shapes)
  let reached = after
  const wanted = { ...(after && { after }), categories, types, batchSize: eventsAtOnce, signal }
  for await (const given of eventLog.subscribe(wanted)) {
    const batch = beyond(reached, given)
    reached = batch.position
    if (upTo === undefined) yield batch
    else yield { ...batch, events: batch.events.filter(({ position }) => position <= upTo) }
    if (batch.caughtUp || (upTo !== undefined && reached >= upTo)) return
  }
  signal.throwIfAborted()
  throw new Error('The log has ended the subscription.')
}
