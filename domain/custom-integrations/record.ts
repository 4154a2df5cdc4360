import { z } from 'zod'
import { idOf } from '../event.ts'
import { OrganisationId } from '../values.ts'
import {
  CustomIntegrationId,
  customIntegrationEvents,
  Inbound,
  IntegrationConnectionId,
  integrationConnectionEvents,
  Outbound,
  type CustomIntegrationEvent,
  type IntegrationConnectionEvent,
} from './events.ts'

export const Direction = z.enum(['inbound', 'outbound'])

/** A custom integration as the operator sees it. */
export const CustomIntegration = z
  .object({
    id: CustomIntegrationId,
    organisation_id: OrganisationId,
    name: z.string(),
    direction: Direction,
    inbound: Inbound.nullable(),
    outbound: Outbound.nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'CustomIntegration' })
export type CustomIntegration = z.infer<typeof CustomIntegration>

/** A connection of an integration, with its secrets as they are kept. They are never shown. */
export type SealedConnection = {
  readonly id: IntegrationConnectionId
  readonly custom_integration_id: CustomIntegrationId
  readonly organisation_id: OrganisationId
  readonly name: string
  readonly sealed_secrets: Readonly<Record<string, string>>
  readonly revoked_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A connection as the operator sees it. */
export const IntegrationConnection = z
  .object({
    id: IntegrationConnectionId,
    organisation_id: OrganisationId,
    custom_integration_id: CustomIntegrationId,
    integration: z.string().describe('The name of its integration.'),
    name: z.string(),
    direction: Direction,
    delivery_url: z.string().nullable().describe('Where the other system posts its events; null: it is outbound.'),
    secrets: z.array(z.string()).describe('The names of the secrets that are set. What they are is not shown.'),
    revoked_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'IntegrationConnection' })
export type IntegrationConnection = z.infer<typeof IntegrationConnection>

export const inboundAddress = '/api/v1/webhooks/integrations/custom_http'

export const shownConnection = (
  { sealed_secrets, ...connection }: SealedConnection,
  { name: integration, direction }: CustomIntegration,
  baseUrl: string,
): IntegrationConnection => ({
  ...connection,
  integration,
  direction,
  delivery_url: direction === 'inbound' ? `${baseUrl}${inboundAddress}/${connection.id}` : null,
  secrets: Object.keys(sealed_secrets).toSorted(),
})

type Occurred = { readonly occurred_at: string }

export const evolveCustomIntegration = (
  integration: CustomIntegration | undefined,
  event: CustomIntegrationEvent,
  { occurred_at }: Occurred,
): CustomIntegration | undefined => {
  switch (event.type) {
    case 'CustomIntegrationCreated': {
      const { type: _type, custom_integration_id: id, ...declared } = event
      const direction = event.inbound ? 'inbound' : 'outbound'
      return { id, ...declared, direction, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'CustomIntegrationChanged': {
      const { inbound, outbound } = event
      return integration && { ...integration, inbound, outbound, updated_at: occurred_at }
    }
  }
}

export const evolveIntegrationConnection = (
  connection: SealedConnection | undefined,
  event: IntegrationConnectionEvent,
  { occurred_at }: Occurred,
): SealedConnection | undefined => {
  switch (event.type) {
    case 'IntegrationConnectionCreated': {
      const { integration_connection_id: id, custom_integration_id, organisation_id, name } = event
      const times = { revoked_at: null, created_at: occurred_at, updated_at: occurred_at }
      return { id, custom_integration_id, organisation_id, name, sealed_secrets: {}, ...times }
    }
    case 'IntegrationSecretSet': {
      const { name, sealed_secret } = event
      const sealed_secrets = { ...connection?.sealed_secrets, [name]: sealed_secret }
      return connection && { ...connection, sealed_secrets, updated_at: occurred_at }
    }
    case 'IntegrationConnectionRevoked':
      return connection && { ...connection, sealed_secrets: {}, revoked_at: occurred_at, updated_at: occurred_at }
  }
}

/** All integrations and connections there are, as a process keeps them in memory. */
export type Integrations = {
  readonly integrations: Map<string, CustomIntegration>
  readonly connections: Map<string, SealedConnection>
}

export const noIntegrations = (): Integrations => ({ integrations: new Map(), connections: new Map() })

const isOfIntegration = (event: CustomIntegrationEvent | IntegrationConnectionEvent): event is CustomIntegrationEvent =>
  event.type in customIntegrationEvents

/** Applies events to them, in place. */
export const integrationsFold = {
  name: 'custom integrations',
  version: 1,
  categories: ['custom_integration', 'integration_connection'],
  events: { ...customIntegrationEvents, ...integrationConnectionEvents },
  apply: (
    { integrations, connections }: Integrations,
    event: CustomIntegrationEvent | IntegrationConnectionEvent,
    { stream, metadata }: { readonly stream: string; readonly metadata: Occurred },
  ) => {
    const id = idOf(stream)
    if (isOfIntegration(event)) {
      const integration = evolveCustomIntegration(integrations.get(id), event, metadata)
      if (integration) integrations.set(id, integration)
    } else {
      const connection = evolveIntegrationConnection(connections.get(id), event, metadata)
      if (connection) connections.set(id, connection)
    }
  },
} as const

/** The binding under which a connection's secret is sealed: under another it cannot be opened. */
export const integrationSecretBinding = (
  organisationId: string,
  connectionId: string,
  name: string,
): readonly string[] => [organisationId, `integration_connection-${connectionId}`, name]
