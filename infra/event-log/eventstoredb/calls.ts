import { setTimeout as pause } from 'node:timers/promises'
import { NotLeaderError } from '@eventstore/db-client'
import { LogMisconfigured, LogUnavailable } from '../event-log.ts'
import type { Connection } from './connection.ts'
import { nameOf } from './discovery.ts'
import { delayAfter, isRefusal, isTransient, reasonOf, refusalOf } from './failures.ts'
import type { Outages } from './outages.ts'
import type { Settings } from './settings.ts'
import { tlsFault } from './tls-fault.ts'

export type Limits = {
  /** The time that a call waits for its answer, and a read for each event, before it is tried again. */
  readonly attemptMs: number
  /** The time after which a call fails; the last attempt may add its own time and that of a discovery. */
  readonly wholeMs: number
  /** The time that a subscription may be silent before the log is asked what it lacks. */
  readonly silenceMs: number
  /** Appends that may be under way at the same time. */
  readonly appendsMaximum: number
}

/** A leader is elected within a few seconds; the caller of an API has its answer within 15. */
export const usualLimits: Limits = { attemptMs: 1_750, wholeMs: 11_000, silenceMs: 1_000, appendsMaximum: 1_000 }

type Kind = 'append' | 'read' | 'all'

const rights: Record<Kind, string> = {
  append: 'write to streams',
  read: 'read streams',
  all: 'read all events ($all)',
}

const retryDelayMaximumMs = 250

/** The time that calls go by. */
export type Time = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> }

export const realTime: Time = { now: () => Date.now(), pause: (milliseconds) => pause(milliseconds) }

export type Calls = ReturnType<typeof makeCalls>

/** Makes calls again after transient failures, and separates them from wrong settings and from errors of the caller. */
export const makeCalls = (
  connection: Connection,
  settings: Settings,
  limits: Limits,
  outages: Outages,
  time: Time = realTime,
) => {
  const hasWorked = new Set<Kind>()
  const failing = new Map<Kind, { readonly since: number; readonly last: number }>()
  const reading = outages.source()
  let looking: Promise<string | undefined> | undefined

  const worked = (kind: Kind) => {
    hasWorked.add(kind)
    failing.delete(kind)
    if (kind !== 'append') reading.succeeded()
  }

  /**
   * Throws `LogMisconfigured` when a failure lies with the settings. Settings that worked before are not blamed: a
   * password may be changed and a certificate replaced while the service runs, which it then waits for.
   */
  const checkSettings = async (kind: Kind, error: unknown): Promise<void> => {
    if (hasWorked.has(kind)) return
    if (isRefusal(error)) throw new LogMisconfigured(`EVENTSTOREDB_URL: ${refusalOf(error, rights[kind])}`)
    if (hasWorked.size > 0) return
    looking ??= tlsFault(settings).finally(() => (looking = undefined))
    const fault = await looking
    if (fault !== undefined) throw new LogMisconfigured(`EVENTSTOREDB_URL: ${fault}`)
  }

  /** Undefined also when no call was made recently: then it is not known. */
  const failingSince = (kind: Kind): number | undefined => {
    const { since, last = 0 } = failing.get(kind) ?? {}
    return time.now() - last < limits.wholeMs ? since : undefined
  }

  const failed = (kind: Kind, error: unknown) => {
    failing.set(kind, { since: failingSince(kind) ?? time.now(), last: time.now() })
    if (kind !== 'append') reading.failed(error)
  }

  const unavailable = (error: unknown) =>
    new LogUnavailable(`EventStoreDB at ${settings.hosts.map(nameOf).join(', ')}: ${reasonOf(error)}`, { cause: error })

  /** During a long outage each call has a single attempt, so that those who wait do not pile up. */
  const call = async <Result>(kind: Kind, act: () => Promise<Result>): Promise<Result> => {
    const until = (failingSince(kind) ?? time.now()) + limits.wholeMs
    let previous: unknown
    for (let failures = 1; ; failures += 1) {
      const channel = connection.channel()
      const begunAt = time.now()
      try {
        const result = await act()
        channel.answeredAt = time.now()
        worked(kind)
        return result
      } catch (error) {
        const isRefused = isRefusal(error)
        if (!isRefused && !isTransient(error)) {
          worked(kind)
          throw error
        }
        await checkSettings(kind, error)
        failed(kind, error)
        if (isRefused) throw unavailable(error)
        connection.leave(channel, error, begunAt)
        // The new leader is known, unless two nodes name each other.
        const isKnown = error instanceof NotLeaderError && !(previous instanceof NotLeaderError)
        const delayMs = isKnown ? 0 : delayAfter(failures, retryDelayMaximumMs)
        if (time.now() + delayMs >= until) throw unavailable(error)
        await time.pause(delayMs)
        previous = error
      }
    }
  }

  return { call, worked, checkSettings, unavailable }
}
