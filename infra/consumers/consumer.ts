import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/event.ts'
import { isRecordedAsFailed, recordFailure, resumeConsumer, type Failure } from './checkpoint.ts'
import { EventFailed, follow, measureLag, StaleCheckpoint, Superseded, type Consumer } from './follow.ts'
import { notifier } from '../notifier.ts'

export type { Consumer, ConsumerParts } from './follow.ts'

export type ConsumerStatus = {
  readonly name: string
  readonly state: 'starting' | 'standing by' | 'catching up' | 'live' | 'failed' | 'stopped'
  readonly position: Position | undefined
  /** Why it stopped, and at which event. */
  readonly failure?: { readonly message: string } & Partial<Failure>
  /** Why it cannot go on at the moment, and since when. It tries again by itself. */
  readonly trouble?: { readonly since: Date; readonly reason: string }
}

/** A consumer at work. */
export type Consuming = {
  readonly status: () => ConsumerStatus
  /** Tries again after a failure. */
  readonly resume: () => Promise<void>
  /** Resolves when the signal was aborted and everything is let go. */
  readonly finished: Promise<void>
}

const lookAgainMs = 1_000

/**
 * Follows the log as the only one of its name, in this process and all others: one works, the others stand by and take
 * over when it dies. Trouble with the database is waited out. At an event that cannot be handled it stops, says so in
 * the log, in its status and in the table of checkpoints, and never skips it: it tries again when it is resumed or
 * started anew, here or elsewhere.
 */
export const consume = (consumer: Consumer): Consuming => {
  const { name, categories, pool, leases, log, signal, awaitedIn } = consumer
  const resumed = notifier()
  let state: ConsumerStatus['state'] = 'starting'
  let position: Position | undefined
  let failure: ConsumerStatus['failure']
  let trouble: ConsumerStatus['trouble']
  let attempts = 0

  const passed = (to: Position | undefined) => {
    // What it has passed, it has passed, even if its checkpoint lags behind.
    if (to && (!position || to > position)) {
      position = to
      attempts = 0
      trouble = undefined
    }
    awaitedIn?.passed(name, categories, position)
  }
  const caughtUp = () => {
    if (state !== 'live') log.info({ consumer: name, position }, 'consumer has caught up')
    state = 'live'
    trouble = undefined
  }

  const work = async () => {
    failure = undefined
    await consumer.prepare?.()
    state = 'standing by'
    const lease = await leases.take(name, signal)
    if (!lease) return
    state = 'catching up'
    try {
      await follow(consumer, AbortSignal.any([signal, lease.signal]), { passed, caughtUp })
    } finally {
      await lease.release()
    }
  }

  const stopAndTell = async (error: EventFailed | Superseded) => {
    state = 'failed'
    const event = error instanceof EventFailed ? error.event : undefined
    const told = event && { event_id: event.id, type: event.type, stream: event.stream, message: error.message }
    failure = told ?? { message: error.message }
    log.error({ consumer: name, ...told, error: error.cause ?? error }, 'consumer stopped and does not go on by itself')
    if (told) await recordFailure(pool, name, told)
    while (failure && !signal.aborted) {
      await resumed.wait(lookAgainMs)
      if (told && !(await isRecordedAsFailed(pool, name).catch(() => true))) failure = undefined
      await measureLag(consumer, position).catch(() => undefined)
    }
  }

  const run = async () => {
    while (!signal.aborted) {
      try {
        await work().catch((error: unknown) => {
          if (error instanceof EventFailed || error instanceof Superseded) return stopAndTell(error)
          throw error
        })
      } catch (error) {
        if (error instanceof StaleCheckpoint)
          log.info({ consumer: name }, 'consumer was overtaken and looks where it stands')
        else {
          attempts++
          state = 'starting'
          const reason = error instanceof Error ? error.message : String(error)
          trouble = { since: trouble?.since ?? new Date(), reason }
          log.warn({ error, consumer: name }, 'consumer ran into trouble and tries again')
          await pause(Math.random() * Math.min(100 * 2 ** attempts, 5_000), undefined, { signal }).catch(
            () => undefined,
          )
        }
      }
    }
    state = 'stopped'
  }

  // Commands wait for it from now on.
  awaitedIn?.passed(name, categories, undefined)
  signal.addEventListener('abort', resumed.notify)
  return {
    status: () => ({ name, state, position, ...(failure && { failure }), ...(trouble && { trouble }) }),
    resume: async () => {
      if (!failure) return
      await resumeConsumer(pool, name)
      failure = undefined
      resumed.notify()
    },
    finished: run(),
  }
}
