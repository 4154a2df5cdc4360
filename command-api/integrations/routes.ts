import { z } from 'zod'
import { endpointConnection, type EndpointConnectionCommand } from '#domain/integrations/endpoint-connection.ts'
import { EndpointConnectionId } from '#domain/integrations/events.ts'
import { EndpointConnection } from '#domain/integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { endpointConnectionIdOf } from './ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { pageByName, pageParameters } from '../page.ts'
import type { LiveConnections } from './live-connections.ts'
import { chosenSecret, GivenSecret, sealSigningSecret, type SealingKeys } from './signing-secret.ts'
import { realNow } from '#infra/clock.ts'

type Deps = {
  readonly writer: Writer
  readonly keys: SealingKeys
  readonly connections: LiveConnections
  /** True where the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
}

const connectionsAddress = '/admin/v1/organisations/:organisation_id/endpoint_connections'
const oneConnection = `${connectionsAddress}/:endpoint_connection_id` as const

const ConnectionsPath = z.object({ organisation_id: OrganisationId })
const ConnectionPath = ConnectionsPath.extend({ endpoint_connection_id: EndpointConnectionId })

const BaseUrl = z
  .string()
  .meta({ pattern: '^https://([a-z0-9]+\\.)+[a-z]+(/[a-z0-9/_-]*)?$' })
  .describe('Begins with https://. Webhooks are sent to exactly this address.')
const NewConnection = z.object({
  name: z.string().trim().min(1).max(200),
  base_url: BaseUrl,
  signing_secret: GivenSecret,
})

const mostOverlap = 30 * 86_400
const OverlapSeconds = z
  .int()
  .min(0)
  .max(mostOverlap)
  .default(0)
  .describe('For how long the secret that signs now goes on signing; 0: the new one signs at once.')

const OneConnection = z.object({ data: EndpointConnection })
const OneWithSecret = z.object({
  data: EndpointConnection.extend({ signing_secret: z.string().describe('Shown now and never again.') }).meta({
    id: 'EndpointConnectionWithSecret',
  }),
})

const noConnection = () => notFound('endpoint connection')

/** The operator's routes for the endpoints that webhooks go to. */
export const endpointConnectionRoutes = ({ writer, keys, connections, allowsHttp }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, endpointConnection)

  const change = async (
    { organisation_id, endpoint_connection_id: id }: z.output<typeof ConnectionPath>,
    command: EndpointConnectionCommand,
    facts: RequestFacts,
  ): Promise<EndpointConnection> => {
    const known = await load(id)
    if (!known || known.record.organisation_id !== organisation_id) throw noConnection()
    const { state } = await handle(id, command, teamContext(organisation_id, facts))
    return (state ?? known).record
  }

  const find = ({ organisation_id, endpoint_connection_id }: z.output<typeof ConnectionPath>): EndpointConnection => {
    const found = connections.get(endpoint_connection_id)
    if (!found || found.organisation_id !== organisation_id) throw noConnection()
    return found
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: connectionsAddress,
        summary: 'List the endpoint connections of an organisation, by name',
        path: ConnectionsPath,
        query: z.object(pageParameters),
        answers: {
          200: z.object({ data: z.array(EndpointConnection).readonly(), next_cursor: z.string().nullable() }),
        },
      },
      async ({ path: { organisation_id }, query }) => {
        const own = [...connections.values()].filter((each) => each.organisation_id === organisation_id)
        return { status: 200, body: pageByName('endpoint_connections', own, query) }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: connectionsAddress,
        summary: 'Create an endpoint connection; its signing secret is shown once, in this answer',
        path: ConnectionsPath,
        body: NewConnection,
        errors: ['conflict'],
        answers: { 201: OneWithSecret },
      },
      async ({ path: { organisation_id }, body: { name, base_url, signing_secret: given }, ...facts }) => {
        const endpoint_connection_id = endpointConnectionIdOf(organisation_id, name)
        const { secret: signing_secret } = chosenSecret(given)
        const { state } = await handle(
          endpoint_connection_id,
          {
            type: 'CreateEndpointConnection',
            endpoint_connection_id,
            organisation_id,
            name,
            base_url,
            http_allowed: allowsHttp(base_url),
            sealed_secret: sealSigningSecret(keys, signing_secret, organisation_id, endpoint_connection_id),
          },
          teamContext(organisation_id, facts),
        )
        if (!state) throw noConnection()
        return { status: 201, body: { data: { ...state.record, signing_secret } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: oneConnection,
        summary: 'Show an endpoint connection',
        path: ConnectionPath,
        answers: { 200: OneConnection },
      },
      async ({ path }) => ({ status: 200, body: { data: find(path) } }),
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: oneConnection,
        summary: 'Move an endpoint connection to another address; what waits to be sent goes there too',
        path: ConnectionPath,
        body: z.object({ base_url: BaseUrl }),
        answers: { 200: OneConnection },
      },
      async ({ path, body: { base_url }, ...facts }) => {
        const command = { type: 'MoveEndpointConnection', base_url, http_allowed: allowsHttp(base_url) } as const
        return { status: 200, body: { data: await change(path, command, facts) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${oneConnection}/regenerate_secret`,
        summary:
          'Replace the signing secret, shown once, in this answer. It signs everything from now on, or after overlap_seconds',
        path: ConnectionPath,
        body: z.object({ signing_secret: GivenSecret, overlap_seconds: OverlapSeconds }),
        answers: { 200: OneWithSecret },
      },
      async ({ path, body, ...facts }) => {
        const { secret: signing_secret } = chosenSecret(body.signing_secret)
        const { organisation_id, endpoint_connection_id } = path
        const sealed_secret = sealSigningSecret(keys, signing_secret, organisation_id, endpoint_connection_id)
        const overlapMs = body.overlap_seconds * 1000
        // In real time, as signatures are.
        const former_signs_until = overlapMs === 0 ? null : new Date(realNow() + overlapMs).toISOString()
        const command = { type: 'RegenerateEndpointSecret', sealed_secret, former_signs_until } as const
        const changed = await change(path, command, facts)
        return { status: 200, body: { data: { ...changed, signing_secret } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'delete',
        address: oneConnection,
        summary: 'Remove an endpoint connection; what waits to be sent over it is cancelled',
        path: ConnectionPath,
        answers: { 200: z.object({ data: z.object({ id: EndpointConnectionId, removed: z.literal(true) }) }) },
      },
      async ({ path, ...facts }) => {
        const { id } = await change(path, { type: 'RemoveEndpointConnection' }, facts)
        return { status: 200, body: { data: { id, removed: true } } }
      },
    ),
  ]
}
