import { z } from 'zod'
import { ConsentSaid, VerificationSaid } from '#domain/customers/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { route, teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Limit, nextCursor, readCursor } from '../feed.ts'

const path = z.object({ organisation_id: OrganisationId })
const query = z.object({ contact_id: CustomerId.optional(), cursor: Cursor, limit: Limit })

type Asked = { readonly path: z.infer<typeof path>; readonly query: z.infer<typeof query> }

/** A page of what was recorded of people, in that order. */
const page = async <Said>(
  pool: Database,
  list: 'consent_history' | 'verification_history',
  { path: { organisation_id }, query: { contact_id, cursor, limit } }: Asked,
) => {
  const values: unknown[] = [organisation_id, readCursor(list, cursor), limit]
  const ofPerson = contact_id === undefined ? '' : `and contact_id = $${values.push(contact_id)}`
  const { rows } = await pool.query<{ position: string; document: Said }>({
    text: `select position, document from ${list}
      where organisation_id = $1 and "position" collate "C" > $2 ${ofPerson}
      order by "position" collate "C" limit $3`,
    values,
  })
  const data = rows.map(({ document }) => document)
  return { status: 200 as const, body: { data, next_cursor: nextCursor(list, rows, cursor) } }
}

const team = { ...teamRoute('leads', 'policies'), method: 'get', path, query } as const

/** People's answers on being contacted, and the details confirmed to be theirs. */
export const customerAdminRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      ...team,
      address: '/admin/v1/organisations/:organisation_id/consent_history',
      summary:
        'List what people said to being contacted, and what they withdrew, in the order in which it was recorded',
      answers: { 200: z.object({ data: z.array(ConsentSaid), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async (asked) => page<ConsentSaid>(pool, 'consent_history', asked),
  ),
  route(
    {
      ...team,
      address: '/admin/v1/organisations/:organisation_id/verification_history',
      summary:
        'List which email addresses and telephone numbers were confirmed to be people’s, how, and what was taken back',
      answers: { 200: z.object({ data: z.array(VerificationSaid), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async (asked) => page<VerificationSaid>(pool, 'verification_history', asked),
  ),
]
