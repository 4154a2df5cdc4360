import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outcomeModelsOf } from '#domain/outcomes/record.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { ApiApplicationId } from '#domain/values.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { customers } from '../../projections/customers/projection.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { outcomes } from '../../projections/outcomes/projection.ts'
import { ingestAdminRoutes } from '../../query-api/ingests/admin-routes.ts'
import { leadAdminRoutes } from '../../query-api/leads/admin-routes.ts'
import { leadRoutes } from '../../query-api/leads/routes.ts'
import { outcomeRoutes } from '../../query-api/outcomes/routes.ts'
import { costsOf } from '../list-costs.ts'
import { readModel } from '../read-model.ts'
import { serverCaller } from '../serve.ts'
import { organisation_id, partner, website } from './builders.ts'

const many = 20_000
const newcomer = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000009')
const campaign_id = randomUUID()
const other_campaign_id = randomUUID()
/** Somebody who was sent in again and again. */
const returning = randomUUID()
/** Of two campaigns it has sent leads, to each of which another kind of thing happened. */
const ofTwo = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000010')

/** Two applications have sent all leads; only the outcomes of a third one's are recorded, and few of a kind. */
const fill = async (pool: Pool) => {
  await pool.query(sql`
    insert into leads (organisation_id, api_application_id, contact_id, position, status, campaign_id, document, updated_at)
    select ${organisation_id}, sender, md5(number::text)::uuid, lpad(number::text, 20, '0'), case when number % 10000 = 1 then 'won' else 'open' end,
      case when sender = ${website} then ${campaign_id}::uuid end, '{"stage": {}}',
      now() - (${many}::integer - number) * interval '1 s'
    from generate_series(1, ${many}::integer) as number, unnest(${[website, partner]}::uuid[]) as sender`)
  await pool.query(sql`
    insert into lead_events (organisation_id, viewer_id, event_id, position, contact_id, campaign_id, type, family,
      recorded_at, document)
    select ${organisation_id}, sender, md5(number::text)::uuid, lpad(number::text, 20, '0'), md5(number::text)::uuid,
      ${campaign_id}, case when number % 10000 = 9999 then 'lead.manual_run' else 'lead.created' end, 'lead', now(), '{}'
    from generate_series(1, ${many}::integer) as number, unnest(${[website, partner]}::uuid[]) as sender`)
  await pool.query(sql`
    insert into lead_events (organisation_id, viewer_id, event_id, position, contact_id, campaign_id, type, family,
      recorded_at, document)
    select ${organisation_id}, ${ofTwo}, md5(number::text)::uuid, lpad(number::text, 20, '0'), md5(number::text)::uuid,
      case when number % 2 = 0 then ${campaign_id}::uuid else ${other_campaign_id}::uuid end,
      case when number % 2 = 0 then 'lead.created' else 'activity.call' end,
      case when number % 2 = 0 then 'lead' else 'activity' end, now(), '{}'
    from generate_series(1, ${many}::integer) as number`)
  await pool.query(sql`
    insert into lead_records (organisation_id, contact_id, position, status, stage, owner_id, due, source, created_at, document,
      updated_at)
    select organisation_id, contact_id, position, case when right(position, 1) = '1' then 'lost' else 'open' end,
      case when right(position, 1) = '2' then 'quoted' else 'new' end, md5(right(position, 1))::uuid,
      case when right(position, 1) = '4' then '2026-01-01/' || contact_id end, 'website',
      now() - position::integer * interval '1 s', '{}', now() from leads
    where api_application_id = ${website}`)
  await pool.query(sql`
    insert into ingests (organisation_id, id, status, source, campaign_id, api_application_id, contact_id, received_at,
      document)
    select ${organisation_id}, md5(number::text)::uuid, case when number % 10 = 1 then 'held' else 'applied' end,
      case when number % 10 = 2 then 'partner' else 'website' end, md5((number % 10)::text)::uuid,
      case when number % 2 = 0 then ${website}::uuid else ${partner}::uuid end, md5(number::text)::uuid,
      now() - number * interval '1 s', '{"status": "received"}'
    from generate_series(1, ${many}::integer) as number`)
  await pool.query(sql`
    insert into ingests (organisation_id, id, status, source, campaign_id, api_application_id, contact_id, received_at,
      document)
    select ${organisation_id}, md5('returning' || number)::uuid, 'applied', 'website', ${campaign_id}, ${website},
      ${returning}, now() - number * interval '1 s', '{"status": "received"}'
    from generate_series(1, 2000) as number`)
  await pool.query(sql`
    insert into outcomes (organisation_id, viewer_id, id, position, contact_id, type, deal_ref, document)
    select ${organisation_id}, ${organisation_id}, md5(number::text)::uuid, lpad(number::text, 20, '0'), md5('other' || number)::uuid,
      case when number % 10000 = 9999 then 'lost' else 'sold' end, 'none', '{}'
    from generate_series(1, ${many}::integer) as number`)
  await pool.query(sql`
    insert into outcomes (organisation_id, viewer_id, id, position, contact_id, type, deal_ref)
    select organisation_id, viewer.id, outcomes.id, position, contact_id, type, deal_ref
    from outcomes, unnest(${[newcomer, partner]}::uuid[]) as viewer (id)
    where viewer.id = ${newcomer} or position > lpad((${many}::integer - 3)::text, 20, '0')`)
  await pool.query('analyze')
}

let database: Awaited<ReturnType<typeof readModel>>
let pool: Pool
beforeAll(async () => {
  database = await readModel(leads, leadFeed, leadRecords, outcomes, ingests, customers)
  pool = database.pool
  await fill(pool)
}, 60_000)
afterAll(() => database[Symbol.asyncDispose]())

test('a page of what an application may see costs the same, however much it and others have sent', async () => {
  const routes = (db: Pick<Pool, 'query'>) => [
    ...leadRoutes({ pool: db, pipelines: pipelinesOf(new Map()) }),
    ...outcomeRoutes({ pool: db, outcomeModels: outcomeModelsOf(new Map()), applications: new Map() }),
  ]
  const contact_id = randomUUID()
  const early = new Date(Date.now() - 0.6 * many * 1_000).toISOString()
  const updated_since = new Date(Date.now() + 60_000).toISOString()

  for (const [name, address, query, shown, most = 100] of [
    ['website', '/outcomes', {}, 0],
    ['website', '/outcomes', { type: 'sold' }, 0],
    ['website', '/outcomes', { deal_ref: 'none' }, 0],
    ['website', '/outcomes', { contact_id }, 0],
    ['partner', '/outcomes', {}, 3],
    ['newcomer', '/outcomes', { deal_ref: 'none' }, 50],
    ['newcomer', '/outcomes', { type: 'lost' }, Math.floor((many + 1) / 10_000)],
    ['website', '/leads', {}, 50],
    ['website', '/leads', { campaign_id: randomUUID() }, 0],
    ['partner', '/leads', { campaign_id }, 0],
    ['website', '/leads', { status: ['lost', 'invalid'] }, 0],
    ['website', '/leads', { status: ['won'] }, Math.ceil(many / 10_000)],
    ['website', '/leads', { updated_since }, 0],
    // Among the first thousand by time is the first of the page.
    ['website', '/leads', { updated_since: early }, 50, 1_000],
    ['website', '/leads', { updated_since: early, status: ['won'] }, 1, 1_000],
    ['newcomer', '/leads', {}, 0],
    ['website', '/events', { type: ['lead.manual_run'] }, Math.floor((many + 1) / 10_000)],
    ['website', '/events', { campaign_id, type: ['lead.manual_run', 'activity.*'] }, Math.floor((many + 1) / 10_000)],
    ['website', '/events', { contact_id, type: ['lead.created'] }, 0],
    ['website', '/events', { since: updated_since }, 0],
    ['newcomer', '/events', {}, 0],
    ['ofTwo', '/events', { campaign_id, type: ['activity.call'] }, 0],
    ['ofTwo', '/events', { campaign_id, type: ['activity.*', 'contact.*'] }, 0],
    ['ofTwo', '/events', { campaign_id, type: ['lead.*'] }, 50],
  ] as const) {
    const api_application_id = { website, partner, newcomer, ofTwo }[name]
    const caller = serverCaller({ organisation_id, api_application_id, scopes: new Set(['read', 'crm'] as const) })
    const found = await costsOf(pool, routes, `/api/v1/crm${address}`, {
      query,
      caller,
      tables: /^(leads|lead_|outcome)/,
    })
    expect([name, address, query, found.shown, found.scans]).toEqual([name, address, query, shown, []])
    expect([name, address, query, found.rows <= most, found.rows]).toEqual([name, address, query, true, found.rows])
  }
}, 60_000)

const endingWith = async (digit: number): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>(sql`select md5(${String(digit)}::text)::uuid as id`)
  return rows[0]?.id ?? ''
}

test('a page of what the team looks for costs the same, also by two things that seldom come together', async () => {
  const eventLog = { read: async () => [] }
  const routes = (db: Pick<Pool, 'query'>) => [
    ...ingestAdminRoutes({ pool: db, db, eventLog, findReceived: (_organisation_id, _id, find) => find() }),
    ...leadAdminRoutes({ pool: db, eventLog, pipelines: pipelinesOf(new Map()) }),
  ]
  const until = new Date(Date.now() + 86_400_000).toISOString()
  const [second, third, fourth] = [await endingWith(2), await endingWith(3), await endingWith(4)]

  for (const [address, query, shown] of [
    ['/ingests', {}, 50],
    ['/ingests', { status: 'held' }, 50],
    ['/ingests', { source: 'partner' }, 50],
    ['/ingests', { status: 'held', source: 'partner' }, 0],
    ['/ingests', { status: 'held', campaign_id: second }, 0],
    ['/ingests', { status: 'applied', campaign_id: second }, 50],
    ['/ingests', { source: 'website', campaign_id: second }, 0],
    ['/ingests', { source: 'partner', api_application_id: partner }, 0],
    ['/ingests', { campaign_id: second, api_application_id: partner }, 0],
    ['/ingests', { source: 'partner', campaign_id: second, api_application_id: website }, 50],
    ['/ingests', { contact_id: returning }, 50],
    ['/ingests', { contact_id: returning, source: 'website' }, 50],
    ['/ingests', { contact_id: returning, campaign_id }, 50],
    ['/leads', { order: 'oldest_change' }, 50],
    ['/leads', { order: 'oldest_change', status: 'lost', stage: 'quoted' }, 0],
    ['/leads', { order: 'oldest_change', status: 'lost', owner_id: second }, 0],
    ['/leads', { order: 'oldest_change', stage: 'quoted', owner_id: third }, 0],
    ['/leads', { order: 'oldest_change', stage: 'quoted', owner_id: second }, 50],
    ['/leads', { order: 'oldest_change', owner_id: second }, 50],
    ['/leads', { order: 'newest_change' }, 50],
    ['/leads', { order: 'newest_change', status: 'lost' }, 50],
    ['/leads', { order: 'newest_change', stage: 'quoted', owner_id: third }, 0],
    ['/leads', { order: 'newest', until }, 50],
    ['/leads', { order: 'newest', until, source: 'website' }, 50],
    ['/leads', { order: 'newest', until, stage: 'new' }, 50],
    ['/leads', { order: 'next_due' }, 50],
    ['/leads', { order: 'next_due', owner_id: third }, 0],
    ['/leads', { order: 'next_due', owner_id: fourth }, 50],
  ] as const) {
    const asked = { path: { organisation_id }, query, tables: /^(lead_records|ingests)/ }
    const found = await costsOf(pool, routes, `/admin/v1/organisations/:organisation_id${address}`, asked)
    expect([address, query, found.shown, found.scans]).toEqual([address, query, shown, []])
    expect([address, query, found.rows <= 100, found.rows]).toEqual([address, query, true, found.rows])
  }
}, 60_000)
