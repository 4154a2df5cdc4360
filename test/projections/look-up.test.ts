import type { ClientBase, QueryConfig } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transaction } from '#infra/postgres/postgres.ts'
import type { Row } from '../../projections/projection.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { tableOf, type Table } from '../../projections/table.ts'
import { testDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

/** What a table asks a connection. */
const asked = async (ask: (db: ClientBase) => Promise<unknown>): Promise<string> => {
  let text = ''
  const query = async (statement: QueryConfig) => {
    text = statement.text
    return { rows: [] }
  }
  await ask({ query } as unknown as ClientBase) // a table asks nothing else of it
  return text
}

/** How a statement reads a table, by a plan that is made once for all values. */
const readsOf = async (db: ClientBase, table: Table, text: string, values: number): Promise<readonly string[]> => {
  const all = (each: string) => Array.from({ length: values }, () => each).join(', ')
  await db.query(`prepare looked_up (${all('text[]')}) as ${text}`)
  const { rows } = await db.query<{ 'QUERY PLAN': string }>(`explain execute looked_up (${all('null')})`)
  await db.query('deallocate looked_up')
  const lines = rows.map((row) => row['QUERY PLAN'])
  return lines.filter((line) => line.includes(` on ${table.name.replaceAll('"', '').replace('public.', '')} present`))
}

test.each(allProjections.map((projection) => [projection.name, projection] as const))(
  'rows of %s are looked up through the primary key, also while the planner knows nothing of the table',
  async (name, projection) => {
    const table = tableOf(projection)
    const { key } = projection.table
    const some: Row = Object.fromEntries(key.map((column) => [column, null]))

    await transaction(database.pool, async (db) => {
      await db.query(table.create)
      await db.query(table.createIndexes)
      await db.query('set local plan_cache_mode = force_generic_plan')
      for (const text of [await asked((to) => table.load(to, [some])), await asked((to) => table.remove(to, [some]))]) {
        const [read, ...more] = await readsOf(db, table, text, key.length)
        expect(read).toContain(`Index Scan using ${name}_pkey`)
        expect(more).toEqual([])
      }
    })
  },
)
