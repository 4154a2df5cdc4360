import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { reasonOf } from '../reason.ts'
import type { Lease, Leases } from './lease.ts'
import { underLease } from './required-lease.ts'

type LeasedWork = {
  /** The name of the lease, also in the log. */
  readonly name: string
  readonly leases: Leases
  readonly log: Log
  readonly signal: AbortSignal
  /** Works until the signal is aborted: that of the process, or because the lease has ended. Calls `wentWell` now and then. */
  readonly work: (signal: AbortSignal, wentWell: () => void) => Promise<void>
}

const mostMs = 5_000

/** Waits before something is tried again, longer with each attempt that failed, and for random times, so that processes spread. */
export const backOff = (failures: number, signal: AbortSignal): Promise<void> =>
  pause(Math.random() * Math.min(100 * 2 ** failures, mostMs), undefined, { signal }).catch(() => undefined)

/** Has one process at a time do something, for as long as it holds the lease; what fails is tried again. */
export const workWhileLeased = ({ name, leases, log, signal, work }: LeasedWork) => {
  let failures = 0
  let outage: string | undefined
  const wentWell = () => {
    failures = 0
    outage = undefined
  }

  const run = async () => {
    while (!signal.aborted) {
      let lease: Lease | undefined
      try {
        // While another process does the work, what went wrong here before does not matter.
        const taken = await leases.take(name, signal, wentWell)
        if (!taken) return
        lease = taken
        await underLease(taken, () => work(AbortSignal.any([signal, taken.signal]), wentWell))
      } catch (error) {
        failures++
        outage = reasonOf(error)
        log.warn({ error }, `${name} failed, trying again`)
      } finally {
        await lease?.release()
      }
      if (outage !== undefined) await backOff(failures, signal)
    }
  }

  return {
    /** The reason why it cannot go on at the moment. */
    outage: () => outage,
    finished: run(),
  }
}

type RepeatedWork = Omit<LeasedWork, 'work'> & {
  readonly turn: (signal: AbortSignal) => Promise<void>
  /** The rest after a turn that took so long. */
  readonly restMs: (workedMs: number) => number
}

/** Has one process at a time do something turn by turn, with a rest after each. */
export const repeatWhileLeased = ({ turn, restMs, ...leased }: RepeatedWork) => {
  const { outage, finished } = workWhileLeased({
    ...leased,
    work: async (working, wentWell) => {
      while (!working.aborted) {
        const begun = performance.now()
        await turn(working)
        wentWell()
        await pause(restMs(performance.now() - begun), undefined, { signal: working }).catch(() => undefined)
      }
    },
  })
  return {
    /** Ready unless it cannot go on; `failed` is told beside, where a part of the work did. */
    check: (failed?: string) => {
      const detail = outage() ?? failed
      return { name: leased.name, ok: outage() === undefined, ...(detail !== undefined && { detail }) }
    },
    finished,
  }
}
