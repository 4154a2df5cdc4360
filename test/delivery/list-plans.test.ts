import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { noIntegrations } from '#domain/custom-integrations/record.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { fillDeliveries } from '../../bench/filled-deliveries.ts'
import { customIntegrationReads } from '../../query-api/custom-integrations/routes.ts'
import { deliveryRoutes } from '../../query-api/deliveries/routes.ts'
import { cursorAfter } from '../../query-api/page.ts'
import { testDatabase } from '../database.ts'
import { costsOf } from '../list-costs.ts'
import { organisation_id } from './applications.ts'

const tables = /^(delivery_\d|delivery_attempt|delivery_queue|integration_log)/

test('a page of the deliveries of an organisation looks at no more rows than it may, whatever it is filtered by', async () => {
  await using database = await testDatabase()
  const { pool } = database
  const filling = { deriving: deriveKeys(Buffer.alloc(32, 1).toString('base64')), url: 'https://receiver.example.com/' }
  for (let part = 0; part < 15; part++)
    await fillDeliveries(pool, { ...filling, count: 2_000, connections: 8, organisation_id, state: 'delivered' })
  await fillDeliveries(pool, { ...filling, count: 2_000, connections: 8 })
  await pool.query(`insert into delivery_attempt (recorded_at, delivery_id, number, started_at, outcome, status)
    select recorded_at, id, 1, now(), 'answered', 200 from delivery where state = 'delivered'`)
  await pool.query(sql`
    update delivery set state = 'failed', unsent_at = now(), reason = 'status 500' where id = any (array(
      select id from delivery where organisation_id = ${organisation_id} order by recorded_at, id limit 20))`)
  await pool.query('analyze')
  const { rows } = await pool.query<{
    id: string
    recorded_at: Date
    event_id: string
    subject_id: string
    stream: string
    connection_id: string
  }>(sql`
    select * from delivery where organisation_id = ${organisation_id} order by recorded_at desc, id desc offset 20000 limit 1`)
  const [deep] = rows
  if (!deep) throw new Error('Nothing is that deep.')
  const dataKeys = { byId: () => Promise.reject(new Error('no body is shown')) }
  const costs = (query: object) =>
    costsOf(pool, (db) => deliveryRoutes({ pool: db, db, dataKeys }), '/admin/v1/deliveries', {
      query: { organisation_id, ...query },
      tables,
    })
  const cursor = cursorAfter(deep.recorded_at, deep.id)
  const usual = 51

  for (const [query, most, shown] of [
    [{}, usual, 50],
    [{ cursor }, usual, 50],
    [{ since: deep.recorded_at.toISOString() }, usual, 50],
    [{ until: deep.recorded_at.toISOString() }, usual, 50],
    [{ event_id: deep.event_id }, usual, 1],
    [{ subject_id: deep.subject_id }, usual, 1],
    [{ stream: deep.stream }, usual, 1],
    [{ state: 'failed' }, usual, 20],
    // What no index holds is looked for among so many at a time.
    [{ state: 'pending' }, 10_000, 0],
    [{ type: 'policy.bound' }, 10_000, 0],
    [{ type: 'policy.bound', cursor }, 10_000, 0],
    [{ connection_id: deep.connection_id, cursor }, 10_000, 50],
  ] as const) {
    const found = await costs(query)
    expect([query, found.shown, found.scans]).toEqual([query, shown, []])
    expect([query, found.rows <= most, found.rows]).toEqual([query, true, found.rows])
    // Nor does it pass over what is newer.
    if (most === usual) expect([query, found.pages <= 150, found.pages]).toEqual([query, true, found.pages])
  }
}, 120_000)

test('a page of an integration log reads its own rows and no others, however rare what it is filtered by', async () => {
  await using database = await testDatabase()
  const { pool } = database
  const connections = Array.from({ length: 4 }, () => randomUUID())
  // Among 40,000 that came in and were accepted, a few that were refused and a few that went out.
  await pool.query(sql`
    insert into integration_log (connection_id, slot, id, organisation_id, custom_integration_id, direction, at, accepted,
      reason)
    select (${connections}::uuid[])[1 + number % 4], number, gen_random_uuid(), ${organisation_id}, gen_random_uuid(),
      case when number % 5000 = 0 then 'outbound' else 'inbound' end, now() - number * interval '1 s',
      number % 4000 <> 1, 'of a test'
    from generate_series(0, 39999) as number`)
  await pool.query('analyze')
  const costs = (query: object) =>
    costsOf(
      pool,
      (db) => customIntegrationReads({ pool: db, integrations: noIntegrations(), baseUrl: 'https://example.com' }),
      '/admin/v1/organisations/:organisation_id/integration_logs',
      { path: { organisation_id }, query, tables },
    )
  const cursor = cursorAfter(new Date(Date.now() - 20_000_000), randomUUID())
  const [integration_connection_id] = connections

  for (const [query, shown] of [
    [{}, 50],
    [{ cursor }, 50],
    [{ accepted: 'false' }, 10],
    [{ accepted: 'true', cursor }, 50],
    [{ direction: 'outbound' }, 8],
    [{ direction: 'outbound', accepted: 'false' }, 0],
    [{ direction: 'inbound', accepted: 'false', cursor }, 5],
    [{ integration_connection_id }, 50],
    [{ integration_connection_id, accepted: 'false' }, 0],
    [{ integration_connection_id, direction: 'outbound' }, 8],
  ] as const) {
    const found = await costs(query)
    expect([query, found.shown, found.scans]).toEqual([query, shown, []])
    // A page and one row more of each of the two directions and outcomes.
    expect([query, found.rows <= 4 * 51, found.rows]).toEqual([query, true, found.rows])
  }
}, 120_000)
