import { expect, test } from 'vitest'
import { plansOfDeliveries } from '../../bench/delivery-plans.ts'
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
