import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql, type Query } from '#infra/postgres/postgres.ts'
import { pagesOfFound, type Found, type Selection } from '../../cli/audit/export-rows.ts'
import { recordedEvents } from '../../projections/audit/projection.ts'
import { readModel } from '../read-model.ts'

const many = 30_000
const [organisation, other, person_id] = [randomUUID(), randomUUID(), randomUUID()]
const stream = `policy-${randomUUID()}`
let database: Awaited<ReturnType<typeof readModel>>
let pool: Pool
let tree: number

/** Two organisations that have as many events, each a second after the one before; one record and one person have few of them. */
const fill = async () => {
  const { rows } = await pool.query<{ id: number }>(
    sql`insert into audit_tree (generation, organisation_id, origin) values (1, ${organisation}, 'export.test') returning id`,
  )
  tree = rows[0]?.id ?? 0
  await pool.query(sql`
    insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
      actor_type, actor_id, correlation_id, causation_id, person_id, second_person_id)
    select organisation, case when number % 100 = 0 then ${stream} else 'application-' || md5(number::text)::uuid end, number,
      lpad(number::text, 20, '0'), '2026-01-01'::timestamptz + number * interval '1 s', '2026-01-01',
      md5(number::text || organisation)::uuid, 'QuoteIssued', 'api', 'x', 'x', null,
      case when number % 150 = 0 then ${person_id}::uuid else md5('person' || number)::uuid end,
      case when number % 150 = 1 then ${person_id}::uuid end
    from generate_series(0, ${many - 1}::integer) as number, unnest(${[organisation, other]}::uuid[]) as organisation`)
  await pool.query(sql`
    insert into audit_leaf (tree_id, index, event_id, stream, revision)
    select ${tree}, revision, event_id, stream, revision from recorded_events where organisation_id = ${organisation}`)
  await pool.query('analyze')
}

beforeAll(async () => {
  database = await readModel(recordedEvents)
  pool = database.pool
  await fill()
}, 120_000)
afterAll(() => database[Symbol.asyncDispose]())

const found = async (selection: Selection, signed = many, db: Pool = pool): Promise<readonly number[]> => {
  const all: Found[] = []
  const of = { id: tree, organisation, origin: 'export.test', signed, note: '' }
  for await (const page of pagesOfFound(db, of, selection)) all.push(...page)
  return all.map(({ index }) => index)
}

const numbers = (fits: (number: number) => boolean, from = 0, until = many) =>
  Array.from({ length: until - from }, (_, place) => from + place).filter(fits)

const at = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString()

test('of a record, a person and a period each event is found once, in order, over many pages', async () => {
  expect(await found({ record: stream })).toEqual(numbers((number) => number % 100 === 0))
  expect(await found({ person: person_id })).toEqual(numbers((number) => number % 150 < 2))
  expect(await found({ from: at(1_000), until: at(1_250) })).toEqual(numbers(() => true, 1_000, 1_250))
  expect(await found({ person: person_id, from: at(150), until: at(301) })).toEqual([150, 151, 300])
  expect(await found({ person: randomUUID() })).toEqual([])
})

test('events that are not signed yet are left out', async () => {
  expect(await found({ record: stream }, 250)).toEqual([0, 100, 200])
})

test('each page is read through an index', async () => {
  const statements: Query[] = []
  const noting = {
    query: (statement: Query) => {
      statements.push(statement)
      return pool.query(statement)
    },
  }
  for (const selection of [{ record: stream }, { person: person_id }, { from: at(1_000), until: at(1_250) }])
    // It only asks.
    await found(selection, many, noting as unknown as Pool)

  expect(statements.length).toBeGreaterThan(8)
  for (const { text, values } of statements) {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>({
      text: `explain (analyze, timing off) ${text}`,
      values,
    })
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).not.toMatch(/Seq Scan|Rows Removed by Filter: \d{3,}/)
  }
})
