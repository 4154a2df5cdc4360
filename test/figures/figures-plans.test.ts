import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import type { Route } from '#infra/http/route.ts'
import { planOf } from '../../bench/plan-of.ts'
import { recordedEvents } from '../../projections/audit/projection.ts'
import { leadRecords } from '../../projections/leads/projection.ts'
import { premiums } from '../../projections/premiums/projection.ts'
import { figureRoutes } from '../../query-api/figures/routes.ts'
import { readModel } from '../read-model.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const many = 20_000

/** A year of leads and premiums, and of applications that were each quoted in two weeks. */
const fill = async (pool: Pool) => {
  const values = [many, organisation_id]
  const rows = `from (select gen_random_uuid() as id, number,
      timestamptz '2026-01-01' + number * (interval '364 days' / $1::integer) as at
      from generate_series(1, $1::integer) as number) as made`
  await pool.query({
    text: `insert into lead_records
          (organisation_id, contact_id, position, status, stage, source, created_at, updated_at, document)
        select $2, id, number::text, 'open', 'stage' || number % 6, 'source' || number % 5, at, at, '{}' ${rows}`,
    values,
  })
  await pool.query({
    text: `insert into premiums (organisation_id, id, policy_id, status, amount_pence, created_at, document)
        select $2, id, id, 'collected', 1250, at, '{}' ${rows}`,
    values,
  })
  await pool.query({
    text: `insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
          actor_type, correlation_id)
        select $2, 'application-' || id, revision, lpad(number::text, 20, '0'), at + later, at, gen_random_uuid(), kind, 'service', id
        ${rows}, (values (0, 'ApplicationStarted', interval '0'), (1, 'QuoteIssued', interval '0'),
          (2, 'QuoteIssued', interval '7 days'), (3, 'ConsentRecorded', interval '7 days')) as happened (revision, kind, later)
        where number <= $1::integer / 2`,
    values,
  })
  await pool.query('vacuum analyze lead_records, premiums, recorded_events')
}

const year = { from: '2026-01-01', until: '2027-01-01', every: 'week' }

type Counted = { readonly step?: string; readonly count: number }
type Answer = { readonly data: readonly Counted[]; readonly total?: readonly Counted[] }

const sumOf = (figures: readonly Counted[]): number => figures.reduce((sum, { count }) => sum + count, 0)

test('figures are made of an index, and a sale counts once over all weeks', async () => {
  await using database = await readModel(leadRecords, premiums, recordedEvents)
  const { pool } = database
  await fill(pool)
  let plan: string[] = []
  const explaining = {
    query: async (statement: QueryConfig) => {
      plan.push(...(await planOf(pool, statement)))
      return pool.query(statement)
    },
  } as Pick<Pool, 'query'>
  const routes: readonly Route[] = figureRoutes({ pool: explaining, organisations: new Map() })
  const read = async (name: string, query: object) => {
    const found = routes.find(({ spec }) => spec.address.endsWith(`/figures/${name}`))
    if (!found) throw new Error(name)
    plan = []
    const { body } = (await found.handle({ path: { organisation_id }, query } as never)) as { readonly body: Answer }
    return body
  }

  for (const name of ['leads', 'premiums']) {
    const { data } = await read(name, year)
    expect([name, sumOf(data)]).toEqual([name, many])
    expect(plan.filter((line) => /Index Only Scan/.test(line))).toHaveLength(1)
    expect(plan.filter((line) => /Seq Scan|Sort Method: external/.test(line))).toEqual([])
  }

  const { data, total = [] } = await read('sales', year)
  const quoted = data.filter(({ step }) => step === 'quoted')
  expect([sumOf(quoted), quoted.length]).toEqual([many, 53])
  expect(total).toEqual([
    { step: 'started', count: many / 2 },
    { step: 'quoted', count: many / 2 },
    { step: 'accepted', count: 0 },
    { step: 'bound', count: 0 },
  ])
  expect(plan.filter((line) => /Seq Scan|Sort Method: external/.test(line))).toEqual([])
}, 300_000)
