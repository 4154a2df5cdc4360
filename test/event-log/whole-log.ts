import type { Pool } from 'pg'
import { vi } from 'vitest'
import type { EventLog } from '#infra/event-log/event-log.ts'

/**
 * The log of a test on PostgreSQL whose `readAll` and `head` wait until all that was appended before can be seen: any open
 * transaction on the server, another test's too, hides for a while what was appended after it began.
 */
export const wholeLog = <Log extends Pick<EventLog, 'readAll' | 'head'>>(log: Log, pool: Pool): Log => {
  const isVisible = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ is_visible: boolean }>(`
      select not exists (
        select from event_log.event, event_log.state
        where event.transaction_id >=
          pg_snapshot_xmin(pg_current_snapshot())::text::bigint + state.transaction_offset) as is_visible`)
    return rows[0]?.is_visible === true
  }
  const visible = () => vi.waitUntil(isVisible, { timeout: 60_000, interval: 5 })
  return {
    ...log,
    readAll: async (page) => {
      await visible()
      return log.readAll(page)
    },
    head: async () => {
      await visible()
      return log.head()
    },
  }
}
