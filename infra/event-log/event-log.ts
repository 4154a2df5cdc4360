import type { NewEvent, Position, RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Outage } from './outage.ts'

/** A writer's belief about a stream: that it has no events, that its last event has this revision, or nothing. */
export type ExpectedRevision = 'no_stream' | 'any' | number

export type AppendResult =
  | { readonly outcome: 'appended'; readonly revision: number; readonly position: Position }
  /** Someone else appended first. `revision` is the stream's own, undefined when it has no events. */
  | { readonly outcome: 'conflict'; readonly revision: number | undefined }

export type Page = {
  /** The first revision to read, itself included. By default the first event, or, backwards, the last. */
  readonly from?: number
  readonly direction?: 'forwards' | 'backwards'
  /** At most so many events; 1,000 by default. */
  readonly limit?: number
}

export type WholePage = {
  /** Forwards: events after this position. Backwards: events before it. By default from the very end of that direction. */
  readonly beyond?: Position
  readonly direction?: 'forwards' | 'backwards'
  readonly limit?: number
}

export type Subscription = {
  /** Events after this position; by default all events. */
  readonly after?: Position
  /** Only events of streams of these categories. */
  readonly categories?: readonly string[]
  /** Only events of these types. Given both filters, an event must pass both. */
  readonly types?: readonly string[]
  /** At most so many events in one batch; 1,000 by default. */
  readonly batchSize?: number
  /**
   * Unless this is false, somebody waits until it has passed an event of its categories, also of a type that it does not want.
   * Others may learn of such events a moment later.
   */
  readonly isAwaited?: boolean
  /** Ends the subscription: the iteration finishes without an error. */
  readonly signal: AbortSignal
}

/** Some events in order. A consumer that has handled a batch may resume after its `position`; events that the filter left out are behind it. */
export type Batch = {
  readonly events: readonly RecordedEvent[]
  readonly position: Position
  /** At the moment of reading there was nothing beyond this batch. */
  readonly caughtUp: boolean
}

/** The events of a batch that are new: the log may give an event more than once. */
export const beyond = (position: Position | undefined, batch: Batch): Batch => {
  const [first] = batch.events
  if (position === undefined || (batch.position >= position && (!first || first.position > position))) return batch
  const events = batch.events.filter((event) => event.position > position)
  return { ...batch, events, position: batch.position > position ? batch.position : position }
}

/**
 * The log of all that happened: the only source of truth.
 *
 * - `append` is atomic. Repeating it with the same event ids and the same exact expectation is the same append, however late.
 * - `read` gives a page of one stream; none for an unknown stream. `readAll` gives a page of the whole log.
 * - `subscribe` gives every event at least once, in one total order, waits for new ones, survives a lost connection, and
 *   reads ahead no further than one batch of what its reader has taken. It yields an empty batch when it first catches up
 *   on nothing, and may yield empty batches to move the position on. When it has yielded the last event, it says that it
 *   has caught up, if need be with an empty batch.
 * - `head` is the position of the last event, undefined in an empty log. `end` is the last position that there is, be it that of
 *   an event of the server's own or of one that nobody may read yet: no subscription has ever come further. `measure` turns a position into a number that
 *   grows along the log, for progress bars and lag; its unit is the adapter's own.
 * - `outage` says since when the log cannot be read or followed; undefined while it can.
 */
export type EventLog = {
  readonly append: (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) => Promise<AppendResult>
  readonly read: (stream: string, page?: Page) => Promise<readonly RecordedEvent[]>
  readonly readAll: (page?: WholePage) => Promise<readonly RecordedEvent[]>
  readonly subscribe: (subscription: Subscription) => AsyncIterable<Batch>
  readonly head: () => Promise<Position | undefined>
  readonly end: () => Promise<Position | undefined>
  readonly measure: (position: Position) => number
  readonly outage: () => Outage | undefined
  readonly close: () => Promise<void>
}

/**
 * The log cannot be used at the moment, for a transient reason: the server is starting, changes its
 * leader, has no quorum, was lost, or does not answer in time. It is not known whether an append was stored: the same
 * append may be repeated. Only an adapter decides what is one of these.
 */
export class LogUnavailable extends OwnError {
  override readonly name = 'LogUnavailable'
}

/**
 * The log cannot be used with the settings that were given: a wrong user or password, no right to read everything, a
 * certificate that does not fit, TLS on one side only, a file that is not there. The message is one line that begins with
 * the name of the variable. An adapter throws it only before the log was usable for the first time.
 */
export class LogMisconfigured extends OwnError {
  override readonly name = 'LogMisconfigured'
}

const maximumBytes = 1024

/** A stream is `category-id`; its name may hold any Unicode but no control characters and no lone surrogates. */
export const checkStreamName = (stream: string): void => {
  const isUsable = /^[^-]+-./su.test(stream) && !/\p{Cc}/u.test(stream) && stream.isWellFormed()
  if (!isUsable || Buffer.byteLength(stream) > maximumBytes)
    throw new RangeError(`Not a stream name: ${JSON.stringify(stream)}. Use category-id.`)
}
