import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import type { Customer } from '#domain/customers/record.ts'
import { explain, IngestRecord, IngestStatus, NamedPerson } from '#domain/ingests/record.ts'
import { ApiApplicationId, CampaignId, CustomerId, IngestId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { impersonalRoute, teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { FindReceived } from './find-received.ts'
import { withNamedPeople } from './named-people.ts'
import { findDocument } from '../find-document.ts'
import { newestFirst } from '../newest-first.ts'
import { pageOf, pageParameters, readCursor } from '../page.ts'

const address = '/admin/v1/organisations/:organisation_id' as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })

const TeamIngest = IngestRecord.extend({
  explanation: z.string(),
  person: NamedPerson.nullable().describe('Whom it names: as they are known, or as it was sent while it is nobody’s.'),
}).meta({ id: 'TeamIngest' })

const IngestsQuery = z.object({
  status: IngestStatus.optional(),
  source: z.string().max(64).optional(),
  campaign_id: CampaignId.optional(),
  contact_id: CustomerId.optional(),
  api_application_id: ApiApplicationId.optional(),
  ...pageParameters,
})

const Proposals = z
  .object({
    contact_id: CustomerId,
    held: CustomerDetails,
    proposed: z
      .record(z.string(), CustomerDetails.partial())
      .describe('By the ingest or application that told of it: the details that differ from those held.'),
    proposed_at: z.iso.datetime(),
  })
  .meta({ id: 'ProposedDetails' })

const ReadingDay = z.object({ day: z.iso.date(), calls: z.int(), tokens: z.int() }).meta({ id: 'ReadingDay' })

type Row = { readonly at: Date; readonly id: string; readonly document: IngestRecord }

type Deps = {
  readonly pool: Database
  readonly db: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly findReceived: FindReceived
}

type Filters = Omit<z.output<typeof IngestsQuery>, 'cursor' | 'limit'>

/**
 * A page of the ingests, newest first. Those of one source, campaign or application are read status by status, so that
 * what is of another status is not looked through, however much of it there is. Those of one person are few, and are read in
 * their order.
 */
const ingestPage = (
  organisation_id: OrganisationId,
  { status, ...filters }: Filters,
  cursor: string | undefined,
  most: number,
) => {
  const values: unknown[] = [organisation_id, most]
  const value = (given: unknown) => `$${values.push(given)}`
  const others = Object.entries(filters).map(([column, wanted]) => `${column} = ${value(wanted)}`)
  const place = cursor === undefined ? undefined : readCursor(cursor)
  const before = place ? [`(received_at, id) < (${value(place.at)}::timestamptz, ${value(place.id)}::uuid)`] : []
  // A condition that is not asked for is left out, so that the right index is used.
  const isSplit = others.length > 0 && filters.contact_id === undefined
  const statuses = status ? [status] : isSplit ? IngestStatus.options : []
  const kinds = statuses.length > 0 ? statuses.map((each) => [`status = ${value(each)}`]) : [[]]
  const pages = kinds.map(
    (kind) => `(select received_at as at, id, document from ingests
      where ${['organisation_id = $1', ...others, ...kind, ...before].join(' and ')}
      order by received_at desc, id desc limit $2)`,
  )
  return { text: `select * from (${pages.join(' union all ')}) as found order by at desc, id desc limit $2`, values }
}

/** The leads sent, as the team works with them. */
export const ingestAdminRoutes = ({ pool, db, eventLog, findReceived }: Deps): Route[] => [
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address: `${address}/ingests`,
      summary: 'List the leads that were sent to an organisation, newest first: by status, what is held or in review',
      path: OrganisationPath,
      query: IngestsQuery,
      answers: { 200: z.object({ data: z.array(TeamIngest), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { limit, cursor, ...filters } }) => {
      const { rows } = await pool.query<Row>(ingestPage(organisation_id, filters, cursor, limit + 1))
      const { page, next_cursor } = pageOf(rows, limit, (row) => row)
      const shown = page.map(({ document }) => ({ ...document, explanation: explain(document) }))
      const data = [...(await withNamedPeople({ pool, eventLog }, organisation_id, shown))]
      return { status: 200, body: { data, next_cursor } }
    },
  ),
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address: `${address}/ingests/:ingest_id`,
      summary: 'Show what became of a lead that was sent',
      path: OrganisationPath.extend({ ingest_id: IngestId }),
      answers: { 200: z.object({ data: TeamIngest }) },
    },
    async ({ path: { organisation_id, ingest_id } }) => {
      const found = await findReceived(organisation_id, ingest_id, async () =>
        findDocument<IngestRecord>(db, 'ingests', organisation_id, ingest_id),
      )
      if (!found) throw notFound('ingest')
      const [shown] = await withNamedPeople({ pool: db, eventLog }, organisation_id, [found])
      return { status: 200, body: { data: { ...found, person: null, ...shown, explanation: explain(found) } } }
    },
  ),
  route(
    {
      ...teamRoute('leads'),
      method: 'get',
      address: `${address}/proposed_details`,
      summary: 'List the people of whom details were told that differ from those held, the latest first',
      path: OrganisationPath,
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(Proposals), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path, query }) => {
      const list = { table: 'customers', time: 'proposed_at' } as const
      const { page, next_cursor } = await newestFirst<Customer>(pool, list, { ...path, ...query })
      const data = page.map(({ at: proposed_at, document }) => ({
        contact_id: document.id,
        held: CustomerDetails.parse(document),
        proposed: document.proposed,
        proposed_at: proposed_at.toISOString(),
      }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
  route(
    {
      ...impersonalRoute('owner', 'leads'),
      method: 'get',
      address: `${address}/reading_use`,
      summary: 'List how much the organisation has used its language model for reading leads, the latest day first',
      path: OrganisationPath,
      query: z.object({
        before: z.iso.date().optional().describe('The cursor: the last day of the former page.'),
        limit: pageParameters.limit,
      }),
      answers: { 200: z.object({ data: z.array(ReadingDay), next_before: z.iso.date().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { before, limit: most } }) => {
      const { rows } = await pool.query<z.output<typeof ReadingDay>>(sql`
        select to_char(day, 'YYYY-MM-DD') as day, calls, tokens::float8 as tokens from reading_use
        where organisation_id = ${organisation_id} and (${before ?? null}::date is null or day < ${before ?? null}::date)
        order by reading_use.day desc limit ${most}`)
      return { status: 200, body: { data: rows, next_before: rows.at(most - 1)?.day ?? null } }
    },
  ),
]
