import type { PoolClient } from 'pg'
import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import { reasonOf } from '../reason.ts'
import { bisect, EventFailed, isRetriable } from './failures.ts'
import {
  handlerOf,
  type Consumer,
  type InTransaction,
  type Reacting,
  type Refold,
  type Sender,
} from './consumer-type.ts'
import {
  nextToResume,
  putBack,
  setAside,
  setAsideAgain,
  setAsideOf,
  waitFrom,
  waitingEvents,
  type SetAside,
} from './set-aside.ts'

type Work<Result> = (db: PoolClient, last: Sender) => Promise<Result>

type Resuming = {
  /** The position up to which the consumer has handled everything else. */
  readonly upTo: Position
  /** Saves something together with the checkpoint, if the consumer still has it. */
  readonly save: <Result>(work: Work<Result>) => Promise<Result>
  readonly signal: AbortSignal
}

/** The outcome for a record: everything that waited was handled, or an event could not be handled again. */
export type Resumed = {
  readonly record: string
  readonly failure?: { readonly event: RecordedEvent; readonly reason: string }
}

type Failure = NonNullable<Resumed['failure']>

/**
 * Resumes the next record that an operator wants to be resumed, undefined if there is none. The events that wait are read
 * from their streams and handled in the order of the log, up to where the consumer is. Nothing else of the record is
 * handled meanwhile: the consumer itself calls this, between two batches.
 */
export const resumeNext = async (consumer: Consumer, resuming: Resuming): Promise<Resumed | undefined> => {
  const waiting = await nextToResume(consumer.pool, consumer.name)
  const [first] = waiting
  if (!first) return undefined
  if ('react' in consumer) return reactAgain(consumer, first.record, waiting, resuming)
  if ('refold' in consumer) return refold(consumer, consumer.refold, first, resuming)
  return handleWaiting(consumer, first, resuming)
}

const isWanted = ({ categories, types }: Consumer, { stream, type }: RecordedEvent): boolean =>
  (categories?.includes(categoryOf(stream)) ?? true) && (types?.includes(type) ?? true)

const reactAgain = async (
  consumer: Consumer & Reacting,
  record: string,
  waiting: readonly SetAside[],
  { upTo, save, signal }: Resuming,
): Promise<Resumed> => {
  const { name, eventLog, pool, recordOf = ({ stream }: RecordedEvent) => stream } = consumer
  const waitsFrom = new Map(waiting.map(({ stream, revision }) => [stream, revision]))
  /** True when the event has to wait for another record, which is set aside too. */
  const waitsElsewhere = async (event: RecordedEvent): Promise<boolean> => {
    const own = recordOf(event)
    if (own === record || !(await setAsideOf(pool, name, [own])).has(own)) return false
    await save((db) => setAside(db, name, [{ event, record: own }]))
    return true
  }
  for await (const { events } of waitingEvents(eventLog, waiting, upTo))
    for (const event of events) {
      signal.throwIfAborted()
      try {
        if (
          isWanted(consumer, event) &&
          (event.stream === record || recordOf(event) === record) &&
          !(await waitsElsewhere(event))
        ) {
          await consumer.react(event, signal, { resumed: true })
          // Each is saved separately. An event without an effect left no trace in its target, so it must not come
          // again after later events.
          await save((db) => waitFrom(db, name, record, new Map([[event.stream, event.revision + 1]])))
        }
      } catch (error) {
        if (signal.aborted || isRetriable(error)) throw error
        const failure = { event, reason: reasonOf(error) }
        await save((db) => setAsideAgain(db, name, record, waitsFrom, failure))
        return { record, failure }
      }
      waitsFrom.set(event.stream, event.revision + 1)
    }
  await save((db) => putBack(db, name, record))
  return { record }
}

/** Folds a record again from its first event, in one transaction. */
const refold = async (
  consumer: Consumer,
  fold: Refold,
  first: SetAside,
  { upTo, save }: Resuming,
): Promise<Resumed> => {
  const { name, eventLog } = consumer
  const { record, stream } = first
  let failures: readonly Failure[] = []
  const pages = async function* () {
    for await (const { events } of waitingEvents(eventLog, [{ stream, revision: 0 }], upTo))
      yield events.filter((event) => isWanted(consumer, event))
  }
  await save(async (db, last) => {
    const failed: Failure[] = []
    await fold(pages(), db, last, (event, error) => failed.push({ event, reason: reasonOf(error) }), upTo)
    const [failure] = failed
    await (failure ? setAsideAgain(db, name, record, new Map(), failure) : putBack(db, name, record))
    failures = failed
  }).catch(async (error: unknown) => {
    if (isRetriable(error)) throw error
    // The rows could not be written. What was written before stays, and the record waits where it waited.
    const [event] = await eventLog.read(stream, { from: first.revision, limit: 1 })
    if (!event) throw error
    const failure = { event, reason: reasonOf(error) }
    await save((db) => setAsideAgain(db, name, record, new Map(), failure))
    failures = [failure]
  })
  const [failure] = failures
  return { record, ...(failure && { failure }) }
}

/** Goes on with a record at the event at which it was set aside. */
const handleWaiting = async (
  consumer: Consumer & InTransaction,
  { record, stream, revision }: SetAside,
  { upTo, save }: Resuming,
): Promise<Resumed> => {
  const { name, eventLog } = consumer
  const work = async (events: readonly RecordedEvent[]) => {
    const handle = await handlerOf(consumer, events)
    const afterwards = await save(async (db, last) => {
      const failures: unknown[] = []
      const handled = await handle(events, db, last, (_event, error) => failures.push(error))
      if (failures.length > 0) throw failures[0]
      return handled
    })
    afterwards?.()
  }
  let waitsFrom = revision
  try {
    for await (const { events, next } of waitingEvents(eventLog, [{ stream, revision }], upTo)) {
      const wanted = events.filter((event) => isWanted(consumer, event) && event.revision >= waitsFrom)
      const handle = async (some: readonly RecordedEvent[]) => {
        const behind = (some.at(-1)?.revision ?? waitsFrom) + 1
        await work(some)
        waitsFrom = behind
      }
      if (wanted.length > 0) await bisect(wanted, upTo, handle)
      waitsFrom = next.get(stream) ?? waitsFrom
    }
  } catch (error) {
    if (!(error instanceof EventFailed)) throw error
    const failure = { event: error.event, reason: error.message }
    await save((db) => setAsideAgain(db, name, record, new Map(), failure))
    return { record, failure }
  }
  await save((db) => putBack(db, name, record))
  return { record }
}
