import { setTimeout as pause } from 'node:timers/promises'
import type { Leases } from '#infra/consumers/lease.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import type { Check } from '#infra/http/health.ts'
import type { Log } from '#infra/log.ts'
import { reasonOf } from '#infra/reason.ts'
import { takeTurns } from '#infra/turns.ts'
import type { QueuedWork } from './queue.ts'

type Busy = Awaited<ReturnType<QueuedWork['streams']>>[number]

type Parts = {
  readonly queue: Pick<QueuedWork, 'streams'>
  /** Does what a stream has to do now, until the signal is aborted. */
  readonly work: (stream_id: string, signal: AbortSignal) => Promise<void>
  /** True where a stream can do anything: one that waits, such as a paused one, takes no place. */
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

  const begin = ({ organisation_id, stream_id }: Busy, ending: AbortSignal): void => {
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
    turns.delete(stream_id)
    turns.add(stream_id)
  }

  /** Streams that had to wait for a place come first the next time. */
  const turns = new Set<string>()
  const sweep = async (ending: AbortSignal): Promise<void> => {
    const found = (await queue.streams()).filter(({ stream_id }) => canWork(stream_id))
    const busy = new Map(found.map((each) => [each.stream_id, each]))
    for (const stream_id of turns) if (!busy.has(stream_id)) turns.delete(stream_id)
    for (const stream_id of busy.keys()) turns.add(stream_id)
    const idle = [...turns].flatMap((stream_id) => (underWay.has(stream_id) ? [] : (busy.get(stream_id) ?? [])))
    const waiting = Map.groupBy(idle, ({ organisation_id }) => organisation_id)
    const beginOneOf = (organisation_id: string): Busy | undefined => {
      const own = [...underWay.values()].filter((each) => each.organisation_id === organisation_id)
      const next = own.length < most.each ? waiting.get(organisation_id)?.shift() : undefined
      if (next) begin(next, ending)
      return next
    }
    takeTurns(new Set(waiting.keys()), beginOneOf, most.all - underWay.size)
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
