import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { accessOf, ofInstallation } from '#infra/access-records/access.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { testDatabase } from '../database.ts'

const access = () =>
  accessOf({
    spec: { method: 'get', address: '/admin/v1/users' },
    path: undefined,
    query: {},
    operator: 'OPERATOR_KEY',
    request_id: 'request',
    body: { data: [{ id: 'b1000000-0000-5000-8000-000000000001' }] },
  })

/** A pool whose statements wait until they are let go. */
const held = () => {
  const statements: QueryConfig[] = []
  const waiting: (() => void)[] = []
  const query = async (statement: QueryConfig) => {
    statements.push(statement)
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return {
    pool: { query } as unknown as Pool, // as far as the recorder uses it
    statements,
    go: () => {
      for (const each of waiting.splice(0)) each()
    },
  }
}

test('those that wait are written by one statement, and each is told when it is written', async () => {
  await using database = await testDatabase()
  let statements = 0
  const counting = {
    query: (statement: QueryConfig) => {
      statements++
      return database.pool.query(statement)
    },
  } as unknown as Pool
  const record = makeRecordAccess(counting)

  await Promise.all(Array.from({ length: 50 }, () => record(access())))

  const { rows } = await database.pool.query<{ organisation_id: string; count: number }>(`
    select organisation_id, count(*)::integer from access_record group by 1
    union all select organisation_id, count(*)::integer from access_subject group by 1`)
  expect(rows).toEqual([
    { organisation_id: ofInstallation, count: 50 },
    { organisation_id: ofInstallation, count: 50 },
  ])
  expect(statements).toBe(2)
})

test('in a month for which nobody has made partitions yet, they are made', async () => {
  await using database = await testDatabase()
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid where relname ~ '^access_.*[0-9]$' and relkind = 'r'`,
  )
  expect(rows).toHaveLength(2)
  await database.pool.query(`drop table ${rows.map(({ name }) => name).join(', ')}`)

  await makeRecordAccess(database.pool)(access())

  expect((await database.pool.query('select from access_record')).rowCount).toBe(1)
})

test('when as many wait as may, the next is refused, and is not kept', async () => {
  const { pool, statements, go } = held()
  const record = makeRecordAccess(pool, { most: 2, withinMs: 60_000 })
  const first = record(access())
  const [second, third] = [record(access()), record(access())]

  await expect(record(access())).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } })

  go()
  await first
  go()
  await Promise.all([second, third])
  expect(statements).toHaveLength(2)
})

test('what is not written in time, or not at all, is refused, and the next is tried again', async () => {
  const { pool } = held()
  await expect(makeRecordAccess(pool, { withinMs: 1 })(access())).rejects.toMatchObject({ code: 'unavailable' })

  let isAway = true
  const failing = {
    query: async () => {
      if (isAway) throw new Error('The database is away.')
    },
  } as unknown as Pool
  const record = makeRecordAccess(failing)
  await expect(record(access())).rejects.toMatchObject({ code: 'unavailable' })
  isAway = false
  await record(access())
})
