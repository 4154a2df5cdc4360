import { z } from 'zod'
import { CustomIntegrationId, IntegrationConnectionId } from '#domain/custom-integrations/events.ts'
import {
  CustomIntegration,
  Direction,
  IntegrationConnection,
  shownConnection,
  type Integrations,
  type SealedConnection,
} from '#domain/custom-integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { impersonalRoute, teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { highestId, pageOf, pageParameters, readCursor, type CursorPosition } from '../page.ts'

const organisation = '/admin/v1/organisations/:organisation_id'
const OrganisationPath = z.object({ organisation_id: OrganisationId })

const LogEntry = z
  .object({
    id: z.uuid(),
    custom_integration_id: CustomIntegrationId,
    integration_connection_id: IntegrationConnectionId,
    direction: Direction,
    at: z.iso.datetime(),
    accepted: z.boolean().describe('Inbound: it was answered 200. Outbound: it was delivered.'),
    status: z.int().nullable().describe('What was answered; null: nothing.'),
    reason: z.string().describe('What followed, or why it was refused.'),
    event_type: z.string().nullable(),
    subject_id: z.uuid().nullable().describe('The inbound event and its outcome, or the delivery of ours.'),
    bytes: z.int().nullable().describe('How large the body was.'),
    source_address: z.string().nullable(),
    count: z.int().describe('More than 1: so many were refused within the minute for being too many.'),
  })
  .meta({ id: 'IntegrationLogEntry' })

type Deps = { readonly pool: Database; readonly integrations: Integrations; readonly baseUrl: string }

/** Systems of firms that post to us and are called by us, and the result of each delivery. */
export const customIntegrationReads = ({ pool, integrations: known, baseUrl }: Deps): Route[] => {
  const shown = (connection: SealedConnection): IntegrationConnection => {
    const integration = known.integrations.get(connection.custom_integration_id)
    if (!integration) throw new Error(`Integration ${connection.custom_integration_id} is not known here.`)
    return shownConnection(connection, integration, baseUrl)
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: `${organisation}/custom_integrations`,
        summary: 'List the custom integrations of an organisation, newest first',
        path: OrganisationPath,
        query: z.object(pageParameters),
        answers: { 200: z.object({ data: z.array(CustomIntegration), next_cursor: z.string().nullable() }) },
      },
      async ({ path: { organisation_id }, query }) => {
        const own = [...known.integrations.values()].filter((each) => each.organisation_id === organisation_id)
        const { page, next_cursor } = newestFirst(own, query)
        return { status: 200, body: { data: page.slice(), next_cursor } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: `${organisation}/custom_integrations/:custom_integration_id`,
        summary: 'Show a custom integration',
        path: OrganisationPath.extend({ custom_integration_id: CustomIntegrationId }),
        answers: { 200: z.object({ data: CustomIntegration }) },
      },
      async ({ path: { organisation_id, custom_integration_id } }) => {
        const found = known.integrations.get(custom_integration_id)
        if (found?.organisation_id !== organisation_id) throw notFound('custom integration')
        return { status: 200, body: { data: found } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: `${organisation}/integration_connections`,
        summary: 'List the connections of an organisation’s integrations with the address of each, newest first',
        path: OrganisationPath,
        query: z.object({ custom_integration_id: CustomIntegrationId.optional(), ...pageParameters }),
        answers: { 200: z.object({ data: z.array(IntegrationConnection), next_cursor: z.string().nullable() }) },
      },
      async ({ path: { organisation_id }, query }) => {
        const { custom_integration_id: wanted } = query
        const own = [...known.connections.values()].filter(
          (each) =>
            each.organisation_id === organisation_id && (wanted === undefined || each.custom_integration_id === wanted),
        )
        const { page, next_cursor } = newestFirst(own, query)
        return { status: 200, body: { data: page.map(shown), next_cursor } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: `${organisation}/integration_connections/:integration_connection_id`,
        summary: 'Show a connection, with the address that the other system posts to',
        path: OrganisationPath.extend({ integration_connection_id: IntegrationConnectionId }),
        answers: { 200: z.object({ data: IntegrationConnection }) },
      },
      async ({ path: { organisation_id, integration_connection_id } }) => {
        const found = known.connections.get(integration_connection_id)
        if (found?.organisation_id !== organisation_id) throw notFound('connection')
        return { status: 200, body: { data: shown(found) } }
      },
    ),
    route(
      {
        ...teamRoute('owner', 'operator'),
        method: 'get',
        address: `${organisation}/integration_logs`,
        summary:
          'List every delivery that came in or went out over custom integrations, refused ones too, newest first',
        path: OrganisationPath,
        query: z.object({
          integration_connection_id: IntegrationConnectionId.optional(),
          direction: Direction.optional(),
          accepted: z.enum(['true', 'false']).optional(),
          ...pageParameters,
        }),
        answers: { 200: z.object({ data: z.array(LogEntry), next_cursor: z.string().nullable() }) },
      },
      async ({
        path: { organisation_id },
        query: { integration_connection_id, direction, accepted, limit, cursor },
      }) => {
        const { at, id } = cursor === undefined ? latest : readCursor(cursor)
        const { rows } = await pool.query<LogRow>(
          logPage({
            organisation_id,
            connection_id: integration_connection_id,
            directions: direction === undefined ? Direction.options : [direction],
            accepted: accepted === undefined ? [true, false] : [accepted === 'true'],
            before: { at, id },
            limit: limit + 1,
          }),
        )
        const { page, next_cursor } = pageOf(rows, limit, (row) => row)
        return { status: 200, body: { data: page.map((row) => ({ ...row, at: row.at.toISOString() })), next_cursor } }
      },
    ),
  ]
}

type LogRow = Omit<z.output<typeof LogEntry>, 'at'> & { readonly at: Date }

type LogFilter = {
  readonly organisation_id: OrganisationId
  readonly connection_id: IntegrationConnectionId | undefined
  readonly directions: readonly z.output<typeof Direction>[]
  readonly accepted: readonly boolean[]
  readonly before: CursorPosition
  readonly limit: number
}

/**
 * The newest of each direction and outcome that is asked for, each through an index, and of those the newest: a page costs the
 * same whatever it is filtered by, and however rare that is.
 */
const logPage = ({ organisation_id, connection_id, directions, accepted, before, limit }: LogFilter) => {
  const values: unknown[] = [organisation_id, directions, accepted, before.at, before.id, limit]
  // What is not asked for is left out, so that the right index is used.
  const ofConnection = connection_id === undefined ? '' : `and connection_id = $${values.push(connection_id)}`
  return {
    text: `select found.* from unnest($2::text[]) as asked (direction) cross join unnest($3::boolean[]) as ended (accepted)
      cross join lateral (
        select id, custom_integration_id, connection_id as integration_connection_id, direction, at, accepted, status,
          reason, event_type, subject_id, bytes, source_address, count
        from integration_log as entry
        where organisation_id = $1 and entry.direction = asked.direction and entry.accepted = ended.accepted
          and (at, id) < ($4::timestamptz, $5::uuid) ${ofConnection}
        order by at desc, id desc limit $6) as found
      order by at desc, id desc limit $6`,
    values,
  }
}

const latest = { at: '9999-12-31T00:00:00.000Z', id: highestId }

type Created = { readonly created_at: string; readonly id: string }

/** A page of what this process keeps in memory. */
const newestFirst = <Kept extends Created>(
  all: readonly Kept[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
) => {
  const place = cursor === undefined ? latest : readCursor(cursor)
  const keyOf = ({ created_at, id }: Created): string => `${created_at} ${id}`
  const before = keyOf({ created_at: place.at, id: place.id })
  const rest = all
    .filter((each) => keyOf(each) < before)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1))
    .slice(0, limit + 1)
  return pageOf(rest, limit, ({ created_at, id }) => ({ at: new Date(created_at), id }))
}
