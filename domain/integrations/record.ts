import { z } from 'zod'
import { OrganisationId } from '../values.ts'
import { EndpointConnectionId, type EndpointConnectionEvent } from './events.ts'

/** Where signed webhooks go, as the operator sees it: its secret is shown once and never here. */
export const EndpointConnection = z.object({
  id: EndpointConnectionId,
  organisation_id: OrganisationId,
  name: z.string(),
  base_url: z.string(),
  former_secret_signs_until: z.iso
    .datetime()
    .nullable()
    .describe('Until then the secret before the last one signs; null: the last one does.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type EndpointConnection = z.infer<typeof EndpointConnection>

/** What a connection's events add up to; undefined when there is none, or none any more. */
export const evolveEndpointConnection = (
  connection: EndpointConnection | undefined,
  event: EndpointConnectionEvent,
  { occurred_at }: { readonly occurred_at: string },
): EndpointConnection | undefined => {
  if (event.type === 'EndpointConnectionCreated') {
    const { endpoint_connection_id: id, organisation_id, name, base_url } = event
    const made = { former_secret_signs_until: null, created_at: occurred_at, updated_at: occurred_at }
    return { id, organisation_id, name, base_url, ...made }
  }
  if (!connection) return undefined

  switch (event.type) {
    case 'EndpointConnectionMoved':
      return { ...connection, base_url: event.base_url, updated_at: occurred_at }
    case 'EndpointSecretRegenerated':
      return { ...connection, former_secret_signs_until: event.former_signs_until, updated_at: occurred_at }
    case 'EndpointConnectionRemoved':
      return undefined
  }
}

/** What the signing secret of a connection is sealed for: put elsewhere, it cannot be opened. */
export const signingSecretPlace = (organisationId: string, connectionId: string): readonly string[] => [
  organisationId,
  `endpoint_connection-${connectionId}`,
  'signing_secret',
]
