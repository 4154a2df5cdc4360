import type { Pool } from 'pg'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql, transaction, withDeadline } from '#infra/postgres/postgres.ts'
import { makeLocks } from '../writing/locks.ts'

const waitedMs = 12_000
const notDestroyed =
  'Keys that are to be destroyed cannot be written down or destroyed now, and no hold can be placed before. Send the request again.'

export type Turn = {
  /** A connection: all that is written with it is stored when the turn ends, and only if it was not lost before. */
  readonly db: Database
  /** Throws where the turn was lost. */
  readonly require: () => Promise<void>
}

type Deps = { readonly pool: Pool; readonly dataKeys: Pick<DataKeys, 'destroyDecided'> }

/**
 * Legal holds of an organisation are placed, and the destruction of keys of its people decided, one after the other, in all
 * processes: a hold comes before the last look for holds, or after the destruction. What was decided in a turn before, and not done
 * because the process died, is done first. A hold on one person also keeps whoever shares a record with them, so that each person on
 * their own would not do.
 */
export const makeHoldOrErase = ({ pool, dataKeys }: Deps) => {
  const inTurn = makeLocks()

  const alone = <Result>(organisation_id: string, act: (turn: Turn) => Promise<Result>) =>
    transaction(pool, async (db) => {
      await db.query(sql`select set_config('idle_in_transaction_session_timeout', '60s', true)`)
      const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`holds and erasures ${organisation_id}`}, 0))`
      await db.query(withDeadline(lock, waitedMs))
      await dataKeys.destroyDecided(organisation_id).catch((cause: unknown) => {
        throw new Problem('unavailable', notDestroyed, { headers: { 'Retry-After': '60' }, cause })
      })
      return act({
        db,
        // The lock ends with its connection.
        require: async () => {
          await db.query(withDeadline(sql`select`, 2_000))
        },
      })
    })

  // Whoever has the turn keeps a connection, and needs another: several at once would take all that the process has.
  return <Result>(organisation_id: string, act: (turn: Turn) => Promise<Result>) =>
    inTurn(['holds and erasures'], () => alone(organisation_id, act))
}

export type HoldOrErase = ReturnType<typeof makeHoldOrErase>
