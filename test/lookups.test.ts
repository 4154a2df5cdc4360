import { expect, test } from 'vitest'
import { openLookups } from '#infra/postgres/lookups.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { testDatabase } from './database.ts'

const lookups = async (connections: number) => {
  const database = await testDatabase()
  const pool = createPool(database.url, { name: 'lookups' })
  const { query, close } = openLookups(pool, { connections })
  return {
    database,
    query,
    /** The processes of the server that serve the connections. */
    serving: async (): Promise<readonly number[]> => {
      const { rows } = await database.pool.query<{ pid: number }>(
        sql`select pid from pg_stat_activity where application_name = 'lookups' order by backend_start`,
      )
      return rows.map(({ pid }) => pid)
    },
    [Symbol.asyncDispose]: async () => {
      await close()
      await pool.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('many ask at once over few connections, and each gets its own answer', async () => {
  await using the = await lookups(2)
  const numbers = Array.from({ length: 200 }, (_, number) => number)

  const answers = await Promise.all(
    numbers.map(async (number) => the.query<{ number: number }>(sql`select ${number}::integer as number`)),
  )

  expect(answers.map(({ rows }) => rows[0]?.number)).toEqual(numbers)
  expect(await the.serving()).toHaveLength(2)
})

test('a statement that fails harms none beside it', async () => {
  await using the = await lookups(1)

  const [before, failing, after] = await Promise.allSettled([
    the.query(sql`select 1 as one`),
    the.query(sql`select 1 / ${0}::integer`),
    the.query({ name: 'same', ...sql`select ${2}::integer as two` }),
  ])

  expect(before).toMatchObject({ value: { rows: [{ one: 1 }] } })
  expect(failing).toMatchObject({ reason: { code: '22012' } })
  expect(after).toMatchObject({ value: { rows: [{ two: 2 }] } })
})

test('whoever waits on a connection that is lost is answered over another', async () => {
  await using the = await lookups(1)
  const slow = the.query(sql`select pg_sleep(0.3), 'slow' as answer`)
  const behind = the.query(sql`select 'behind' as answer`)
  await expect.poll(the.serving).toHaveLength(1)

  const [pid] = await the.serving()
  await the.database.pool.query(sql`select pg_terminate_backend(${pid}::integer)`)

  expect((await slow).rows).toMatchObject([{ answer: 'slow' }])
  expect((await behind).rows).toEqual([{ answer: 'behind' }])
  expect(await the.serving()).not.toContain(pid)
})
