import type { Pool } from 'pg'
import { sql, transaction, withDeadline } from '#infra/postgres/postgres.ts'
import { makeLocks } from '../writing/locks.ts'

const waitedMs = 12_000

/**
 * Legal holds of an organisation are placed, and keys of its people destroyed, one after the other, in all processes: a hold comes
 * before the last look for holds, or after the destruction. A hold on one person also keeps whoever shares a record with them, so
 * that each person on their own would not do.
 */
export const makeHoldOrErase = (pool: Pool) => {
  const inTurn = makeLocks()

  const alone = <Result>(organisation_id: string, act: (requireTurn: () => Promise<void>) => Promise<Result>) =>
    transaction(pool, async (db) => {
      await db.query(sql`select set_config('idle_in_transaction_session_timeout', '60s', true)`)
      const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`holds and erasures ${organisation_id}`}, 0))`
      await db.query(withDeadline(lock, waitedMs))
      // The lock ends with its connection.
      return act(async () => {
        await db.query(withDeadline(sql`select`, 2_000))
      })
    })

  // Whoever has the turn keeps a connection, and needs another: several at once would take all that the process has.
  return <Result>(organisation_id: string, act: (requireTurn: () => Promise<void>) => Promise<Result>) =>
    inTurn(['holds and erasures'], () => alone(organisation_id, act))
}

export type HoldOrErase = ReturnType<typeof makeHoldOrErase>
