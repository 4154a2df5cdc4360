import type { Pool } from 'pg'
import { categoryOf, type RecordedEvent } from '#domain/event.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { applyEvents } from '../projections/fold.ts'
import type { SomeProjection } from '../projections/projection.ts'
import { tableOf } from '../projections/table.ts'
import { testDatabase } from './database.ts'

/** Applies events to the tables of projections, which are made when they are missing. Each projection takes what concerns it. */
export const fillReadModel = async (
  pool: Pool,
  projections: readonly SomeProjection[],
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const projection of projections)
    await transaction(pool, async (db) => {
      const table = tableOf(projection)
      const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table.name])
      if (!rows[0]?.exists) await db.query(`${table.create}; ${table.createIndexes}`)
      const own = events.filter(
        ({ stream, type }) =>
          projection.categories.includes(categoryOf(stream)) && Object.hasOwn(projection.events, type),
      )
      await applyEvents(db, projection, table, own)
    })
}

/** Read models in a database of their own, for as long as the test uses them. */
export const readModel = async (...projections: readonly SomeProjection[]) => {
  const database = await testDatabase()
  await fillReadModel(database.pool, projections, [])
  return {
    ...database,
    apply: (events: readonly RecordedEvent[]): Promise<void> => fillReadModel(database.pool, projections, events),
  }
}
