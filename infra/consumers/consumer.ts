import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '#domain/event.ts'
import { StaleCheckpoint, Superseded } from './failures.ts'
import { reasonOf } from '../reason.ts'
import type { Consumer } from './consumer-type.ts'
import { follow, measureLag } from './follow.ts'
import { backOff } from './leased-work.ts'
import { underLease } from './required-lease.ts'

export type { Consumer, ConsumerParts } from './consumer-type.ts'

export type ConsumerStatus = {
  readonly name: string
  readonly state: 'starting' | 'standing by' | 'catching up' | 'live' | 'failed' | 'stopped'
  readonly position: Position | undefined
  /** The reason why it stopped. */
  readonly failure?: { readonly message: string }
  /** The number of records that it has set aside, because of events that it cannot handle. */
  readonly setAside: number
  /** The version that it keeps up to date instead of the one in use, and for whose sake. */
  readonly beside?: string
  /** The reason why it cannot continue at the moment, and its start. It retries. */
  readonly problem?: { readonly since: Date; readonly reason: string }
}

/** A running consumer. */
export type Consuming = {
  readonly status: () => ConsumerStatus
  /** Resolves when the signal was aborted and all resources are released. */
  readonly finished: Promise<void>
}

const measureAgainMs = 1_000

/** The processes, by the leases that their consumers share, of which a newer version has taken something over. */
const superseded = new WeakSet<object>()

/**
 * Follows the log as the only active consumer of its name, over all processes: one holds the lease, the others are on
 * standby and take over when it ends. Errors of the database are retried. An event that cannot be handled sets its record
 * aside: the log, the status and the metrics report it, later events of the record wait, and all other records continue.
 * When an operator resumes the record, the waiting events are handled in their order. No event is skipped.
 */
export const consume = (consumer: Consumer): Consuming => {
  const { name, categories = [], leases, log, signal, awaitedIn } = consumer
  let state: ConsumerStatus['state'] = 'starting'
  let position: Position | undefined
  let failure: ConsumerStatus['failure']
  let problem: ConsumerStatus['problem']
  let attempts = 0
  let setAside = 0

  const passed = (to: Position | undefined) => {
    // The position never goes back, even if the stored checkpoint lags behind.
    if (to && (!position || to > position)) {
      position = to
      attempts = 0
      problem = undefined
    }
    awaitedIn?.passed(name, categories, position)
  }
  const caughtUp = () => {
    if (state !== 'live') log.info({ consumer: name, position }, 'consumer has caught up')
    state = 'live'
    problem = undefined
  }

  const work = async () => {
    failure = undefined
    await consumer.prepare?.()
    const lease = await leases.take(name, signal, () => {
      state = 'standing by'
    })
    if (!lease) return
    state = 'catching up'
    try {
      const working = AbortSignal.any([signal, lease.signal])
      const keepCount = (count: number) => {
        setAside = count
      }
      await underLease(lease, () => follow(consumer, working, { passed, caughtUp, setAside: keepCount }))
    } finally {
      await lease.release()
    }
  }

  const stop = async (error: Superseded) => {
    state = 'failed'
    failure = { message: error.message }
    // Every consumer of a process of the former version meets this in an upgrade, and nobody has to do anything.
    log[superseded.has(leases) ? 'debug' : 'info'](
      { consumer: name, reason: error.message },
      'a newer version has taken over: consumers of this process rest until it is replaced',
    )
    superseded.add(leases)
    while (!signal.aborted) {
      await pause(measureAgainMs, undefined, { signal }).catch(() => undefined)
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
          log.info({ consumer: name }, 'stale checkpoint: another instance moved it, so the consumer reads it again')
        else {
          attempts++
          state = 'starting'
          const reason = reasonOf(error)
          problem = { since: problem?.since ?? new Date(), reason }
          log.warn({ error, consumer: name }, 'consumer failed and retries')
          await backOff(attempts, signal)
        }
      }
    }
    state = 'stopped'
  }

  // From now on, commands wait for it.
  awaitedIn?.passed(name, categories, undefined)
  return {
    status: () => ({ name, state, position, setAside, ...(failure && { failure }), ...(problem && { problem }) }),
    finished: run(),
  }
}
