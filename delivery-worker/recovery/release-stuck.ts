import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import type { Metrics } from '#infra/metrics.ts'
import { withDeadline } from '#infra/postgres/postgres.ts'
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
        if (round % countEvery === 0) await countDeliveries(pool, metrics)
      } catch (error) {
        log.warn({ error }, 'watching deliveries failed, trying again')
      }
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return { finished: run() }
}

const withinMs = 5_000

const text = `
  select (select count(*) from (
      select from delivery where unsent_at is not null and state = 'failed' limit 10000) as failed)::integer as failed,
    (select count(*) from (
      select from delivery_queue as queue left join delivery_endpoint as endpoint using (connection_id)
      where due_at <= now() - interval '1 s' and (leased_until is null or leased_until <= now())
        and coalesce(endpoint.state in ('closed', 'slow'), true)
      limit 10000) as due)::integer as due,
    (select count(*) from delivery_setting where disabled_at is not null)::integer as disabled`

/** Shows what waits, what failed, and over which connections nothing is sent. */
export const countDeliveries = async (pool: Pool, metrics: Metrics): Promise<void> => {
  const { rows } = await pool.query<{ failed: number; due: number; disabled: number }>(withDeadline({ text }, withinMs))
  metrics.deliveriesFailed.set(rows[0]?.failed ?? 0)
  metrics.deliveriesDue.set(rows[0]?.due ?? 0)
  metrics.connectionsDisabled.set(rows[0]?.disabled ?? 0)
}
