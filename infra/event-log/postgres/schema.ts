import type { Pool } from 'pg'
import { sql } from '../../postgres/postgres.ts'

/**
 * Every process calls this before it uses the log, whose tables the migrations have made. After a restore into a server
 * that has run fewer transactions, new events then still come after the old ones. After an upgrade, appends of the former
 * version that are still under way hold readers up like all that write, for some seconds from here.
 */
export const prepareLog = async (pool: Pool): Promise<void> => {
  await pool.query(sql`
    update event_log.state set transaction_offset = next.transaction_offset
    from (
      select max(event.transaction_id) + 1 - pg_snapshot_xmax(pg_current_snapshot())::text::bigint as transaction_offset
      from event_log.event event) as next
    where next.transaction_offset > state.transaction_offset`)
  await pool.query(sql`
    update event_log.state set locks_first_since = clock_timestamp() where locks_first_since is null`)
}
