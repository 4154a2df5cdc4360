import { setTimeout as pause } from 'node:timers/promises'
import type { Leases } from '#infra/consumers/lease.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import type { Check } from '#infra/http/health.ts'
import type { Log } from '#infra/log.ts'
import { reasonOf } from '#infra/reason.ts'
import type { QueuedWork } from './queue.ts'

type Parts = {
  readonly queue: Pick<QueuedWork, 'streams'>
  /** Does what a stream has to do now, until the signal is aborted. */
  readonly work: (stream_id: string, signal: AbortSignal) => Promise<void>
  /** Whether a stream can do anything: one that waits, such as a paused one, takes no place. */
  readonly canWork: (stream_id: string) => boolean
  readonly leases: Leases
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
}

export type RunningOutreach = { readonly check: () => Check; readonly finished: Promise<void> }

/** Streams at work at once: for all organisations together, and for each. */
const most = { all: 32, each: 4 }

/**
 * Has outreach streams draft and send what is due, in one process at a time. A stream goes on by itself and is passed over
 * while it does, so that a slow writer or channel of one delays no other.
 */
export const runOutreach = ({ queue, work, canWork, leases, log, signal, pollMs = 1_000 }: Parts): RunningOutreach => {
  const underWay = new Map<string, { readonly organisation_id: string; readonly finished: Promise<void> }>()
  let failed: string | undefined

  const begin = (organisation_id: string, stream_id: string, ending: AbortSignal): void => {
    const own = [...underWay.values()].filter((each) => each.organisation_id === organisation_id)
    if (underWay.has(stream_id) || underWay.size >= most.all || own.length >= most.each) return
    const finished = work(stream_id, ending)
      .then(() => {
        failed = undefined
      })
      .catch((error: unknown) => {
        failed = reasonOf(error)
        log.warn({ error, stream_id, organisation_id }, 'outreach stream failed and is tried again')
      })
      .finally(() => underWay.delete(stream_id))
    underWay.set(stream_id, { organisation_id, finished })
  }

  /** Those that had to wait for a place come first the next time. */
  let turn = 0
  const sweep = async (ending: AbortSignal): Promise<void> => {
    const busy = (await queue.streams()).filter(({ stream_id }) => canWork(stream_id))
    turn = busy.length === 0 ? 0 : (turn + most.all) % busy.length
    const inTurn = [...busy.slice(turn), ...busy.slice(0, turn)]
    for (const { organisation_id, stream_id } of inTurn) begin(organisation_id, stream_id, ending)
  }

  const sweepAgainAndAgain = async (ending: AbortSignal, wentWell: () => void): Promise<void> => {
    while (!ending.aborted) {
      await sweep(ending)
      wentWell()
      await pause(pollMs, undefined, { signal: ending }).catch(() => undefined)
    }
  }

  const { outage, finished } = workWhileLeased({ name: 'outreach', leases, log, signal, work: sweepAgainAndAgain })

  return {
    check: () => {
      const detail = outage() ?? failed
      return { name: 'outreach', ok: outage() === undefined, ...(detail !== undefined && { detail }) }
    },
    finished: finished.then(async () => {
      await Promise.all([...underWay.values()].map(async (each) => each.finished))
    }),
  }
}
