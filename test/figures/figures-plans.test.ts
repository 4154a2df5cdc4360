import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import type { Route } from '#infra/http/route.ts'
import { planOf } from '../../bench/plan-of.ts'
import { leadRecords } from '../../projections/leads/projection.ts'
import { premiums } from '../../projections/premiums/projection.ts'
import { figureRoutes } from '../../query-api/figures/routes.ts'
import { readModel } from '../read-model.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const many = 20_000

/** A year of leads and premiums. */
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
  await pool.query('vacuum analyze lead_records, premiums')
}

test('figures of leads and premiums are made of an index alone', async () => {
  await using database = await readModel(leadRecords, premiums)
  const { pool } = database
  await fill(pool)
  let plan: readonly string[] = []
  const explaining = {
    query: async (statement: QueryConfig) => {
      plan = await planOf(pool, statement)
      return pool.query(statement)
    },
  } as Pick<Pool, 'query'>
  const routes: readonly Route[] = figureRoutes({ pool: explaining, organisations: new Map() })
  const read = async (name: string, query: object) => {
    const found = routes.find(({ spec }) => spec.address.endsWith(`/figures/${name}`))
    if (!found) throw new Error(name)
    const { body } = (await found.handle({ path: { organisation_id }, query } as never)) as {
      readonly body: { readonly data: readonly { readonly count: number }[] }
    }
    return body.data.reduce((sum, { count }) => sum + count, 0)
  }

  for (const name of ['leads', 'premiums']) {
    const sum = await read(name, { from: '2026-01-01', until: '2027-01-01', every: 'week' })
    expect([name, sum]).toEqual([name, many])
    expect(plan.filter((line) => /Index Only Scan/.test(line))).toHaveLength(1)
    expect(plan.filter((line) => /Seq Scan/.test(line))).toEqual([])
  }
}, 300_000)
