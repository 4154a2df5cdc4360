import { z } from 'zod'
import { installation, kindsNamed } from '#domain/event-kinds.ts'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { auditRoute, route, teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../page.ts'
import { AuditEvent, personalParameter, readEvents } from './event.ts'
import { searchEvents } from './search.ts'

const text = z.string().min(1).max(200).optional()

const Filters = z.object({
  record: z
    .string()
    .regex(/^[a-z_]+-./, 'must be the type of a record and its id, joined by a dash')
    .max(200)
    .toLowerCase()
    .optional()
    .describe(
      'The type of a record and its id: `policy-<id>`. Quotes stand with their application, premiums and claims with their policy.',
    ),
  person_id: z.uuid().optional().describe('Of events about this person: `customer.id`, which is also `contact_id`.'),
  actor_id: text.describe(
    'Who did it: the name of an operator’s key, the id of an API application, the name of a reaction or a timer.',
  ),
  actor_type: text.describe('`user`, `operator`, `api` or `system`.'),
  kind: text.describe('What happened: its type (`PolicyCancelled`) or its published name (`policy.cancelled`).'),
  request_id: text.describe('Of what this request led to: its X-Request-Id.'),
  recorded_since: SentInstant.optional().describe('Recorded from this moment on.'),
  recorded_until: SentInstant.optional().describe('Recorded before this moment.'),
  occurred_since: SentInstant.optional().describe('Happened, in business time, from this moment on.'),
  occurred_until: SentInstant.optional().describe('Happened before this moment.'),
  personal: personalParameter,
  ...pageParameters,
})
type Filters = z.output<typeof Filters>

const Page = z.object({
  data: z.array(AuditEvent),
  next_cursor: z.string().nullable().describe('To older events.'),
  previous_cursor: z.string().nullable().describe('To newer events.'),
  as_of_position: z
    .string()
    .nullable()
    .describe('What the log holds beyond this position is not shown yet. null: nothing is shown yet.'),
})

type Deps = { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'> }

/** The events of the whole log: who did what, and when. */
export const auditEventRoutes = (deps: Deps): Route[] => [
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/events',
      summary:
        'Search all that happened in an organisation, newest first. A page may hold fewer than limit, or none, although there are more: go on with next_cursor',
      path: z.object({ organisation_id: OrganisationId }),
      query: Filters,
      answers: { 200: Page },
    },
    async ({ path, query }) => ({ status: 200, body: await pageOf(deps, path.organisation_id, query) }),
  ),
  route(
    {
      ...teamRoute('operator'),
      method: 'get',
      address: '/audit/v1/events',
      summary: 'Search what belongs to no organisation, such as the operator’s keys, newest first',
      query: Filters,
      answers: { 200: Page },
    },
    async ({ query }) => ({ status: 200, body: await pageOf(deps, installation, query) }),
  ),
]

const pageOf = async (
  { pool, eventLog }: Deps,
  organisation_id: string,
  { record, kind, request_id, personal, ...asked }: Filters,
): Promise<z.input<typeof Page>> => {
  const search = {
    ...asked,
    organisation_id,
    stream: record,
    kinds: kind === undefined ? undefined : kindsOf(kind),
    correlation_id: request_id,
  }
  const { rows, ...found } = await searchEvents(pool, search)
  const data = await readEvents(eventLog, rows, personal)
  if (data.length === rows.length) return { data: [...data], ...found }
  // They are large: those that are left out are asked for again, as a page of their own.
  return pageOf({ pool, eventLog }, organisation_id, {
    ...asked,
    record,
    kind,
    request_id,
    personal,
    limit: data.length,
  })
}

const kindsOf = (kind: string) => {
  const kinds = kindsNamed(kind)
  if (kinds.length > 0) return kinds
  throw new Problem('invalid_parameter', 'Correct kind and send the request again.', {
    fields: { kind: 'is not the name of an event' },
  })
}
