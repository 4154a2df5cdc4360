import type { Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { beyond, type Batch, type EventLog } from '#infra/event-log/event-log.ts'
import { TimedOut, withTimeout } from '#infra/timeout.ts'
import type { SomeProjection } from './projection.ts'

/**
 * The more events are folded together, the fewer rows are written: of those that happen to the same thing within a short
 * time, only the last leaves a row. Beyond this, little is gained for the memory that it takes.
 */
export const eventsAtOnce = 4_000

type Range = {
  /** By default from the first event. */
  readonly after?: Position | undefined
  /** A place that the log has reached: events up to here are there, and must all be read. */
  readonly upTo: Position | undefined
  /** Reads on from there to the end of the log, as it is when that is reached. */
  readonly toTheEnd?: boolean
  /** Time limit for a reader that has caught up with its own copy of the log to reach `upTo`. */
  readonly lagMs?: number
  readonly signal: AbortSignal
}

/** The reader of the log says that it has caught up, but has not come as far as the log had come before. */
export class ReaderBehind extends OwnError {
  override readonly name = 'ReaderBehind'
}

/** Waits for a follower of an EventStoreDB cluster that lags behind its leader. */
export const defaultLagMs = 30_000

/**
 * All events of a range that concern a projection. Ends when it has read them all: a reader that has caught up short of
 * the end of the range is waited for, and `ReaderBehind` is thrown when it does not come further. Throws when the signal is
 * aborted.
 */
export const history = async function* (
  eventLog: EventLog,
  { categories, events: shapes }: Pick<SomeProjection, 'categories' | 'events'>,
  { after, upTo, toTheEnd = false, lagMs = defaultLagMs, signal }: Range,
): AsyncGenerator<Batch> {
  let reached = after
  const isThere = () => upTo === undefined || (reached !== undefined && reached >= upTo)
  if (isThere() && !toTheEnd) return

  const ending = new AbortController()
  const batches = eventLog
    .subscribe({
      ...(after && { after }),
      categories,
      types: Object.keys(shapes),
      batchSize: eventsAtOnce,
      signal: AbortSignal.any([signal, ending.signal]),
    })
    [Symbol.asyncIterator]()
  let hasCaughtUp = false
  try {
    for (;;) {
      const coming = batches.next()
      const next = await (hasCaughtUp ? withTimeout(coming, lagMs) : coming)
      if (next.done) break
      const batch = beyond(reached, next.value)
      hasCaughtUp = batch.caughtUp
      reached = batch.position
      if (toTheEnd || upTo === undefined) yield batch
      else yield { ...batch, events: batch.events.filter(({ position }) => position <= upTo) }
      if (isThere() && (!toTheEnd || batch.caughtUp)) return
    }
  } catch (error) {
    if (error instanceof TimedOut) throw readerBehind(eventLog, reached, upTo)
    throw error
  } finally {
    ending.abort()
  }
  signal.throwIfAborted()
  throw new OwnError('The log has ended the subscription.')
}

const readerBehind = ({ measure }: EventLog, reached: Position | undefined, upTo: Position | undefined) =>
  new ReaderBehind(
    `The reader of the log has caught up at ${reached ? measure(reached) : 'the beginning'}, ` +
      `although the log had reached ${upTo ? measure(upTo) : 'the beginning'} before. Try again when the reader is up to date.`,
  )
