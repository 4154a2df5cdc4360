import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { moveCheckpoint, openCheckpoint, resetCheckpoint, type Checkpoint } from './checkpoint.ts'
import { LogUnavailable, type Batch, type EventLog } from '../event-log/event-log.ts'
import { inOrder } from './in-order.ts'
import type { Leases } from './lease.ts'
import { Problem } from '../http/problem.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { isUnavailable, transaction } from '../postgres/postgres.ts'
import type { Progress } from './progress.ts'

/** What every consumer of a process works with. */
export type ConsumerParts = {
  readonly eventLog: EventLog
  readonly pool: Pool
  readonly leases: Leases
  readonly log: Log
  readonly metrics?: Pick<Metrics, 'projectedEvents' | 'lag'>
  /** Ends the consumer: it finishes what it is at, and saves how far it came. */
  readonly signal: AbortSignal
}

/** Takes a statement whose result nobody looks at. */
export type Sender = { readonly query: (statement: QueryConfig) => Promise<unknown> }

type InTransaction = {
  /**
   * Handles events in the transaction that moves the checkpoint behind them, so that each counts once. Nothing slow
   * belongs here: once it has written, no reader of the log sees newer events until it ends. What is given to `last`
   * is sent at the end, together with the checkpoint.
   */
  readonly handle: (events: readonly RecordedEvent[], db: PoolClient, last: Sender) => Promise<void>
}

type Reacting = {
  /**
   * Handles an event before the checkpoint moves behind it: it may come again, and that must not matter. The signal is
   * aborted when the consumer has to stop, or when its lease has ended and another process may have taken over.
   */
  readonly react: (event: RecordedEvent, signal: AbortSignal) => Promise<void>
  /**
   * The record that an event changes, by default the stream that it is in. Events of one record are handled in their
   * order, those of different records at once.
   */
  readonly recordOf?: (event: RecordedEvent) => string
  /** Handles at most so many events at once; one by default. */
  readonly concurrency?: number
}

export type Consumer = ConsumerParts & {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  readonly types?: readonly string[]
  /** At most so many events at once; 1,000 by default. */
  readonly batchSize?: number
  /** How long it rests after events, so that those that come meanwhile are handled together. For one that nobody waits for. */
  readonly restMs?: number
  /**
   * Given only for a consumer that commands wait for, so that a caller can read what it wrote: how far it has come is
   * reported there. It is no part of what all consumers share, so that none is waited for by accident: one that stands by
   * in this process would never move.
   */
  readonly awaitedIn?: Pick<Progress, 'passed'>
  /** What must be there before it works; called again after every trouble. */
  readonly prepare?: () => Promise<void>
  /** What it does when its checkpoint is of another version: by default, it goes on from there. */
  readonly atOtherVersion?: 'continue' | 'stop'
} & (InTransaction | Reacting)

/** An event that could not be handled. Nothing of it was kept, and the checkpoint stands right before it. */
export class EventFailed extends Error {
  override readonly name = 'EventFailed'
  readonly event: RecordedEvent

  constructor(event: RecordedEvent, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.event = event
  }
}

/** Someone else has moved the checkpoint: what was done on the ground that it stood where it did was undone. */
export class StaleCheckpoint extends Error {
  override readonly name = 'StaleCheckpoint'
}

/** Another version has taken over what this one did. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}

export type FollowCallbacks = {
  readonly passed: (position: Position | undefined) => void
  readonly caughtUp: () => void
}

const saveAfterMs = 1_000
const measureAfterMs = 1_000

/**
 * Hands the events of the log to a consumer, from its checkpoint until the signal is aborted. What others have written
 * moves it on too, but the checkpoint only once in a while: to read over such events again costs nothing.
 */
export const follow = async (
  consumer: Consumer,
  signal: AbortSignal,
  { passed, caughtUp }: FollowCallbacks,
): Promise<void> => {
  const { name, categories, types, batchSize = 1_000, restMs = 0, eventLog, pool, metrics } = consumer
  let saved = await claim(consumer)
  let position = saved.position
  let savedAt = performance.now()
  let measuredAt = 0
  passed(position)

  const save = async (to: Position, work?: (db: PoolClient, last: Sender) => Promise<void>): Promise<void> => {
    const workAndMove = async (db: PoolClient) => {
      const statements: QueryConfig[] = []
      await work?.(db, { query: async (statement) => statements.push(statement) })
      // The checkpoint comes last: who stalls before it keeps nobody else from moving it.
      const written = statements.map(async (each) => db.query(each))
      const moving = moveCheckpoint(db, name, saved, to)
      const outcomes = await Promise.allSettled([...written, moving])
      // Of what was sent together, the first to fail is why the others did.
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) throw failed.reason
      if (!(await moving)) throw new StaleCheckpoint(`${name} does not stand where it was left.`)
    }
    // What is lost in a crash is lost together with its checkpoint, and done again.
    await transaction(pool, workAndMove, { isRepeatable: true })
    saved = { ...saved, position: to }
    savedAt = performance.now()
    position = to
    passed(to)
  }

  const isOver = () => signal.aborted

  const react = async (events: readonly RecordedEvent[], to: Position, consumer: Reacting) => {
    const { recordOf = ({ stream }) => stream, concurrency = 1 } = consumer
    const handleOne = (event: RecordedEvent) => consumer.react(event, signal)
    const { handled, failure } = await inOrder(events, { recordOf, concurrency, handle: handleOne, signal })
    position = events[handled - 1]?.position ?? position
    if (!failure && !isOver()) return save(to)
    // A failure may be caused by the end of the signal.
    if (!failure || isOver()) return
    if (position) await save(position)
    throw isRetriable(failure.error) ? failure.error : new EventFailed(failure.event, failure.error)
  }

  const handle = async (batch: Batch) => {
    const { events, position: to } = beyond(position, batch)
    if (events.length === 0) {
      position = to
      passed(to)
      if (performance.now() - savedAt >= saveAfterMs) await save(to)
      return
    }
    if ('react' in consumer) await react(events, to, consumer)
    else await bisect(events, to, (some, behind) => save(behind, (db, last) => consumer.handle(some, db, last)))
    metrics?.projectedEvents.inc({ projection: name }, events.length)
  }

  const measure = async (isAtEnd: boolean) => {
    if (!isAtEnd && performance.now() - measuredAt < measureAfterMs) return
    measuredAt = performance.now()
    await measureLag(consumer, position, isAtEnd)
  }

  const ending = new AbortController()
  const batches = eventLog
    .subscribe({
      ...(position !== undefined && { after: position }),
      ...(types && { types }),
      categories,
      batchSize,
      signal: AbortSignal.any([signal, ending.signal]),
    })
    [Symbol.asyncIterator]()
  try {
    for (;;) {
      const coming = batches.next()
      coming.catch(() => undefined)
      while (position && position !== saved.position && !(await settlesWithin(coming, saveAfterMs)))
        await save(position)
      const next = await coming
      if (next.done) break
      await handle(next.value)
      await measure(next.value.caughtUp)
      if (next.value.caughtUp) caughtUp()
      if (restMs > 0 && next.value.events.length > 0) await pause(restMs, undefined, { signal }).catch(() => undefined)
    }
    if (!signal.aborted) throw new Error('The log has ended the subscription.')
    if (position && position !== saved.position) await save(position)
  } finally {
    ending.abort()
    await batches.return?.().catch(() => undefined)
  }
}

/** What of a batch was not there before: the log may give an event more than once. */
export const beyond = (position: Position | undefined, batch: Batch): Batch => {
  const [first] = batch.events
  if (position === undefined || (batch.position >= position && (!first || first.position > position))) return batch
  const events = batch.events.filter((event) => event.position > position)
  return { ...batch, events, position: batch.position > position ? batch.position : position }
}

/**
 * Does something with all events at once or, when that fails, with the halves of them, until the event that it fails at
 * stands alone. `work` is undone when it fails, and leads to a position.
 */
export const bisect = async (
  events: readonly RecordedEvent[],
  to: Position,
  work: (events: readonly RecordedEvent[], to: Position) => Promise<void>,
): Promise<void> => {
  try {
    await work(events, to)
  } catch (error) {
    const [event] = events
    if (!event || isRetriable(error)) throw error
    if (events.length === 1) throw new EventFailed(event, error)
    const earlier = events.slice(0, events.length / 2)
    await bisect(earlier, earlier.at(-1)?.position ?? to, work)
    await bisect(events.slice(earlier.length), to, work)
  }
}

const claim = async (consumer: Consumer): Promise<Checkpoint> => {
  const { name, version, categories, pool, atOtherVersion = 'continue' } = consumer
  const described = { name, version, categories, awaited: consumer.awaitedIn !== undefined }
  const stored = await openCheckpoint(pool, described)
  if (stored.version === version) return stored
  if (atOtherVersion === 'continue') return resetCheckpoint(pool, described, stored.position)
  throw new Superseded(`Version ${stored.version} of ${name} has taken over from version ${version}.`)
}

/** Tells how far a consumer is behind the end of the log. */
export const measureLag = async (
  { name, eventLog, metrics }: Consumer,
  position: Position | undefined,
  isAtEnd = false,
): Promise<void> => {
  if (!metrics) return
  const head = isAtEnd ? undefined : await eventLog.head()
  const behind = head ? eventLog.measure(head) - (position ? eventLog.measure(position) : 0) : 0
  metrics.lag.set({ consumer: name }, Math.max(0, behind))
}

/** Whether a failure has nothing to do with the event, so that trying again may help. */
const isRetriable = (error: unknown): boolean => error instanceof StaleCheckpoint || isTransient(error)

/** Trouble that passes: with the connection or the server, or with others who want the same rows at the same time. */
export const isTransient = (error: unknown): boolean =>
  error instanceof LogUnavailable ||
  (error instanceof Problem && error.code === 'unavailable') ||
  isUnavailable(error) ||
  (error instanceof Error && 'code' in error && transientCodes.test(String(error.code)))

// Serialization failure, deadlock, lock not available, out of resources.
const transientCodes = /^(40001|40P01|55P03|53...)$/

const settlesWithin = (promise: Promise<unknown>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds)
    const settled = () => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
