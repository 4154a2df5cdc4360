import type { Pool } from 'pg'
import { sql, transaction, withDeadline } from '#infra/postgres/postgres.ts'
import { makeLocks } from './locks.ts'

const waitedMs = 12_000

/** Asks if the turn is still one's own: the lock ends with its connection. */
export type RequireTurn = () => Promise<void>

/**
 * Lets work of one kind that concerns the same key be done one after the other, in all processes. Whoever has the turn keeps a
 * connection, and needs another: so that not all that the process has are taken, each process does one piece of work at a time.
 */
export const makeAlone = (pool: Pool, kind: string) => {
  const inTurn = makeLocks()

  const alone = <Result>(key: string, work: (requireTurn: RequireTurn) => Promise<Result>) =>
    transaction(pool, async (db) => {
      await db.query(sql`select set_config('idle_in_transaction_session_timeout', '60s', true)`)
      const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} ${key}`}, 0))`
      await db.query(withDeadline(lock, waitedMs))
      return work(async () => {
        await db.query(withDeadline(sql`select`, 2_000))
      })
    })

  return <Result>(key: string, work: (requireTurn: RequireTurn) => Promise<Result>) =>
    inTurn([kind], () => alone(key, work))
}

export type Alone = ReturnType<typeof makeAlone>
