import { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import { OrganisationId } from '../values.ts'
import { endpointConnectionEvents, EndpointConnectionId, type EndpointConnectionEvent } from './events.ts'

/** Address of signed webhooks, as the operator sees it: its secret is shown once and never here. */
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

/** The connection after an event; undefined when there is none, or none any more. */
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
  if (!connection || event.type === 'EndpointConnectionRemoved') return undefined
  const changed =
    event.type === 'EndpointConnectionMoved'
      ? { base_url: event.base_url }
      : { former_secret_signs_until: event.former_signs_until }
  return { ...connection, ...changed, updated_at: occurred_at }
}

/** The binding under which a connection's signing secret is sealed: under another it cannot be opened. */
export const signingSecretBinding = (organisationId: string, connectionId: string): readonly string[] => [
  organisationId,
  `endpoint_connection-${connectionId}`,
  'signing_secret',
]

/** The sealed secrets that a connection signs with, now or until the one that was just made does. */
export type SigningSecrets = {
  readonly organisation_id: string
  readonly name: string
  readonly sealed: string
  readonly former: readonly { readonly sealed: string; readonly until: string }[]
}

const evolveSigningSecrets = (
  secrets: SigningSecrets | undefined,
  event: EndpointConnectionEvent,
): SigningSecrets | undefined => {
  if (event.type === 'EndpointConnectionCreated') {
    const { organisation_id, name, sealed_secret: sealed } = event
    return { organisation_id, name, sealed, former: [] }
  }
  if (!secrets || event.type === 'EndpointConnectionRemoved') return undefined
  if (event.type === 'EndpointConnectionMoved') return secrets

  const { sealed_secret: sealed, former_signs_until: until } = event
  return { ...secrets, sealed, former: until === null ? [] : [...secrets.former, { sealed: secrets.sealed, until }] }
}

/** Applies events to the signing secrets of all connections, by their id, in place. */
export const signingSecretsFold = recordsFold({
  name: 'signing secrets',
  version: 1,
  categories: ['endpoint_connection'],
  events: endpointConnectionEvents,
  evolve: evolveSigningSecrets,
})
