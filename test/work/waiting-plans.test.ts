import { randomUUID } from 'node:crypto'
import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { planOf } from '../../bench/plan-of.ts'
import { applications } from '../../projections/applications/projection.ts'
import { proposals } from '../../projections/approvals/projection.ts'
import { claims } from '../../projections/claims/projection.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { leadRecords } from '../../projections/leads/projection.ts'
import { premiums } from '../../projections/premiums/projection.ts'
import { readWaiting } from '../../query-api/work/waiting.ts'
import { rowsOf } from '../list-costs.ts'
import { readModel } from '../read-model.ts'

const busy = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const idle = OrganisationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b')
const many = 5_000

/** Of one organisation all wait, of the other none. */
const fill = async (pool: Pool) => {
  const columns = {
    lead_records: ['contact_id, position, stage, due, updated_at', `id, number::text, 'new', number::text, at`, 'open'],
    ingests: ['id, received_at, source', `id, at, 'web'`, 'held'],
    applications: ['id, updated_at, created_at', 'id, at, at', 'referred'],
    claims: ['id, opened_at, policy_id', 'id, at, id', 'open'],
    premiums: ['id, created_at, policy_id', 'id, at, id', 'failed'],
    proposals: ['id, proposed_at, act', `id, at, 'refund'`, 'waiting'],
  } as const
  for (const [table, [names, values, status]] of Object.entries(columns))
    await pool.query({
      text: `insert into ${table} (organisation_id, status, document, ${names})
        select of, state, '{}', ${values} from (
          select of, state, number, gen_random_uuid() as id, now() - number * interval '1 s' as at
          from generate_series(1, $1::integer) as number, (values ($2::uuid, $4), ($3::uuid, 'other')) as each (of, state)
        ) as made`,
      values: [many, busy, idle, status],
    })
  await pool.query('update lead_records set due = null where organisation_id = $1', [idle])
  await pool.query('vacuum analyze')
}

test('what waits is counted up to a thousand, and what does not wait is not looked at', async () => {
  const made = await readModel(leadRecords, ingests, applications, claims, premiums, proposals)
  await using database = made
  const { pool } = database
  await fill(pool)
  let plan: readonly string[] = []
  const explaining = {
    query: async (statement: QueryConfig) => {
      plan = await planOf(pool, statement)
      return pool.query(statement)
    },
  } as Pick<Pool, 'query'>

  const found = await readWaiting(explaining, [busy, idle, OrganisationId.parse(randomUUID())])

  const full = ['due_leads', 'open_leads', 'held_ingests', 'referred_applications', 'open_claims', 'failed_premiums']
  for (const { work, count, is_more, first_id } of found.get(busy)?.waiting ?? []) {
    const isFull = [...full, 'waiting_approvals'].includes(work)
    expect([work, count, is_more, first_id !== null]).toEqual([work, isFull ? 1_000 : 0, isFull, isFull])
  }
  expect(found.get(idle)?.waiting.map(({ count }) => count)).toEqual(Array.from({ length: 10 }, () => 0))
  expect(found.size).toBe(3)
  // Three organisations share a step: each has a thousand and one at most.
  expect(Math.max(...plan.map(rowsOf))).toBeLessThanOrEqual(1_001 + 3)
  expect(plan.filter((line) => /Seq Scan on \w+/.test(line))).toEqual([])
}, 60_000)
