import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import type { Metrics } from '#infra/metrics.ts'
import { releaseInOrder } from '../sending/queue.ts'

type Parts = {
  readonly pool: Pool
  readonly log: Log
  readonly metrics: Metrics
  readonly signal: AbortSignal
  /** Called when in a moment there will be something to send. */
  readonly onReleased: () => void
}

const everyMs = 2_000
const countEvery = 8

/** Releases what waits for its turn in vain, and counts what failed. */
export const startReleasingStuck = ({
  pool,
  log,
  metrics,
  signal,
  onReleased,
}: Parts): { readonly finished: Promise<void> } => {
  const run = async () => {
    for (let round = 0; !signal.aborted; round++) {
      try {
        if (await releaseInOrder(pool)) onReleased()
        if (round % countEvery === 0) await count(pool, metrics)
      } catch (error) {
        log.warn({ error }, 'watching deliveries failed, trying again')
      }
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return { finished: run() }
}

const count = async (pool: Pool, metrics: Metrics): Promise<void> => {
  const { rows } = await pool.query<{ failed: number; disabled: number }>(`
    select (select count(*) from (
        select from delivery where unsent_at is not null and state = 'failed' limit 10000) as failed)::integer as failed,
      (select count(*) from delivery_setting where disabled_at is not null)::integer as disabled`)
  metrics.deliveriesFailed.set(rows[0]?.failed ?? 0)
  metrics.connectionsDisabled.set(rows[0]?.disabled ?? 0)
}
