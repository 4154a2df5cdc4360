import type { Pool } from 'pg'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql, transaction, withDeadline } from '#infra/postgres/postgres.ts'
import type { Turns } from './turns.ts'

/** For the turn in this process and the one among all processes together. */
const waitedMs = 12_000

export type Turn = {
  /** A connection: all that is written with it is stored when the turn ends, and only if it was not lost before. */
  readonly db: Database
  /** Throws where the turn was lost: the lock ends with its connection. */
  readonly require: () => Promise<void>
}

/** Lets work of one kind that concerns the same key be done one after the other, in all processes. */
export const makeAlone =
  ({ pool, turns }: { readonly pool: Pool; readonly turns: Turns }, kind: string) =>
  <Result>(key: string, work: (turn: Turn) => Promise<Result>) =>
    turns(key, waitedMs, async (leftMs) =>
      transaction(pool, async (db) => {
        await db.query(sql`select set_config('idle_in_transaction_session_timeout', '60s', true)`)
        const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} ${key}`}, 0))`
        await db.query(withDeadline(lock, leftMs))
        return work({
          db,
          require: async () => {
            await db.query(withDeadline(sql`select`, 2_000))
          },
        })
      }),
    )

export type Alone = ReturnType<typeof makeAlone>
