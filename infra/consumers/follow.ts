import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import {
  moveCheckpoint,
  moveCheckpointOnly,
  moveOf,
  openCheckpoint,
  resetCheckpoint,
  type Checkpoint,
} from './checkpoint.ts'
import type { Batch } from '../event-log/event-log.ts'
import {
  handlerOf,
  type Change,
  type Consumer,
  type InTransaction,
  type Reacting,
  type Sender,
} from './consumer-type.ts'
import { bisect, isRetriable, StaleCheckpoint, Superseded } from './failures.ts'
import { inOrder, recordsOf } from './in-order.ts'
import { inTurns } from './in-turns.ts'
import { transaction } from '../postgres/postgres.ts'
import { reasonOf } from '../reason.ts'
import { resumeNext } from './resume.ts'
import { countSetAside, logSetAside, setAside, setAsideOf, withoutWaiting, type Unhandled } from './set-aside.ts'
import { settlesWithin } from '../timeout.ts'
import { changeWriter } from './write-changes.ts'

export type FollowCallbacks = {
  readonly passed: (position: Position | undefined) => void
  readonly caughtUp: () => void
  /** Called with the number of records that are set aside. */
  readonly setAside: (count: number) => void
}

const usuallySaveAfterMs = 1_000
const saveReactedAfterMs = 250
const lookAgainMs = 500
const restPerEventMs = 5
const measureAfterMs = 1_000
const readAheadSize = 1_000

/** After so much work: one part of it, nine of rest, so that even for hours a consumer is never stopped. */
const givenWayMs = (workMs: number): number => Math.min(1_000, 9 * workMs)

/**
 * Hands the events of the log to a consumer, from its checkpoint until the signal is aborted. What others have written
 * moves it on too, but the checkpoint only once in a while: to read over such events again costs nothing.
 */
export const follow = async (consumer: Consumer, signal: AbortSignal, callbacks: FollowCallbacks): Promise<void> => {
  const { name, categories, types, batchSize = 1_000, restMs = 0, givesWayTo, eventLog, pool, log, metrics } = consumer
  const { saveAfterMs = usuallySaveAfterMs } = consumer
  let saved = await claim(consumer)
  let position = saved.position
  /** Where queues take turns, events behind the position were given, too. */
  let furthest = position
  let savedAt = performance.now()
  let measuredAt = 0
  let lookedAt = 0
  let setAsideCount = 0
  const { passed, caughtUp } = callbacks
  passed(position)

  const stale = () => new StaleCheckpoint(`The checkpoint of ${name} was moved.`)

  const saveOnly = async (to: Position) => {
    if (!(await moveCheckpointOnly(pool, name, saved, to))) throw stale()
    hasSaved(to)
  }

  const save = async <Result>(
    to: Position | undefined,
    work: (db: PoolClient, last: Sender) => Promise<Result>,
  ): Promise<Result> => {
    const workAndMove = async (db: PoolClient) => {
      const statements: QueryConfig[] = []
      const result = await work(db, { query: async (statement) => statements.push(statement) })
      // The checkpoint is moved last: a process that stalls before it does not block another from moving it.
      const written = statements.map(async (each) => db.query(each))
      const moving = moveCheckpoint(db, name, saved, to)
      const outcomes = await Promise.allSettled([...written, moving])
      // Of what was sent together, the first to fail is why the others did.
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) throw failed.reason
      if (!(await moving)) throw stale()
      return result
    }
    // After a crash, lost work is repeated, because its checkpoint is lost with it.
    const result = await transaction(pool, workAndMove, { isRepeatable: true })
    hasSaved(to)
    return result
  }

  const hasSaved = (to: Position | undefined) => {
    saved = { ...saved, position: to }
    savedAt = performance.now()
    position = to
    passed(to)
  }

  const passOver = async (to: Position, afterMs = saveAfterMs) => {
    position = to
    passed(to)
    if (performance.now() - savedAt >= afterMs) await saveOnly(to)
  }

  /** Writes a change and moves the checkpoint, or throws if that is no longer where it was. */
  const saveWith = async (db: Pool | PoolClient, to: Position, { statement }: Change): Promise<number> => {
    const query = statement(moveOf(name, saved, to))
    const { rowCount } = await db.query(query)
    if (rowCount !== 1) throw stale()
    return bytesOf(query)
  }

  const isOver = () => signal.aborted

  const countAside = async () => {
    setAsideCount = await countSetAside(pool, name)
    metrics?.setAside.set({ consumer: name }, setAsideCount)
    callbacks.setAside(setAsideCount)
  }

  const tellSetAside = async (unhandled: readonly Unhandled[]) => {
    if (unhandled.length === 0) return
    logSetAside(log, name, unhandled)
    await countAside()
  }

  const react = async (
    events: readonly RecordedEvent[],
    to: Position | undefined,
    consumer: Reacting,
  ): Promise<void> => {
    const { concurrency = 1, queueOf } = consumer
    /** Where queues take turns, only the whole batch says up to where all was handled. */
    const after = (event: RecordedEvent | undefined) => (queueOf ? undefined : event?.position)
    const { recordOf, isUnknown } = recordsOf(events, consumer.recordOf)
    const closed =
      setAsideCount > 0
        ? await setAsideOf(pool, name, [...events.map(recordOf), ...events.map(({ stream }) => stream)])
        : new Set<string>()
    // A waiting event whose record is unknown is saved before any later event is handled: after a crash in between,
    // it could not be distinguished from a handled event.
    const apart = events.findIndex((event) => isUnknown(event) && !closed.has(event.stream))
    const before = events.slice(0, Math.max(apart, 1))
    if (apart !== -1 && before.length < events.length) {
      await react(before, after(before.at(-1)), consumer)
      return isOver() ? undefined : react(events.slice(before.length), to, consumer)
    }
    const unhandled: Unhandled[] = []
    const handleOne = async (event: RecordedEvent) => {
      const record = closed.has(event.stream) ? event.stream : recordOf(event)
      if (closed.has(record)) {
        unhandled.push({ event, record })
        return
      }
      try {
        await consumer.react(event, signal, { resumed: false })
      } catch (error) {
        // A failure may be caused by the end of the signal.
        if (isOver() || isRetriable(error)) throw error
        closed.add(record)
        unhandled.push({ event, record, reason: reasonOf(error) })
      }
    }
    const { handled, failure } = await inOrder(events, { recordOf, concurrency, handle: handleOne, signal })
    const isWhole = handled === events.length
    const reached = (isWhole ? to : after(events[handled - 1])) ?? position
    for (const event of events) if (furthest === undefined || event.position > furthest) furthest = event.position
    // What was only handled may be handled again.
    if (reached && unhandled.length === 0) await passOver(reached, saveReactedAfterMs)
    else if (unhandled.length > 0) await save(reached, (db) => setAside(db, name, unhandled))
    await tellSetAside(unhandled)
    if (failure && !isOver()) throw failure.error
  }

  const openOf = async (events: readonly RecordedEvent[]) =>
    setAsideCount > 0 ? withoutWaiting(pool, name, events) : events

  const writer =
    'changeOf' in consumer
      ? changeWriter(consumer, {
          saveChange: async (to, change) => {
            const bytes = await saveWith(pool, to, change)
            hasSaved(to)
            return bytes
          },
          saveUnhandled: async (to, unhandled, change) => {
            const setAsideAndChange = async (db: PoolClient): Promise<number> => {
              await setAside(db, name, unhandled)
              if (change) return saveWith(db, to, change)
              if (!(await moveCheckpoint(db, name, saved, to))) throw stale()
              return 0
            }
            const bytes = await transaction(pool, setAsideAndChange, { isRepeatable: true })
            hasSaved(to)
            await tellSetAside(unhandled)
            return bytes
          },
          passOver,
          openOf,
        })
      : undefined

  const handleSome = (consumer: InTransaction) => async (events: readonly RecordedEvent[], to: Position) => {
    let unhandled: Unhandled[] = []
    const open = await openOf(events)
    const handle = open.length > 0 ? await handlerOf(consumer, open) : undefined
    const afterwards = await save(to, async (db, last) => {
      unhandled = []
      const handled = await handle?.(open, db, last, (event, error) =>
        unhandled.push({ event, record: event.stream, reason: reasonOf(error) }),
      )
      await setAside(db, name, unhandled)
      return handled
    })
    afterwards?.()
    await tellSetAside(unhandled)
  }

  const setOneAside = async (event: RecordedEvent, error: unknown, to: Position) => {
    const unhandled = [{ event, record: event.stream, reason: reasonOf(error) }]
    await save(to, (db) => setAside(db, name, unhandled))
    await tellSetAside(unhandled)
  }

  const resumeRequested = async () => {
    if (setAsideCount === 0 || performance.now() - lookedAt < lookAgainMs) return
    // What is behind the position and was given would be taken for something that is still to come.
    if (furthest !== undefined && (position === undefined || position < furthest)) return
    lookedAt = performance.now()
    await writer?.settle()
    while (position !== undefined && !isOver()) {
      const upTo = position
      const resumed = await resumeNext(consumer, { upTo, save: (work) => save(upTo, work), signal })
      if (!resumed) return
      writer?.forget()
      const { record, failure } = resumed
      if (failure) logSetAside(log, name, [{ ...failure, record }])
      else log.info({ consumer: name, record }, 'record resumed')
      await countAside()
    }
  }

  const handle = async (batch: Batch) => {
    const { events, position: to } = beyond(writer?.underWayTo() ?? position, batch)
    if (events.length === 0) {
      await writer?.settle()
      return passOver(to)
    }
    if ('changeOf' in consumer) await writer?.write(events, to, batch.caughtUp)
    else if ('react' in consumer) await react(events, to, consumer)
    else await bisect(events, to, handleSome(consumer), setOneAside)
    metrics?.projectedEvents.inc({ projection: name }, events.length)
  }

  const measure = async (isAtEnd: boolean) => {
    if (!isAtEnd && performance.now() - measuredAt < measureAfterMs) return
    measuredAt = performance.now()
    await measureLag(consumer, position, isAtEnd)
  }

  await countAside()
  const ending = new AbortController()
  const queueOf = 'react' in consumer ? consumer.queueOf : undefined
  const news = eventLog.subscribe({
    ...(position !== undefined && { after: position }),
    ...(types && { types }),
    ...(categories && { categories }),
    batchSize: queueOf ? readAheadSize : batchSize,
    isAwaited: consumer.awaitedIn !== undefined,
    signal: AbortSignal.any([signal, ending.signal]),
  })
  const given = queueOf ? inTurns(news, { queueOf, read: eventLog.read, end: () => ending.abort(), batchSize }) : news
  const batches = given[Symbol.asyncIterator]()
  try {
    for (;;) {
      const coming = batches.next()
      coming.catch(() => undefined)
      const isUnsaved = () =>
        writer?.underWayTo() !== undefined || (position !== undefined && position !== saved.position)
      while ((isUnsaved() || setAsideCount > 0) && !(await settlesWithin(coming, saveAfterMs))) {
        await writer?.settle()
        if (position && isUnsaved()) await saveOnly(position)
        await resumeRequested()
      }
      const next = await coming
      if (next.done) break
      const begunAt = performance.now()
      await handle(next.value)
      await resumeRequested()
      await measure(next.value.caughtUp)
      if (next.value.caughtUp) caughtUp()
      // What waits already is handled together without that.
      const usual = next.value.caughtUp ? Math.min(restMs, restPerEventMs * next.value.events.length) : 0
      const rest = givesWayTo?.isHeavy() ? Math.max(usual, givenWayMs(performance.now() - begunAt)) : usual
      if (rest > 0) await pause(rest, undefined, { signal }).catch(() => undefined)
    }
    if (!signal.aborted) throw new OwnError('The log has ended the subscription.')
    await writer?.settle()
    if (position && position !== saved.position) await saveOnly(position)
  } finally {
    ending.abort()
    await batches.return?.().catch(() => undefined)
  }
}

const bytesOf = ({ values = [] }: QueryConfig): number =>
  values.reduce((bytes: number, value: unknown) => bytes + (Buffer.isBuffer(value) ? value.length : 0), 0)

/** What of a batch was not there before: the log may give an event more than once. */
export const beyond = (position: Position | undefined, batch: Batch): Batch => {
  const [first] = batch.events
  if (position === undefined || (batch.position >= position && (!first || first.position > position))) return batch
  const events = batch.events.filter((event) => event.position > position)
  return { ...batch, events, position: batch.position > position ? batch.position : position }
}

const claim = async (consumer: Consumer): Promise<Checkpoint> => {
  const { name, version, categories = [], pool, atOtherVersion = 'continue' } = consumer
  const described = { name, version, categories, awaited: consumer.awaitedIn !== undefined }
  const stored = await openCheckpoint(pool, described)
  if (stored.version === version) return stored
  if (atOtherVersion === 'continue') return resetCheckpoint(pool, described, stored.position)
  throw new Superseded(`Version ${stored.version} of ${name} has taken over from version ${version}.`)
}

/** Measures how far a consumer is behind the end of the log. */
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
