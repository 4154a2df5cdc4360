import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { withDeadline } from '../../postgres/postgres.ts'

type Parts = {
  readonly pool: Pool
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'heldBack'>
  readonly signal: AbortSignal
}

const everyMs = 10_000
const withinMs = 2_000
const remarkableSeconds = 30

/**
 * The seconds for which the oldest event has been stored that nobody can read yet, because a transaction that began to append
 * before it is still open; 0 when there is none.
 */
export const heldBackSeconds = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const text = `
    with settled as materialized (select event_log.horizon() as horizon)
    select extract(epoch from clock_timestamp() - recorded_at)::float8 as seconds from event_log.event
    where transaction_id >= (select horizon from settled) order by transaction_id, position limit 1`
  const { rows } = await pool.query<{ seconds: number }>(withDeadline({ text }, withinMs))
  return Math.max(0, rows[0]?.seconds ?? 0)
}

/** Measures it again and again, and says in the log when it has lasted so long that somebody should look. */
export const watchHeldBack = async ({ pool, log, metrics, signal }: Parts): Promise<void> => {
  while (!signal.aborted) {
    // While PostgreSQL is away, others say so.
    const seconds = await heldBackSeconds(pool).catch(() => 0)
    metrics.heldBack.set(seconds)
    if (seconds > remarkableSeconds)
      log.warn({ seconds: Math.round(seconds) }, 'an append that stays open holds up all that follows the log')
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
