import type { Pool } from 'pg'
import { sql } from '#infra/postgres/postgres.ts'

const weekMs = 7 * 24 * 3_600_000
/** A Monday in UTC, from which weeks are counted. */
const firstMonday = Date.parse('2001-01-01T00:00:00.000Z')

/** The beginning of the week of an instant, and of its partition. */
export const weekOf = (instant: number): number => firstMonday + Math.floor((instant - firstMonday) / weekMs) * weekMs

export const weekAfter = (week: number): number => week + weekMs

/** Makes the partitions that are missing for some instants; asks the database once for each week. */
export const partitionsFor = (pool: Pool) => {
  const made = new Set<number>()
  return async (instants: readonly string[]): Promise<void> => {
    for (const week of new Set(instants.map((instant) => weekOf(Date.parse(instant))))) {
      if (made.has(week)) continue
      await pool.query(sql`select delivery_partition(${new Date(week)})`)
      made.add(week)
    }
  }
}
