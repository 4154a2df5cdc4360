import type { Pool } from 'pg'
import { transaction } from '../postgres/postgres.ts'

/** Longer than an access needs from its time to its commit. */
export const writtenAfterSeconds = 10

const lockNotAvailable = '55P03'

/**
 * Waits for whoever writes accesses now: all that are older than `writtenAfterSeconds` can be read afterwards. False: it would hold up
 * those who write for too long.
 */
export const untilWritten = async (pool: Pool): Promise<boolean> => {
  try {
    await transaction(pool, async (db) => {
      await db.query(`set local lock_timeout = '200ms'`)
      await db.query('lock table only access_record in share mode')
    })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === lockNotAvailable) return false
    throw error
  }
}
