import { z } from 'zod'
import { Erasure, Remaining, whatRemains } from '#domain/erasures/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { pageOf, pageParameters, readCursor } from '../page.ts'

const ErasureShown = Erasure.extend({
  finished: z.boolean().describe('Whether the read models have forgotten the person, too.'),
  remains: z.array(Remaining).describe('All that stays, and the reason.'),
}).meta({ id: 'ErasureShown' })

type Row = { readonly document: Erasure; readonly requested_at: Date; readonly finished: boolean }

/** One consumer does all that follows from an erasure, and may have set a record aside. */
const selected = `
  select document, requested_at, document ->> 'erased_at' is not null
    and coalesce((select stored."position" from consumer_checkpoint as stored where stored.name = 'erased-people'), '')
      collate "C" >= erasures."position" collate "C"
    and not exists (select from consumer_set_aside as aside
      where aside.consumer = 'erased-people' and aside.stream = 'erasure-' || erasures.contact_id) as finished
  from erasures`

const shown = ({ document, finished }: Row): z.infer<typeof ErasureShown> => ({
  ...document,
  finished,
  remains: [...whatRemains(document.records_of_type)],
})

/** The people who were erased, and how far that has come. */
export const erasureRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      ...impersonalRoute('owner', 'policies', 'operator'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/erasures',
      summary: 'List the erasures of people, oldest first',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(ErasureShown), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { cursor, limit } }) => {
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const beyond = after ? 'and (requested_at, contact_id) > ($3, $4)' : ''
      const { rows } = await pool.query<Row>({
        text: `${selected} where organisation_id = $1 ${beyond} order by requested_at, contact_id limit $2`,
        values: [organisation_id, limit + 1, ...(after ? [after.at, after.id] : [])],
      })
      const { page, next_cursor } = pageOf(rows, limit, ({ requested_at, document }) => ({
        at: requested_at,
        id: document.contact_id,
      }))
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
  route(
    {
      ...impersonalRoute('owner', 'policies', 'operator'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/erasures/:contact_id',
      summary: 'Show the erasure of a person: how far it has come, what went, and what remains',
      path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
      answers: { 200: z.object({ data: ErasureShown }) },
    },
    async ({ path: { organisation_id, contact_id } }) => {
      const { text, values } = sql`where organisation_id = ${organisation_id} and contact_id = ${contact_id}`
      const { rows } = await pool.query<Row>({ text: `${selected} ${text}`, values })
      const [row] = rows
      if (!row) throw notFound('erasure')
      return { status: 200, body: { data: shown(row) } }
    },
  ),
]
