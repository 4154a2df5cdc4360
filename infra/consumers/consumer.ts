import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/event.ts'
import { StaleCheckpoint, Superseded } from './failures.ts'
import type { Consumer } from './consumer-type.ts'
import { follow, measureLag } from './follow.ts'

export type { Consumer, ConsumerParts } from './consumer-type.ts'

export type ConsumerStatus = {
  readonly name: string
  readonly state: 'starting' | 'standing by' | 'catching up' | 'live' | 'failed' | 'stopped'
  readonly position: Position | undefined
  /** Why it stopped. */
  readonly failure?: { readonly message: string }
  /** How many records it has set aside, because of events that it cannot handle. */
  readonly setAside: number
  /** Why it cannot go on at the moment, and since when. It tries again by itself. */
  readonly trouble?: { readonly since: Date; readonly reason: string }
}

/** A consumer at work. */
export type Consuming = {
  readonly status: () => ConsumerStatus
  /** Resolves when the signal was aborted and everything is let go. */
  readonly finished: Promise<void>
}

const lookAgainMs = 1_000

/**
 * Follows the log as the only one of its name, in this process and all others: one works, the others stand by and take
 * over when it dies. Trouble with the database is waited out. An event that cannot be handled sets its record aside: that
 * is said in the log of the process, in the status and in the metrics, later events of the record wait, and all other
 * records go on. When an operator resumes the record, what waits is handled in its order. Nothing is skipped.
 */
export const consume = (consumer: Consumer): Consuming => {
  const { name, categories, leases, log, signal, awaitedIn } = consumer
  let state: ConsumerStatus['state'] = 'starting'
  let position: Position | undefined
  let failure: ConsumerStatus['failure']
  let trouble: ConsumerStatus['trouble']
  let attempts = 0
  let setAside = 0

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
      await follow(consumer, AbortSignal.any([signal, lease.signal]), {
        passed,
        caughtUp,
        setAside: (count) => {
          setAside = count
        },
      })
    } finally {
      await lease.release()
    }
  }

  const stop = async (error: Superseded) => {
    state = 'failed'
    failure = { message: error.message }
    log.error({ consumer: name, error }, 'consumer stopped and does not go on by itself')
    while (!signal.aborted) {
      await pause(lookAgainMs, undefined, { signal }).catch(() => undefined)
      await measureLag(consumer, position).catch(() => undefined)
    }
  }

  const run = async () => {
    while (!signal.aborted) {
      try {
        await work().catch((error: unknown) => {
          if (error instanceof Superseded) return stop(error)
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
  return {
    status: () => ({ name, state, position, setAside, ...(failure && { failure }), ...(trouble && { trouble }) }),
    finished: run(),
  }
}
