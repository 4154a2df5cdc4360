import { z } from 'zod'
import { installation } from '#domain/event-kinds.ts'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { auditRoute, impersonalRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../page.ts'
import { findAccesses, recordsOf, type AccessRow } from './find-accesses.ts'

const text = z.string().min(1).max(300).optional()

const Filters = z.object({
  record_id: z.uuid().optional().describe('Of answers that showed this record, or named it.'),
  person_id: z
    .uuid()
    .optional()
    .describe('Of answers that showed this person (`customer.id`, which is also `contact_id`) or a record about them.'),
  actor_id: text.describe('Who was shown it: the id of a user, the name of an operator’s key.'),
  route: text.describe('The address with its parameters as names: `/admin/v1/policies/:id/record`.'),
  since: SentInstant.optional().describe('From this moment on.'),
  until: SentInstant.optional().describe('Before this moment.'),
  ...pageParameters,
})
type Filters = z.output<typeof Filters>

const Access = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor: z.object({ type: z.string().describe('`user` or `operator`.'), id: z.string() }),
    method: z.string(),
    route: z.string(),
    record_type: z.string().describe('As the address names it.'),
    record_ids: z.array(z.uuid()).describe('The records that were shown, and the people that they name.'),
    rows: z.int(),
    personal: z
      .enum(['opened', 'masked'])
      .nullable()
      .describe('Where the route can mask personal values: whether it did. null: it cannot.'),
    filters: z.array(z.string()).describe('The names of the filters that were used, never what was looked for.'),
    request_id: z.string(),
  })
  .meta({ id: 'Access' })

const Page = z.object({
  data: z.array(Access),
  next_cursor: z.string().nullable().describe('To older ones.'),
  previous_cursor: z.string().nullable().describe('To newer ones.'),
})

const shown = ({ at, actor_type, actor_id, rows_shown, ...row }: AccessRow): z.input<typeof Access> => ({
  id: row.id,
  at: at.toISOString(),
  actor: { type: actor_type, id: actor_id },
  method: row.method,
  route: row.route,
  record_type: row.record_type,
  record_ids: [...row.record_ids],
  rows: rows_shown,
  personal: row.personal,
  filters: [...row.filters],
  request_id: row.request_id,
})

/** Who was shown what. Neither holds a personal value, and both are recorded themselves. */
export const accessRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      tag: auditRoute.tag,
      access: { ...auditRoute.access, showsPersonalData: false, showsAccesses: true },
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/accesses',
      summary:
        'List who was shown personal values of an organisation, newest first. A page may hold fewer than limit, or none, although there are more: go on with next_cursor',
      path: z.object({ organisation_id: OrganisationId }),
      query: Filters,
      answers: { 200: Page },
    },
    async ({ path, query }) => ({ status: 200, body: await pageOf(pool, path.organisation_id, query) }),
  ),
  route(
    {
      tag: auditRoute.tag,
      access: { ...impersonalRoute('operator').access, showsAccesses: true },
      method: 'get',
      address: '/audit/v1/accesses',
      summary: 'List who was shown personal values that belong to no organisation, newest first',
      query: Filters,
      answers: { 200: Page },
    },
    async ({ query }) => ({ status: 200, body: await pageOf(pool, installation, query) }),
  ),
]

const pageOf = async (
  pool: Database,
  organisation_id: string,
  { record_id, person_id, ...asked }: Filters,
): Promise<z.input<typeof Page>> => {
  const ofPerson = person_id === undefined ? undefined : await recordsOf(pool, { organisation_id, person_id })
  const ofRecord = record_id === undefined ? undefined : [record_id]
  const record_ids = ofPerson && ofRecord ? ofRecord.filter((id) => ofPerson.includes(id)) : (ofRecord ?? ofPerson)
  const { rows, ...cursors } = await findAccesses(pool, { ...asked, organisation_id, record_ids })
  return { data: rows.map(shown), ...cursors }
}
