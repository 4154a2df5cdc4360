import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import { ConsentHeld, isVerified, type Customer } from '#domain/customers/record.ts'
import { LeadFeedEvent, team } from '#domain/lead-feed/record.ts'
import { leadEvents, LeadStatus } from '#domain/leads/events.ts'
import { LeadRecord, listedAs, MarketingPermission, marketingPermissions } from '#domain/leads/record.ts'
import { Key } from '#domain/pipeline/events.ts'
import type { Pipelines } from '#domain/pipeline/record.ts'
import { CustomerId, OrganisationId, SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { Problem } from '#infra/http/problem.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { Limit, nextCursor, readCursor } from '../feed.ts'
import { newestFirst } from '../newest-first.ts'
import { readTimeline, Timeline, timelineParameters } from '../timeline.ts'
import { eventPage, EventsQuery, shownEvent, type EventRow } from './routes.ts'

const address = '/admin/v1/organisations/:organisation_id/leads'

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const LeadPath = OrganisationPath.extend({ contact_id: CustomerId })

/** Further back, leads are not looked through. */
const mostDays = 366

const LeadsQuery = z.object({
  status: LeadStatus.optional(),
  stage: Key.optional(),
  owner_id: z.uuid().toLowerCase().optional(),
  source: z.string().max(200).optional().describe('Where they came from. Only with order=newest.'),
  since: SentInstant.optional().describe(
    `They came in from this moment on. Only with order=newest; by default, and at most, ${mostDays} days before until.`,
  ),
  until: SentInstant.optional().describe('They came in before this moment. Only with order=newest; by default now.'),
  order: z
    .enum(['oldest_change', 'newest_change', 'next_due', 'newest'])
    .default('oldest_change')
    .describe(
      'Which of them come first. By next_due: those alone for whom something is to be done, the most urgent first; of `status` and `stage` none can be asked for then. By newest: those who came in last.',
    ),
  cursor: Cursor,
  limit: Limit,
})

const Person = CustomerDetails.nullable().describe('Their details; null while none are known.')
const ListedLead = LeadRecord.extend({ person: Person }).meta({ id: 'ListedLead' })
const WholeLead = LeadRecord.extend({
  person: Person,
  email_verified: z.boolean().describe('Whether the email address was confirmed to be theirs.'),
  phone_verified: z.boolean().describe('Whether the telephone number was confirmed to be theirs.'),
  consent: z.array(ConsentHeld).describe('What the person said last, by purpose and channel.'),
  marketing: z.array(MarketingPermission).describe('Whether they may be approached with marketing, by channel.'),
}).meta({ id: 'LeadWithPerson' })

type ListedRow = { readonly position: string; readonly document: LeadRecord; readonly person: Customer | null }

type Query = z.output<typeof LeadsQuery>
type Order = Exclude<Query['order'], 'newest'>
type CameIn = Pick<Query, 'source' | 'since' | 'until'>
type Filters = Omit<Query, 'cursor' | 'limit' | 'order' | keyof CameIn>

/** A cursor of one order is none of another. */
const orders: Readonly<Record<Order, { readonly list: string; readonly place: string; readonly isNewest?: true }>> = {
  oldest_change: { list: 'lead_records', place: '"position"' },
  newest_change: { list: 'lead_records_newest', place: '"position"', isNewest: true },
  next_due: { list: 'lead_records_due', place: 'due' },
}
/** Behind every place of any log: these are printable. */
const afterAll = '\u007f'

/** The conditions of the pages of which one is made: a condition that is not asked for is left out, so that the right index is used. */
const conditionsOf = ({ status, ...filters }: Filters, order: Order, value: (given: unknown) => string) => {
  const others = Object.entries(filters).map(([column, wanted]) => `${column} = ${value(wanted)}`)
  if (order === 'next_due') return [others]
  const statuses = status ? [status] : others.length > 0 ? LeadStatus.options : []
  return statuses.length > 0 ? statuses.map((each) => [...others, `status = ${value(each)}`]) : [others]
}

/**
 * A page of the leads. Those at a stage or of an owner are read status by status, so that leads of another status are not looked
 * through, however many there are.
 */
const recordPage = (organisation_id: OrganisationId, filters: Filters, order: Order, after: string, limit: number) => {
  const { place, isNewest = false } = orders[order]
  const [follows, sorted] = isNewest ? ['<', 'desc'] : ['>', 'asc']
  const values: unknown[] = [organisation_id, isNewest && after === '' ? afterAll : after, limit]
  const pages = conditionsOf(filters, order, (given) => `$${values.push(given)}`).map(
    (conditions) => `(select contact_id, ${place} as "position", document from lead_records
      where ${['organisation_id = $1', `${place} collate "C" ${follows} $2`, ...conditions].join(' and ')}
      order by ${place} collate "C" ${sorted} limit $3)`,
  )
  // Not a join: PostgreSQL might read all people for it.
  const text = `select "position", document, (select document from customers
      where customers.organisation_id = $1 and customers.id = page.contact_id) as person
    from (select * from (${pages.join(' union all ')}) as found order by "position" collate "C" ${sorted} limit $3) as page
    order by "position" collate "C" ${sorted}`
  return { text, values }
}

const dayMs = 86_400_000

/** The times between which they came in. Throws `invalid_parameter` where that is too long. */
const periodOf = ({ since, until }: CameIn, now: string): { readonly since: string; readonly until: string } => {
  const end = until ?? new Date(Date.parse(now) + 1).toISOString()
  const earliest = Date.parse(end) - mostDays * dayMs
  if (since !== undefined && Date.parse(since) < earliest)
    throw new Problem('invalid_parameter', `Correct since: it must be at most ${mostDays} days before until.`, {
      fields: { since: `must be at most ${mostDays} days before until` },
    })
  return { since: since ?? new Date(earliest).toISOString(), until: end }
}

const personOf = `(select document from customers where customers.organisation_id = lead_records.organisation_id
    and customers.id = lead_records.contact_id) as person`

/** Leads by when they came in. An index has the time, the stage and the source. */
const newestLeads = async (
  pool: Database,
  organisation_id: OrganisationId,
  { source, since, until, cursor, limit, order: _order, ...filters }: Query,
  now: string,
) => {
  const asked = { organisation_id, cursor, limit, ...periodOf({ since, until }, now) }
  const listed = { table: 'lead_records', time: 'created_at', key: 'contact_id', besides: [personOf] } as const
  const { page, next_cursor } = await newestFirst<LeadRecord, Pick<ListedRow, 'person'>>(pool, listed, asked, {
    ...filters,
    source,
  })
  return { rows: page, next_cursor }
}

const leadKind = { category: 'lead', events: leadEvents }

type Deps = { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'>; readonly pipelines: Pipelines }

/** Whoever is a person of the organisation has a timeline, be it an empty one. */
const refuseUnknown = async (
  pool: Database,
  organisation_id: OrganisationId,
  contact_id: CustomerId,
): Promise<void> => {
  const { rows } = await pool.query<object>(sql`
    select from customers where organisation_id = ${organisation_id} and id = ${contact_id}
    union all
    select from lead_records where organisation_id = ${organisation_id} and contact_id = ${contact_id}`)
  if (rows.length === 0) throw notFound('person')
}

const refuseUnknownStage = ({ stages }: ReturnType<Pipelines>, stage: string | undefined): void => {
  if (stage === undefined || stages.some(({ key }) => key === stage)) return
  throw new Problem('invalid_parameter', 'Correct stage: it must be a stage of the pipeline.', {
    fields: { stage: `must be one of ${stages.map(({ key }) => key).join(', ')}` },
  })
}

/** The parameters that an order does not know. */
const foreignTo: Readonly<Record<Query['order'], readonly (keyof (Filters & CameIn))[]>> = {
  oldest_change: ['source', 'since', 'until'],
  newest_change: ['source', 'since', 'until'],
  next_due: ['status', 'stage', 'source', 'since', 'until'],
  newest: [],
}

const refuseNarrowed = (query: Query): void => {
  const name = foreignTo[query.order].find((each) => query[each] !== undefined)
  if (name === undefined) return
  throw new Problem('invalid_parameter', `Leave ${name} out, or ask for another order.`, {
    fields: { [name]: `must be left out with order=${query.order}` },
  })
}

const shownLead = ({ document, person }: Pick<ListedRow, 'document' | 'person'>) => ({
  ...document,
  person: person && CustomerDetails.parse(person),
})

/** Leads as the team works with them. */
export const leadAdminRoutes = ({ pool, eventLog, pipelines }: Deps): Route[] => [
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address,
      summary: 'List the leads of an organisation, whoever sent them, by their changes or by what is to be done next',
      path: OrganisationPath,
      query: LeadsQuery,
      answers: { 200: z.object({ data: z.array(ListedLead), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query, now }) => {
      refuseNarrowed(query)
      refuseUnknownStage(pipelines(organisation_id), query.stage)
      const { cursor, limit, order, source: _source, since: _since, until: _until, ...filters } = query
      if (order === 'newest') {
        const { rows, next_cursor } = await newestLeads(pool, organisation_id, query, now)
        return { status: 200, body: { data: rows.map(shownLead), next_cursor } }
      }
      const place = readCursor(orders[order].list, cursor)
      const { rows } = await pool.query<ListedRow>(recordPage(organisation_id, filters, order, place, limit))
      return {
        status: 200,
        body: { data: rows.map(shownLead), next_cursor: nextCursor(orders[order].list, rows, cursor) },
      }
    },
  ),
  route(
    {
      ...teamRoute('leads', 'policies'),
      method: 'get',
      address: `${address}/:contact_id`,
      summary: 'Show a lead with what is known of the person and of their consent',
      path: LeadPath,
      answers: { 200: z.object({ data: WholeLead }) },
    },
    async ({ path: { organisation_id, contact_id }, now }) => {
      const { rows } = await pool.query<{
        document: LeadRecord
        person: Customer | null
      }>(sql`
        select lead_records.document, customers.document as person
        from lead_records left join customers
          on customers.organisation_id = lead_records.organisation_id and customers.id = lead_records.contact_id
        where lead_records.organisation_id = ${organisation_id} and lead_records.contact_id = ${contact_id}`)
      if (!rows[0]) throw notFound('lead')
      const { document, person } = rows[0]
      const details = person && CustomerDetails.parse(person)
      const consent = person?.consent ?? []
      const marketing = marketingPermissions(consent, listedAs(document.tps, person?.phone_number ?? null, now))
      const verified = {
        email_verified: person !== null && isVerified(person, 'email'),
        phone_verified: person !== null && isVerified(person, 'phone_number'),
      }
      return { status: 200, body: { data: { ...document, person: details, ...verified, consent, marketing } } }
    },
  ),
  route(
    {
      ...teamRoute('leads', 'policies'),
      method: 'get',
      address: `${address}/:contact_id/timeline`,
      summary: 'List what happened to a lead, or to a person who is none, oldest first',
      path: LeadPath,
      query: z.object({ cursor: Cursor, limit: Limit }),
      answers: { 200: z.object({ data: z.array(LeadFeedEvent), next_cursor: z.string().nullable() }) },
    },
    async ({ path: { organisation_id, contact_id }, query: { cursor, limit } }) => {
      const place = readCursor('timeline', cursor)
      const { rows } = await pool.query<EventRow>(
        eventPage({ organisation_id, viewer_id: team, contact_id, place, limit }),
      )
      if (rows.length === 0) await refuseUnknown(pool, organisation_id, contact_id)
      return { status: 200, body: { data: rows.map(shownEvent), next_cursor: nextCursor('timeline', rows, cursor) } }
    },
  ),
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address: `${address}/:contact_id/history`,
      summary:
        'List every event of a lead, those too that concern the team alone (tasks, proposals, snoozes), oldest first',
      path: LeadPath,
      query: timelineParameters.omit({ organisation_id: true }),
      answers: { 200: Timeline },
    },
    async ({ path: { organisation_id, contact_id }, query }) => ({
      status: 200,
      body: await readTimeline(eventLog, leadKind, contact_id, { organisation_id, ...query }),
    }),
  ),
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/lead_events',
      summary:
        'List what happened to the leads of an organisation, whoever sent them, and to people who are none, oldest first',
      path: OrganisationPath,
      query: EventsQuery,
      answers: { 200: z.object({ data: z.array(LeadFeedEvent), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { cursor, since, ...filters } }) => {
      const place = readCursor('lead_events', cursor)
      const from = cursor === undefined ? since : undefined
      const { rows } = await pool.query<EventRow>(
        eventPage({ ...filters, organisation_id, viewer_id: team, place, since: from }),
      )
      return { status: 200, body: { data: rows.map(shownEvent), next_cursor: nextCursor('lead_events', rows, cursor) } }
    },
  ),
]
