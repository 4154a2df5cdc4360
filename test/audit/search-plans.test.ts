import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { recordedEvents } from '../../projections/audit/projection.ts'
import { auditEventRoutes } from '../../query-api/audit/event-routes.ts'
import { searchEvents } from '../../query-api/audit/search.ts'
import { costsOf } from '../list-costs.ts'
import { readModel } from '../read-model.ts'

const many = 30_000
const organisation_id = randomUUID()
const other = randomUUID()
const busy = randomUUID()
const stream = `policy-${randomUUID()}`
const [person_id, partner_id] = [randomUUID(), randomUUID()]
const request_id = randomUUID()

/**
 * Two organisations have as much. In one of them nearly all was done by one actor, of one kind; in the other that actor and that
 * kind occur as often, and never together. One request, one person and one record have few of all.
 */
const fill = async (pool: Pool) => {
  await pool.query(sql`
    insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
      actor_type, actor_id, correlation_id, causation_id, person_id, second_person_id)
    select organisation, 'application-' || md5(number::text)::uuid, 0, lpad(number::text, 20, '0'),
      '2026-01-01'::timestamptz + number * interval '1 s', '2026-01-01'::timestamptz + number * interval '1 s',
      md5(number::text || organisation)::uuid,
      case when organisation = ${other} or number % 2 = 0 then 'QuoteIssued' else 'ApplicationStarted' end, 'api',
      case when organisation = ${other} or number % 2 = 1 then ${busy} else 'OPERATOR_KEY' end, md5(number::text), null,
      md5('person' || number)::uuid, null
    from generate_series(1, ${many}::integer) as number, unnest(${[organisation_id, other]}::uuid[]) as organisation`)
  await pool.query(sql`
    insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
      actor_type, actor_id, correlation_id, causation_id, person_id, second_person_id)
    select ${organisation_id}, ${stream}, number, 'x' || lpad(number::text, 19, '0'), '2026-03-01', '2026-02-01',
      md5('policy' || number)::uuid, 'PremiumDue', 'system', 'timer premium_due', ${request_id}, null,
      case when number < 30 then ${person_id}::uuid end, case when number >= 30 then ${person_id}::uuid end
    from generate_series(0, 59) as number`)
  await pool.query('analyze')
}

let database: Awaited<ReturnType<typeof readModel>>
let pool: Pool
beforeAll(async () => {
  database = await readModel(recordedEvents)
  pool = database.pool
  await fill(pool)
}, 120_000)
afterAll(() => database[Symbol.asyncDispose]())

const routes = (db: Pick<Pool, 'query'>) => auditEventRoutes({ pool: db, eventLog: { read: async () => [] } })

const pageOf = (query: object, asked = organisation_id) =>
  costsOf(pool, routes, '/audit/v1/organisations/:organisation_id/events', {
    path: { organisation_id: asked },
    query: { personal: 'masked', ...query },
    tables: /^recorded_events/,
  })

const march = { recorded_since: '2026-03-01T00:00:00.000Z', recorded_until: '2026-03-02T00:00:00.000Z' }
const before = { recorded_until: '2026-01-01T00:00:00.000Z' }
const noon = { recorded_until: '2026-01-01T04:00:00.000Z' }
const happened = { occurred_since: '2026-01-01T01:00:00.000Z', occurred_until: '2026-01-01T02:00:00.000Z' }
const never = { occurred_since: '2027-01-01T00:00:00.000Z' }

test.each([
  [{}, 50],
  [march, 50],
  [before, 0],
  [noon, 50],
  [happened, 50],
  [never, 0],
  [{ kind: 'PremiumDue' }, 50],
  [{ kind: 'quote.issued' }, 50],
  [{ kind: 'premium.refunded' }, 0],
  [{ kind: 'LeadActivityRecorded' }, 0],
  [{ kind: 'PremiumDue', ...noon }, 0],
  [{ actor_id: 'OPERATOR_KEY' }, 50],
  [{ actor_id: 'nobody' }, 0],
  [{ actor_id: busy, ...before }, 0],
  [{ actor_id: busy, ...noon }, 50],
  [{ actor_id: busy, ...happened }, 50],
  [{ actor_id: busy, ...never }, 0],
  [{ actor_id: busy, kind: 'QuoteIssued' }, 0],
  [{ actor_id: busy, kind: 'ApplicationStarted', ...noon }, 50],
  [{ actor_id: busy, kind: 'QuoteIssued', ...noon }, 0],
  [{ person_id }, 50],
  [{ person_id: partner_id }, 0],
  [{ person_id, ...noon }, 0],
  [{ person_id, kind: 'QuoteIssued' }, 0],
  [{ person_id, kind: 'PremiumDue', ...march }, 50],
  [{ record: stream }, 50],
  [{ record: `policy-${randomUUID()}` }, 0],
  [{ record: stream, ...noon }, 0],
  [{ record: stream, kind: 'PremiumDue', occurred_since: '2026-01-31T00:00:00.000Z' }, 50],
  [{ record: stream, kind: 'QuoteIssued' }, 0],
  [{ request_id }, 50],
  [{ request_id: randomUUID() }, 0],
  [{ request_id, actor_id: busy }, 0],
])('a page by %j costs the same, however much there is', async (query, shown) => {
  const found = await pageOf(query)

  expect([found.shown, found.scans]).toEqual([shown, []])
  expect([found.rows <= 130, found.rows]).toEqual([true, found.rows])
})

test('what seldom comes together is looked for among ten thousand rows, and the next page goes on from there', async () => {
  const asked = { organisation_id, kinds: ['QuoteIssued'], occurred_since: '2027-01-01T00:00:00.000Z', limit: 50 }

  const first = await searchEvents(pool, asked)
  const second = await searchEvents(pool, { ...asked, cursor: first.next_cursor ?? '' })

  // It has 15,000 of that kind.
  expect([first.rows, first.next_cursor]).toEqual([[], expect.any(String)])
  expect([second.rows, second.next_cursor]).toEqual([[], null])
  expect((await pageOf({ kind: 'QuoteIssued', occurred_since: asked.occurred_since })).scans).toEqual([])
})
