import { z } from 'zod'
import { OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { listParameters, newestFirst } from '../newest-first.ts'

const Document = z.object({
  record_id: z.uuid(),
  operator: z.string().nullable().describe('The name of the operator’s key.'),
  type: z.string().describe('What happened, as it is stored: `ReleasePublished`.'),
  record_type: z.string(),
  correlation_id: z.string().describe('The X-Request-Id of the request: what one request changed has the same.'),
  names: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('What the changed record is called: slug, key, version, number.'),
})

const SetUpChange = z
  .object({
    id: z.uuid(),
    ...Document.shape,
    changed_at: z.iso.datetime(),
  })
  .meta({ id: 'SetUpChange' })

/** Who changed what in the set-up of an organisation, for the operator and for auditors. */
export const setUpChangeRoutes = ({ db }: { readonly db: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/set_up_changes',
      tag: 'Operator',
      summary: 'List who changed what in the set-up of an organisation, and when, newest first',
      access: { kind: 'operator' },
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({
        ...listParameters,
        record_id: z.uuid().optional(),
        operator: z.string().min(1).max(200).optional().describe('The name of a key of the operator.'),
      }),
      answers: { 200: z.object({ data: z.array(SetUpChange), next_cursor: z.string().nullable() }) },
    },
    async ({ path: { organisation_id }, query: { record_id, operator, ...asked } }) => {
      const list = { table: 'set_up_changes', time: 'changed_at', organisation_id, ...asked } as const
      const { page, next_cursor } = await newestFirst<z.infer<typeof Document>>(db, {
        ...list,
        filters: { record_id, operator },
      })
      const data = page.map(({ id, at, document }) => ({ id, ...document, changed_at: at.toISOString() }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
]
