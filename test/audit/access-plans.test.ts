import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { accessRoutes } from '../../query-api/audit/access-routes.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { costsOf } from '../list-costs.ts'

const many = 30_000
const [organisation_id, other] = [randomUUID(), randomUUID()]
const [record_id, busy_id] = [randomUUID(), randomUUID()]

/** Two organisations have as much. One actor read nearly all, at one address; few read one record; all read another. */
const fill = async ({ pool }: TestDatabase) => {
  await pool.query("select access_partition(now()), access_partition(now() - interval '40 days')")
  await pool.query(sql`
    insert into access_record (id, at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown,
      personal, filters, request_id)
    select md5(number::text || organisation)::uuid, now() - number * interval '1 second' - case when number % 2 = 0 then interval '40 days' else '0' end,
      organisation, 'user', case when number % 1000 = 0 then 'seldom' else 'busy' end, 'GET',
      case when number % 1000 = 1 then '/seldom' else '/busy' end, 'policies',
      array[case when number % 1000 = 2 then ${record_id}::uuid else ${busy_id}::uuid end], 1, null, '{}', 'request'
    from generate_series(1, ${many}::integer) as number, unnest(${[organisation_id, other]}::uuid[]) as organisation`)
  await pool.query(`
    insert into access_subject (organisation_id, record_id, at, access_id)
    select organisation_id, record_ids[1], at, id from access_record`)
  await pool.query('analyze access_record, access_subject')
}

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await fill(database)
}, 120_000)
afterAll(() => database[Symbol.asyncDispose]())

const since = { since: '2026-01-01T00:00:00.000Z' }

test.each([
  [{}, 50],
  [since, 50],
  [{ until: '2020-01-01T00:00:00.000Z' }, 0],
  [{ actor_id: 'busy' }, 50],
  [{ actor_id: 'seldom' }, 30],
  [{ actor_id: 'nobody' }, 0],
  [{ route: '/busy', ...since }, 50],
  [{ route: '/seldom' }, 30],
  [{ record_id }, 30],
  [{ record_id: busy_id }, 50],
  [{ record_id: randomUUID() }, 0],
  [{ record_id, actor_id: 'busy' }, 30],
  [{ record_id: busy_id, actor_id: 'nobody' }, 0],
  [{ actor_id: 'busy', route: '/seldom' }, 4],
  [{ record_id: busy_id, ...since, until: '2100-01-01T00:00:00.000Z' }, 50],
])('a page of accesses by %j reads few of them, however many there are', async (query, shown) => {
  const found = await costsOf(
    database.pool,
    (pool) => accessRoutes({ pool }),
    '/audit/v1/organisations/:organisation_id/accesses',
    {
      path: { organisation_id },
      query,
      tables: /^access_/,
    },
  )

  expect([found.shown, found.scans]).toEqual([shown, []])
  expect([found.rows <= 2_001, found.rows]).toEqual([true, found.rows])
})
