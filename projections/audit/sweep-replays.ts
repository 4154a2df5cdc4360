import { setTimeout as pause } from 'node:timers/promises'
import type { ConsumerParts } from '#infra/consumers/consumer.ts'
import { dropDueReplays } from './replay-schemas.ts'

type Parts = Pick<ConsumerParts, 'pool' | 'log' | 'signal'> & {
  /** The time between two looks; tests wait less. */
  readonly pollMs?: number
}

/** Drops replays whose time has come, until the signal is aborted. Several processes may do so at once. */
export const sweepReplays = async ({ pool, log, signal, pollMs = 1_000 }: Parts): Promise<void> => {
  while (!signal.aborted) {
    await dropDueReplays(pool).catch((error: unknown) => {
      log.warn({ error }, 'a replay cannot be dropped yet, trying again')
    })
    await pause(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
