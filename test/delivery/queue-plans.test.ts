import { expect, test } from 'vitest'
import { createPool } from '#infra/postgres/postgres.ts'
import { newId } from '#infra/ids.ts'
import { plansOfDeliveries } from '../../bench/delivery-plans.ts'
import { candidateSearch } from '../../delivery-worker/endpoints/endpoints.ts'
import { claim, complete } from '../../delivery-worker/sending/queue.ts'
import { testDatabase } from '../database.ts'

const growing = /Seq Scan on (delivery_\d|delivery_attempt|delivery_queue|delivery_recovery|lifecycle_event)/

test('no statement of the queue reads a table from end to end, however many deliveries there are', async () => {
  await using database = await testDatabase()

  const plans = await plansOfDeliveries(database.pool, 20_000)

  expect(new Set(plans.map(({ what }) => what))).toEqual(
    new Set(['search', 'claim', 'renew', 'complete', 'release in order', 'recover', 'cancel']),
  )
  for (const { what, lines } of plans) expect([what, lines.filter((line) => growing.test(line))]).toEqual([what, []])
}, 60_000)

test('the statements of each send are planned once, by the index even while the queue is empty', async () => {
  await using database = await testDatabase()
  const pool = createPool(database.url, { max: 1 })
  const allotted = [{ organisation_id: newId(), connection_id: newId(), standing: 'closed' as const, room: 3 }]
  for (let time = 0; time < 8; time++) {
    await candidateSearch(pool).find(true)
    await claim(pool, allotted)
    await complete(pool, [])
  }

  const { rows } = await pool.query<{ name: string; custom_plans: string; generic_plans: string }>(
    `select name, custom_plans, generic_plans from pg_prepared_statements where name like 'delivery-%' order by name`,
  )
  const claiming = await pool.query<{ 'QUERY PLAN': string }>(
    `explain execute "delivery-claim" ('{}', '{}', '{}', '{}', '{}', 8, 8, 2, false)`,
  )
  const completing = await pool.query<{ 'QUERY PLAN': string }>(`explain execute "delivery-complete" ('[]')`)
  await pool.end()

  expect(rows.map(({ name }) => name)).toEqual(['delivery-claim', 'delivery-complete', 'delivery-search'])
  for (const { name, custom_plans, generic_plans } of rows)
    expect([name, Number(custom_plans), Number(generic_plans) >= 3]).toEqual([name, 5, true])
  const plan = [...claiming.rows, ...completing.rows].map((row) => row['QUERY PLAN'])
  expect(plan.filter((line) => growing.test(line))).toEqual([])
}, 60_000)
