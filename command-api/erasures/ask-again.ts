import type { Leases } from '#infra/consumers/lease.ts'
import { repeatWhileLeased } from '#infra/consumers/leased-work.ts'
import type { Clock } from '#infra/clock.ts'
import type { Log } from '#infra/log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { Writer } from '../writing/handle.ts'

export type AskAgainDeps = {
  readonly writer: Writer
  readonly pool: Database
  readonly leases: Leases
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
}

type Erasures<Waiting> = {
  readonly name: string
  /** Those whose keys a start has destroyed again, and whose erasure is not asked for again yet. */
  readonly findWaiting: () => Promise<readonly Waiting[]>
  readonly ask: (waiting: Waiting) => Promise<unknown>
  /** Forgets those that the read models have forgotten. */
  readonly forgetFinished: () => Promise<unknown>
}

/** Asks again for the erasure of what a restored backup has brought back: one process at a time, until it is finished. */
export const askAgain = <Waiting extends object>(
  { leases, log, signal, pollMs = 1_000 }: AskAgainDeps,
  { name, findWaiting, ask, forgetFinished }: Erasures<Waiting>,
) => {
  const { check, finished } = repeatWhileLeased({
    name,
    leases,
    log,
    signal,
    turn: async () => {
      for (const waiting of await findWaiting())
        await ask(waiting).catch((error: unknown) => {
          log.warn({ error, waiting }, 'an erasure could not be asked for again yet')
        })
      await forgetFinished()
    },
    restMs: () => pollMs,
  })
  return { check: () => check(), finished }
}
