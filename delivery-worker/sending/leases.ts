import type { Pool } from 'pg'
import { sql } from '#infra/postgres/postgres.ts'

/**
 * The time for which a worker has a delivery, and a failing connection its probe, before it renews them. A killed worker's
 * deliveries are free again so soon. A send begins 2.5 s after its claim at the latest and is renewed every 2 s, so that one
 * renewal may fail, and no other worker claims what is still being sent.
 */
export const leaseSeconds = 8
/** A worker that was stopped no longer sends what it claimed so long ago, shortly before another may claim it. */
export const believedMs = 7_000
/** And what is still under way then is ended: nobody sends it at the same time as another. */
export const endedMs = 7_500
/** Added at random, so that the deliveries that were lost with a worker are not claimed together again. */
export const leaseSpreadSeconds = 2
export const renewEveryMs = 2_000

/** A delivery that this worker claimed, and the number of its attempt. */
export type LeasedDelivery = { readonly id: string; readonly number: number }

/**
 * Keeps what this worker is still sending from others, and with it the probes of failing connections. What another worker
 * has claimed since is left alone, and so is what is being changed at this moment: it has ended, or its turn comes again.
 */
export const renewLeases = async (pool: Pool, sends: readonly LeasedDelivery[]): Promise<void> => {
  await pool.query({
    ...sql`
    with held as materialized (
      select found.* from unnest(${sends.map(({ id }) => id)}::uuid[], ${sends.map(({ number }) => number)}::integer[])
        as sent (id, number)
      cross join lateral (
        select id, connection_id from delivery_queue as queue
        where queue.id = sent.id and started_at is not null and attempts_before + queue.sent + unsent + 1 = sent.number
        for update skip locked) as found
    ), probes as materialized (
      select connection_id from delivery_endpoint
      where connection_id = any (array(select connection_id from held)) and state = 'half_open'
      for update skip locked
    ), probing as (
      update delivery_endpoint set probe_until = now() + make_interval(secs => ${leaseSeconds})
      where connection_id = any (array(select connection_id from probes))
    )
    update delivery_queue set leased_until = now() + make_interval(secs => ${leaseSeconds})
    where id = any (array(select id from held))`,
    name: 'delivery-renew',
  })
}

/**
 * Gives back what was claimed and is not sent: it is due at once, and no attempt was made. What another worker has claimed
 * since is left alone.
 */
export const releaseUnsent = async (pool: Pool, unsent: readonly LeasedDelivery[]): Promise<void> => {
  await pool.query(sql`
    update delivery_queue as queue set leased_until = null, started_at = null, is_counted = false
    from unnest(${unsent.map(({ id }) => id)}::uuid[], ${unsent.map(({ number }) => number)}::integer[])
      as given (id, number)
    where queue.id = given.id and started_at is not null and attempts_before + sent + unsent + 1 = given.number`)
}
