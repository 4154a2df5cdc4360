import { EndpointConnectionId } from '#domain/integrations/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** A connection is known by its name within the organisation: its stream is the index of names. */
export const endpointConnectionIdOf = (organisation_id: OrganisationId, name: string): EndpointConnectionId =>
  EndpointConnectionId.parse(derivedId('endpoint_connection', organisation_id, name))
