import { NewerEvent, type Position, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { LogUnavailable } from '../event-log/event-log.ts'
import { LeaseLost } from './required-lease.ts'
import { isPutOff } from './until-shown.ts'
import { isNotMade, isUnavailable } from '../postgres/postgres.ts'
import { reasonOf } from '../reason.ts'

/** An event that could not be handled. Nothing of it was kept. */
export class EventFailed extends OwnError {
  override readonly name = 'EventFailed'
  readonly event: RecordedEvent

  constructor(event: RecordedEvent, cause: unknown) {
    super(reasonOf(cause), { cause })
    this.event = event
  }
}

/** Another instance moved the checkpoint, so the transaction was rolled back. */
export class StaleCheckpoint extends OwnError {
  override readonly name = 'StaleCheckpoint'
}

/** A newer version of this consumer has taken over. */
export class Superseded extends OwnError {
  override readonly name = 'Superseded'
}

/**
 * Does `work` with all events or, when it fails, bisects them until the event that fails is found: that is given to
 * `failed` or, without it, `EventFailed` is thrown. `work` is rolled back when it fails, and resolves to a position.
 */
export const bisect = async (
  events: readonly RecordedEvent[],
  to: Position,
  work: (events: readonly RecordedEvent[], to: Position) => Promise<void>,
  failed?: (event: RecordedEvent, error: unknown, to: Position) => Promise<void>,
): Promise<void> => {
  try {
    await work(events, to)
  } catch (error) {
    const [event] = events
    if (!event || isRetriable(error)) throw error
    if (events.length === 1) {
      if (!failed) throw new EventFailed(event, error)
      return failed(event, error, to)
    }
    const earlier = events.slice(0, events.length / 2)
    await bisect(earlier, earlier.at(-1)?.position ?? to, work, failed)
    await bisect(events.slice(earlier.length), to, work, failed)
  }
}

/**
 * True for a failure that has nothing to do with the event, so that trying again may help: also where a table or a column is
 * not there, which another process makes, or this one when it begins again.
 */
export const isRetriable = (error: unknown): boolean =>
  error instanceof StaleCheckpoint || isNotMade(error) || isTransient(error)

/**
 * True for a transient error: of the connection or the server, because others want the same rows at the same time, or because
 * this process is to be upgraded: the lease is then given back, for a newer process to take it.
 */
export const isTransient = (error: unknown): boolean =>
  error instanceof NewerEvent ||
  error instanceof LogUnavailable ||
  error instanceof LeaseLost ||
  isPutOff(error) ||
  isUnavailable(error) ||
  (error instanceof Error && 'code' in error && transientCodes.test(String(error.code)))

// Serialization failure, deadlock, lock not available, out of resources.
const transientCodes = /^(40001|40P01|55P03|53...)$/
