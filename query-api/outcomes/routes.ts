import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { MappedOutcome } from '#domain/custom-integrations/events.ts'
import { HeldReason, LeadReference, OutcomeSource, Report, type OutcomeModel } from '#domain/outcomes/events.ts'
import { Outcome, ShownModel, shownModel, type OutcomeModels } from '#domain/outcomes/record.ts'
import { ApiApplicationId, CustomerId, OrganisationId } from '#domain/values.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { Problem } from '#infra/http/problem.ts'
import { teamRoute, route, type Route, type ScopeRule } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { Limit, nextCursor, readCursor } from '../feed.ts'

const scopes: ScopeRule = [
  ['read', 'outcomes'],
  ['read', 'crm'],
  ['write', 'outcomes'],
  ['write', 'crm'],
]
const access = { kind: 'application', scopes, serverOnly: true } as const

const OutcomesQuery = z.object({
  cursor: Cursor,
  contact_id: CustomerId.optional(),
  deal_ref: z.string().max(200).optional(),
  type: z.string().optional().describe('A key of the outcome model.'),
  limit: Limit,
})

const HeldOutcome = z
  .object({
    id: z.uuid(),
    reason: HeldReason,
    event_id: z.string().nullable(),
    api_application_id: ApiApplicationId.nullable(),
    source: OutcomeSource,
    report: Report.nullable().describe('null: what was sent cannot be recorded as it is.'),
    lead: LeadReference.nullable().describe('How the sender names the lead.'),
    sent: MappedOutcome.nullable().describe('What an event of another system says, where it is no report yet.'),
    faults: z.record(z.string(), z.string()).describe('What is wrong with it, by input.'),
    held_at: z.iso.datetime(),
  })
  .meta({ id: 'HeldOutcome' })

type Row = { readonly position: string; readonly document: Outcome }

const refuseUnknownType = ({ types }: OutcomeModel, { type }: Pick<z.output<typeof OutcomesQuery>, 'type'>): void => {
  if (type === undefined || types.some(({ key }) => key === type)) return
  throw new Problem('invalid_parameter', 'Correct type: it must be a key of the outcome model.', {
    fields: { type: `must be one of ${types.map(({ key }) => key).join(', ')}` },
  })
}

type Deps = {
  readonly pool: Database
  readonly outcomeModels: OutcomeModels
  readonly applications: Directory['applications']
}

/** The outcomes of leads, and the outcome model. */
export const outcomeRoutes = ({ pool, outcomeModels, applications }: Deps): Route[] => [
  route(
    {
      method: 'get',
      address: '/api/v1/crm/outcomes/model',
      tag: 'CRM',
      summary: 'Show the types of outcomes, their measures and the products',
      access,
      answers: { 200: z.object({ data: ShownModel }) },
      example: {},
    },
    async ({ caller: { organisation_id } }) => {
      const model = shownModel(outcomeModels(organisation_id))
      const { rows } = await pool.query<{ slug: string; name: string }>(
        sql`select slug, document ->> 'name' as name from products where organisation_id = ${organisation_id} order by 1`,
      )
      // What is sold through the service can be reported without being declared once more.
      const others = rows.filter(({ slug }) => !model.products.some(({ key }) => key === slug))
      const products = [...model.products, ...others.map(({ slug: key, name }) => ({ key, name, aliases: [] }))]
      return { status: 200, body: { data: { ...model, products } } }
    },
  ),
  route(
    {
      method: 'get',
      address: '/api/v1/crm/outcomes',
      tag: 'CRM',
      summary: 'List outcomes in the order of recording, oldest first, reversals included',
      access,
      query: OutcomesQuery,
      answers: { 200: z.object({ data: z.array(Outcome), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
      example: { query: { limit: '20' } },
    },
    async ({ query: { cursor, limit, ...filters }, caller }) => {
      refuseUnknownType(outcomeModels(caller.organisation_id), filters)
      const place = readCursor('outcomes', cursor)
      const { organisation_id, api_application_id, scopes: held } = caller
      const sentBy = held.has('outcomes')
        ? undefined
        : { api_application_id, reportingAny: reportingAny(applications, organisation_id) }
      const { rows } = await pool.query<Row | PassedBy>(outcomePage({ filters, organisation_id, sentBy, place, limit }))
      const data = rows.flatMap(({ document }) => document ?? [])
      return { status: 200, body: { data, next_cursor: nextCursor('outcomes', rows, cursor) } }
    },
  ),
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/outcomes',
      summary: 'List the outcomes of an organisation in the order of recording, whoever reported them',
      ...teamRoute('leads'),
      path: z.object({ organisation_id: OrganisationId }),
      query: OutcomesQuery,
      answers: { 200: z.object({ data: z.array(Outcome), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { cursor, limit, ...filters } }) => {
      refuseUnknownType(outcomeModels(organisation_id), filters)
      const place = readCursor('outcomes', cursor)
      const { rows } = await pool.query<Row>(outcomePage({ organisation_id, filters, place, limit }))
      const data = rows.map(({ document }) => document)
      return { status: 200, body: { data, next_cursor: nextCursor('outcomes', rows, cursor) } }
    },
  ),
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/held_outcomes',
      summary:
        'List the outcomes that wait for a person to say which lead they are about, or to correct them, oldest first',
      ...teamRoute('leads'),
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ cursor: Cursor, limit: Limit }),
      answers: { 200: z.object({ data: z.array(HeldOutcome), next_cursor: z.string().nullable() }) },
    },
    async ({ path: { organisation_id }, query: { cursor, limit } }) => {
      const place = readCursor('held_outcomes', cursor)
      const { rows } = await pool.query<{
        position: string
        id: string
        document: Omit<z.infer<typeof HeldOutcome>, 'id'>
      }>(sql`
        select id, position, document from held_outcomes
        where organisation_id = ${organisation_id} and "position" collate "C" > ${place}
        order by "position" collate "C" limit ${limit}`)
      const data = rows.map(({ id, document }) => ({ id, ...document }))
      return { status: 200, body: { data, next_cursor: nextCursor('held_outcomes', rows, cursor) } }
    },
  ),
]

const position = `"position" collate "C"`

/** End of a page whose last outcomes are hidden from the caller: whoever goes on from there does not read them again. */
type PassedBy = { readonly position: string; readonly document: null }

/** The most outcomes passed by for one page because the caller does not see them. The next page goes on behind them. */
const mostPassedBy = 5_000

type SentBy = {
  readonly api_application_id: ApiApplicationId
  /** The applications that report outcomes of any lead. */
  readonly reportingAny: readonly ApiApplicationId[]
}

const reportingAny = (applications: Directory['applications'], organisation_id: OrganisationId) =>
  [...applications.values()]
    .filter((each) => each.organisation_id === organisation_id && each.scopes.includes('outcomes'))
    .map(({ id }) => id)

type OutcomePage = {
  readonly organisation_id: OrganisationId
  /** Only those of leads that this application sent, without those that others reported who may do so of their own leads alone. */
  readonly sentBy?: SentBy | undefined
  /** By column; what is undefined is not asked for. */
  readonly filters: Readonly<Record<string, string | undefined>>
  readonly place: string
  readonly limit: number
}

/**
 * A page in the order of recording, which costs the same however much there is that the caller does not see. Where that is
 * at its end, the last row is the place that was read up to.
 */
const outcomePage = ({ organisation_id, sentBy, filters, place, limit }: OutcomePage) => {
  const wanted: OutcomePage['filters'] = { ...filters, viewer_id: sentBy?.api_application_id ?? organisation_id }
  const asked = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const conditions = asked.map(([column], index) => `and ${column} = $${index + 4}`).join(' ')
  const values: unknown[] = [organisation_id, place, limit, ...asked.map(([, value]) => value)]
  const own = `select id, "position", ${position} as place from outcomes
    where organisation_id = $1 and ${position} > $2 ${conditions} order by place`
  // Not a join: PostgreSQL might read all outcomes for it.
  const documents = `select place, "position", (select document from outcomes
      where organisation_id = $1 and viewer_id = $1 and id = page.id) as document
    from page`
  if (!sentBy) return { text: `with page as (${own} limit $3) ${documents} order by place`, values }
  const visible = visibleTo(`$${values.push(sentBy.api_application_id)}`, `$${values.push(sentBy.reportingAny)}`)
  const passed = `(${own} limit ${mostPassedBy}) as passed`
  // In the order of the index all the way, so that no more is read than the page needs; the end only where it is short.
  const text = `
    with page as materialized (select * from ${passed} where ${visible} order by place limit $3)
    ${documents}
    union all
    (select place, "position", null from ${passed} where (select count(*) from page) < $3 order by place desc limit 1)
    order by place`
  return { text, values }
}

/**
 * Condition on which an application sees an outcome of a lead that it sent. A reporter without the lead may report on any
 * lead; one that has sent it too is another sender, whose outcomes are its own. A reversal is seen with what it reverses.
 */
const visibleTo = (viewer: string, anyone: string): string => `(
  select reported.reporter_id is null or reported.reporter_id = ${viewer} or reported.reporter_id = any(${anyone}::uuid[])
    or not exists (select from outcomes as seen
      where seen.organisation_id = $1 and seen.viewer_id = reported.reporter_id and seen.id = reported.id)
  from outcomes as own join outcomes as reported
    on reported.organisation_id = $1 and reported.viewer_id = $1
      and reported.id = coalesce((own.document ->> 'reversal_of')::uuid, own.id)
  where own.organisation_id = $1 and own.viewer_id = $1 and own.id = passed.id)`
