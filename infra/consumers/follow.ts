import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { beyond, type Batch } from '../event-log/event-log.ts'
import { settlesWithin } from '../timeout.ts'
import type { Consumer } from './consumer-type.ts'
import {
  beginFollowing,
  countAside,
  isUnsaved,
  passOver,
  save,
  saveAfterMsOf,
  saveOnly,
  type FollowCallbacks,
  type Following,
  type Runner,
} from './following.ts'
import { handling } from './handling.ts'
import { inTurns } from './in-turns.ts'
import { reacting } from './reacting.ts'
import { resumeNext } from './resume.ts'
import { logSetAside } from './set-aside.ts'
import { writingChanges } from './write-changes.ts'

const lookAgainMs = 500
const restPerEventMs = 5
const measureAfterMs = 1_000
const readAheadSize = 1_000

/**
 * Hands the events of the log to a consumer, from its checkpoint until the signal is aborted. What others have written
 * moves it on too, but the checkpoint only once in a while: to read over such events again costs nothing.
 */
export const follow = async (consumer: Consumer, signal: AbortSignal, callbacks: FollowCallbacks): Promise<void> => {
  const following = await beginFollowing(consumer, signal, callbacks)
  const runner = runnerOf(following)
  const ending = new AbortController()
  const batches = read(following, ending)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const coming = batches.next()
      coming.catch(() => undefined)
      await saveUntil(coming, following, runner)
      const next = await coming
      if (next.done) break
      const begunAt = performance.now()
      const { caughtUp, events } = next.value
      await handOver(next.value, following, runner)
      await resumeRequested(following, runner)
      await measureNowAndThen(following, caughtUp)
      if (caughtUp) callbacks.caughtUp()
      const restMs = restOf(consumer, caughtUp ? events.length : 0, performance.now() - begunAt)
      if (restMs > 0) await pause(restMs, undefined, { signal }).catch(() => undefined)
    }
    if (!signal.aborted) throw new OwnError('The log has ended the subscription.')
    await runner.settle?.()
    if (following.position && isUnsaved(following)) await saveOnly(following, following.position)
  } finally {
    ending.abort()
    await batches.return?.().catch(() => undefined)
  }
}

const runnerOf = (following: Following): Runner => {
  const { consumer } = following
  if ('changeOf' in consumer) return writingChanges(following, consumer)
  return 'react' in consumer ? reacting(following, consumer) : handling(following, consumer)
}

/** The batches of a consumer, from its position; where queues take turns, in their order. */
const read = ({ consumer, position, signal }: Following, ending: AbortController): AsyncIterable<Batch> => {
  const { eventLog, types, categories, batchSize = 1_000 } = consumer
  const queueOf = 'react' in consumer ? consumer.queueOf : undefined
  const batches = eventLog.subscribe({
    ...(position !== undefined && { after: position }),
    ...(types && { types }),
    ...(categories && { categories }),
    batchSize: queueOf ? readAheadSize : batchSize,
    isAwaited: consumer.awaitedIn !== undefined,
    signal: AbortSignal.any([signal, ending.signal]),
  })
  if (!queueOf) return batches
  return inTurns(batches, { queueOf, read: eventLog.read, end: () => ending.abort(), batchSize })
}

/** While the next batch is awaited, what is not saved yet is saved, and records that are to be resumed are. */
const saveUntil = async (coming: Promise<unknown>, following: Following, runner: Runner): Promise<void> => {
  const isToBeSaved = () => runner.underWayTo?.() !== undefined || isUnsaved(following)
  const afterMs = saveAfterMsOf(following.consumer)
  while ((isToBeSaved() || following.setAside > 0) && !(await settlesWithin(coming, afterMs))) {
    await runner.settle?.()
    if (following.position && isUnsaved(following)) await saveOnly(following, following.position)
    await resumeRequested(following, runner)
  }
}

const handOver = async (batch: Batch, following: Following, runner: Runner): Promise<void> => {
  const { name, metrics } = following.consumer
  const { events, position: to, caughtUp } = beyond(runner.underWayTo?.() ?? following.position, batch)
  if (events.length === 0) {
    await runner.settle?.()
    return passOver(following, to)
  }
  await runner.handle(events, to, caughtUp)
  metrics?.projectedEvents.inc({ projection: name }, events.length)
}

const resumeRequested = async (following: Following, { settle, forget, mayResume }: Runner): Promise<void> => {
  if (following.setAside === 0 || performance.now() - following.checkedAt < lookAgainMs || mayResume?.() === false)
    return
  following.checkedAt = performance.now()
  const { consumer, signal } = following
  const { name, log } = consumer
  await settle?.()
  while (following.position !== undefined && !signal.aborted) {
    const upTo = following.position
    const resumed = await resumeNext(consumer, { upTo, save: (work) => save(following, upTo, work), signal })
    if (!resumed) return
    forget?.()
    const { record, failure } = resumed
    if (failure) logSetAside(log, name, [{ ...failure, record }])
    else log.info({ consumer: name, record }, 'record resumed')
    await countAside(following)
  }
}

/** After so much work under heavy traffic: one part of it, nine of rest, so that even for hours a consumer is never stopped. */
const givenWayMs = (workMs: number): number => Math.min(1_000, 9 * workMs)

/** Events that wait already are handled together without a rest. */
const restOf = ({ restMs = 0, givesWayTo }: Consumer, lastEvents: number, workMs: number): number => {
  const usual = Math.min(restMs, restPerEventMs * lastEvents)
  return givesWayTo?.isHeavy() ? Math.max(usual, givenWayMs(workMs)) : usual
}

const measureNowAndThen = async (following: Following, isAtEnd: boolean): Promise<void> => {
  if (!isAtEnd && performance.now() - following.measuredAt < measureAfterMs) return
  following.measuredAt = performance.now()
  await measureLag(following.consumer, following.position, isAtEnd)
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
