import { z } from 'zod'
import { ConsentSaid } from '#domain/customers/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Limit, nextCursor, placeOf } from '../feed.ts'

const list = 'consent_history'

/** What people have said to being contacted. */
export const customerAdminRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      tag: 'Operator',
      access: { kind: 'operator' },
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/consent_history',
      summary:
        'List what people said to being contacted, and what they withdrew, in the order in which it was recorded',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ contact_id: CustomerId.optional(), cursor: z.string().optional(), limit: Limit }),
      answers: { 200: z.object({ data: z.array(ConsentSaid), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { contact_id, cursor, limit } }) => {
      const values: unknown[] = [organisation_id, placeOf(list, cursor), limit]
      const ofPerson = contact_id === undefined ? '' : `and contact_id = $${values.push(contact_id)}`
      const { rows } = await pool.query<{ position: string; document: ConsentSaid }>({
        text: `select position, document from consent_history
          where organisation_id = $1 and "position" collate "C" > $2 ${ofPerson}
          order by "position" collate "C" limit $3`,
        values,
      })
      const data = rows.map(({ document }) => document)
      return { status: 200, body: { data, next_cursor: nextCursor(list, rows, cursor) } }
    },
  ),
]
