import { afterAll, beforeAll, expect, test } from 'vitest'
import type { QueryConfig } from 'pg'
import { quoteEvents } from '#domain/quotes/events.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { JourneyId, OrganisationId, QuoteId } from '#domain/values.ts'
import { applications } from '../../projections/applications/projection.ts'
import { quotes } from '../../projections/quotes/projection.ts'
import { quoteRoutes } from '../../query-api/quotes/routes.ts'
import { application_id, otherApplicationId, started } from '../applications/builders.ts'
import { organisation_id, product_id, release } from '../applications/release.ts'
import { readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { serve, serverCaller } from '../serve.ts'
import { quoteIssued } from './issued.ts'

/** An application that is quoted again and again, of one organisation, beside an application with one quote, of another. */

const neighbours = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
const quoteId = (number: number) => QuoteId.parse(`d0000000-0000-4000-8000-${String(number).padStart(12, '0')}`)
/** Each by another process, whose request came before that of the process which was faster. */
const issuedAt = (number: number) => new Date(Date.UTC(2026, 5, 1, 10, -number)).toISOString()

let model: Awaited<ReturnType<typeof readModel>>
let statements: QueryConfig[]
let api: Awaited<ReturnType<typeof serve>>

const begun = (owner: OrganisationId, id: typeof application_id) =>
  recorded(storedEvents, `application-${id}`, [started({ organisation_id: owner, application_id: id })], {
    organisation_id: owner,
  })

const quoted = (owner: OrganisationId, id: typeof application_id, number: number) => {
  const placed = {
    quote_id: quoteId(number),
    organisation_id: owner,
    application_id: id,
    product_id,
    journey_id: JourneyId.parse('30000000-0000-4000-8000-000000000001'),
    product_release_id: release.id,
  }
  const metadata = { organisation_id: owner, occurred_at: issuedAt(number), from: number }
  return recorded(quoteEvents, `application-${id}`, [quoteIssued(placed)], metadata)
}

beforeAll(async () => {
  model = await readModel(applications, quotes)
  await model.apply([
    ...begun(organisation_id, application_id),
    ...Array.from({ length: 60 }, (_, index) => quoted(organisation_id, application_id, index + 1)).flat(),
    ...begun(neighbours, otherApplicationId),
    ...quoted(neighbours, otherApplicationId, 61),
  ])
  statements = []
  const query = async (statement: QueryConfig) => {
    statements.push(statement)
    return model.pool.query(statement)
  }
  const db = { query } as unknown as Parameters<typeof quoteRoutes>[0]['db']
  const callers = { one: serverCaller({ organisation_id }), other: serverCaller({ organisation_id: neighbours }) }
  api = await serve(quoteRoutes({ db, baseUrl: 'http://service.test' }), (request) =>
    request.get('x-caller') === 'other' ? callers.other : callers.one,
  )
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

const idsOf = async (id: string, caller = 'one') => {
  const { status, body } = await api.get(`/api/v1/applications/${id}/quotes`, { 'x-caller': caller })
  expect(status).toBe(200)
  return (body as { data: { id: string }[] }).data.map((quote) => quote.id)
}

const newestFifty = Array.from({ length: 50 }, (_, index) => quoteId(60 - index))

test('200: the newest 50 quotes of an application in the order in which they were issued, newest first, and no others', async () => {
  expect(await idsOf(application_id)).toEqual(newestFifty)
  expect(await idsOf(otherApplicationId, 'other')).toEqual([quoteId(61)])
})

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}

const rowsReadOf = (plan: Plan, relation: string): number =>
  (plan['Relation Name'] === relation ? plan['Actual Rows'] * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, part) => sum + rowsReadOf(part, relation), 0)

test('of an application with 20,000 quotes no more than these are read, so that nobody waits for the others', async () => {
  await model.pool.query(
    `insert into quotes (organisation_id, id, application_id, product_id, status, created_at, revision, document)
     select organisation_id, gen_random_uuid(), application_id, product_id, status, created_at, -n, document
     from quotes, generate_series(1, 20000) as n where id = $1`,
    [quoteId(1)],
  )
  await model.pool.query('analyze quotes')
  statements.length = 0

  expect(await idsOf(application_id)).toEqual(newestFifty)

  const [statement] = statements
  expect(statements).toHaveLength(1)
  const { rows } = await model.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, format json) ${statement?.text}`,
    statement?.values,
  )
  const [{ Plan: plan }] = rows[0]?.['QUERY PLAN'] ?? [
    { Plan: { 'Node Type': 'none', 'Actual Rows': NaN, 'Actual Loops': NaN } },
  ]
  expect(rowsReadOf(plan, 'quotes')).toBe(50)
})
