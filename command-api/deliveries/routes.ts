import { z } from 'zod'
import type { Integrations } from '#domain/custom-integrations/record.ts'
import { DeliveryRecoveryId, EndedState } from '#domain/deliveries/events.ts'
import { deliveryPing } from '#domain/deliveries/ping.ts'
import { DeliverySettings } from '#domain/deliveries/record.ts'
import { deliveryRecovery } from '#domain/deliveries/recovery.ts'
import { deliverySettings } from '#domain/deliveries/settings.ts'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId, newId } from '#infra/ids.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { countDeliveries, countedMost } from './count.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  /** Everything that deliveries are sent over, by id: endpoints of the firm, and connections of its integrations. */
  readonly connections: ReadonlyMap<string, { readonly organisation_id: OrganisationId }>
  readonly integrations: Integrations
}

const organisationAddress = '/admin/v1/organisations/:organisation_id'
const connectionAddress = `${organisationAddress}/connections/:connection_id` as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const ConnectionPath = OrganisationPath.extend({ connection_id: z.uuid() })

const isMissed = { properties: { missed: { const: true } }, required: ['missed'] }

const AskedRecovery = z
  .object({
    delivery_id: z.uuid().optional().describe('Only this delivery.'),
    connection_id: z.uuid().optional().describe('Only what is sent over this connection.'),
    since: SentInstant.optional().describe('From the events that were recorded at or after this time on.'),
    until: SentInstant.optional().describe('Up to this time; left out: up to now.'),
    types: z
      .array(z.string().regex(/^[\w.]{1,100}$/, 'must be an event type such as quote.issued'))
      .min(1)
      .max(100)
      .optional()
      .describe('Only these types of events.'),
    states: z
      .array(EndedState)
      .min(1)
      .default(['failed'])
      .describe('Only what ended like this. What was delivered is sent again only if that is named.'),
    per_second: z
      .number()
      .min(0.1)
      .max(1_000)
      .default(50)
      .describe('At most so many a second. The limits of the connection hold besides.'),
    missed: z
      .boolean()
      .default(false)
      .describe(
        'With connection_id: begins again to send over a connection that was disabled, and sends what failed since it began to fail.',
      ),
    dry_run: z.boolean().default(false).describe('Only counts, and changes nothing.'),
  })
  .meta({
    anyOf: [
      { required: ['connection_id', 'missed'] },
      // Said with `not`: from a constant `false` openapi-python-client makes a file that Python cannot read.
      ...['delivery_id', 'since'].map((name) => ({ properties: { [name]: {} }, required: [name], not: isMissed })),
    ],
  })

const Asked = z
  .object({ id: DeliveryRecoveryId, organisation_id: OrganisationId, per_second: z.number() })
  .meta({ id: 'DeliveryRecoveryRequest' })
const Counted = z
  .object({
    deliveries: z.int().describe(`How many would be sent again, counted up to ${countedMost}.`),
    by_state: z.record(z.string(), z.int()),
  })
  .meta({ id: 'DeliveryRecoveryCount' })

const oneSettings = z.object({ data: DeliverySettings })

/** The operator's routes for deliveries: they are sent again, their settings changed, and connections tried. */
export const deliveryOperatorRoutes = ({ writer, pool, connections, integrations }: Deps): Route[] => {
  const recoveries = commandHandler(writer, deliveryRecovery)
  const settings = commandHandler(writer, deliverySettings)
  const pings = commandHandler(writer, deliveryPing)

  const refuseUnknown = ({ organisation_id, connection_id }: z.output<typeof ConnectionPath>): void => {
    const known = connections.get(connection_id) ?? outboundOf(connection_id)?.connection
    if (known?.organisation_id !== organisation_id) throw notFound('connection')
  }

  /** A connection of an integration that is called. */
  const outboundOf = (id: string) => {
    const connection = integrations.connections.get(id)
    const outbound = connection && integrations.integrations.get(connection.custom_integration_id)?.outbound
    return connection && outbound ? { connection, outbound } : undefined
  }

  /** Only the firm knows which endpoint of an integration can be called without harm. */
  const endpointToPing = (connection_id: string, endpoint: string | undefined): string | null => {
    const called = outboundOf(connection_id)
    if (!called) return null
    const keys = called.outbound.endpoints.map(({ key }) => key)
    if (endpoint !== undefined && keys.some((key) => key === endpoint)) return endpoint
    const reason = `must be an endpoint of the integration: ${keys.join(', ')}`
    throw new Problem('validation_failed', 'Say which endpoint is to be called.', { fields: { endpoint: reason } })
  }

  const askedFor = ({ missed, ...asked }: Omit<z.output<typeof AskedRecovery>, 'dry_run'>) => {
    if (missed && asked.connection_id === undefined) throw missing('connection_id', 'is required with missed')
    if (!missed && asked.delivery_id === undefined && asked.since === undefined)
      throw missing('since', 'is required without delivery_id or missed')
    return {
      delivery_id: asked.delivery_id ?? null,
      connection_id: asked.connection_id ?? null,
      types: asked.types ?? null,
      states: asked.states,
      since: asked.since ?? null,
      until: asked.until ?? null,
      per_second: asked.per_second,
      enables: missed,
    }
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'post',
        address: `${organisationAddress}/delivery_recoveries`,
        summary:
          'Send deliveries again, each with its Idempotency-Key: one, those of a connection, or all since a time. With dry_run they are only counted',
        path: OrganisationPath,
        body: AskedRecovery,
        headers: { 'Idempotency-Key': onceForKey('request') },
        answers: { 200: z.object({ data: Counted }), 202: z.object({ data: Asked }) },
        errors: ['idempotency_key_conflict'],
      },
      async ({ path: { organisation_id }, body, ...facts }) => {
        if (body.connection_id !== undefined) refuseUnknown({ organisation_id, connection_id: body.connection_id })
        const asked = askedFor(body)
        const key = keyInHeader(facts)
        if (body.dry_run)
          return { status: 200, body: { data: await countDeliveries(pool, { organisation_id, ...asked }) } }

        const id = DeliveryRecoveryId.parse(
          key === undefined ? newId() : derivedId('delivery_recovery', organisation_id, key),
        )
        const { state } = await recoveries.handle(
          id,
          { type: 'RequestDeliveryRecovery', asked: { delivery_recovery_id: id, organisation_id, ...asked } },
          teamContext(organisation_id, facts),
        )
        return {
          status: 202,
          body: { data: { id, organisation_id, per_second: (state ?? asked).per_second } },
        }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: `${connectionAddress}/delivery_settings`,
        summary: 'Show how deliveries are sent over a connection',
        path: ConnectionPath,
        answers: { 200: oneSettings },
      },
      async ({ path }) => {
        refuseUnknown(path)
        return { status: 200, body: { data: await settings.load(path.connection_id) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'patch',
        address: `${connectionAddress}/delivery_settings`,
        summary: 'Change how deliveries are sent over a connection: rate, number at once, order, when it is disabled',
        path: ConnectionPath,
        body: DeliverySettings.partial().meta({ id: 'DeliverySettingsChange' }),
        answers: { 200: oneSettings },
      },
      async ({ path, body, ...facts }) => {
        refuseUnknown(path)
        const { organisation_id, connection_id } = path
        const { state } = await settings.handle(
          connection_id,
          { type: 'ChangeDeliverySettings', organisation_id, connection_id, settings: body },
          teamContext(organisation_id, facts),
        )
        return { status: 200, body: { data: state } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'post',
        address: `${connectionAddress}/ping`,
        summary:
          'Try a connection: sends webhook.ping over it, to an endpoint of its own or to one of an integration. What became of it stands in the list of deliveries',
        path: ConnectionPath,
        body: z.object({
          endpoint: z
            .string()
            .optional()
            .describe('Of an integration: the key of the endpoint to call, with its template.'),
        }),
        answers: { 202: z.object({ data: z.object({ event_type: z.literal('webhook.ping'), stream: z.string() }) }) },
      },
      async ({ path, body, ...facts }) => {
        refuseUnknown(path)
        const { organisation_id, connection_id } = path
        const endpoint = endpointToPing(connection_id, body.endpoint)
        const id = newId()
        await pings.handle(
          id,
          { type: 'PingConnection', organisation_id, connection_id, endpoint },
          teamContext(organisation_id, facts),
        )
        return { status: 202, body: { data: { event_type: 'webhook.ping', stream: `delivery_ping-${id}` } } }
      },
    ),
  ]
}

const missing = (field: string, reason: string) =>
  new Problem('validation_failed', 'Say which deliveries are to be sent again.', { fields: { [field]: reason } })
