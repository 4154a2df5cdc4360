import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { OrganisationId } from '../values.ts'

export const EndpointConnectionId = z.uuid().brand<'EndpointConnectionId'>()
export type EndpointConnectionId = z.infer<typeof EndpointConnectionId>

/** Stream `endpoint_connection-<endpoint connection id>`. Of the signing secret only the sealed text is kept. */
export const endpointConnectionEvents = {
  EndpointConnectionCreated: event({
    endpoint_connection_id: EndpointConnectionId,
    organisation_id: OrganisationId,
    name: z.string(),
    /** As entered: webhooks are sent to exactly this address. */
    base_url: z.string(),
    sealed_secret: z.string().min(1),
  }),
  EndpointConnectionMoved: event({ base_url: z.string() }),
  /** The former secret signs until `former_signs_until`, in real time; null: the new secret signs at once. */
  EndpointSecretRegenerated: event(
    { sealed_secret: z.string().min(1), former_signs_until: z.iso.datetime().nullable() },
    { upcasts: [(data) => ({ ...data, former_signs_until: null })] },
  ),
  /** Nothing is sent to it any more; what was planned is cancelled. */
  EndpointConnectionRemoved: event({ name: z.string() }),
}
export type EndpointConnectionEvent = EventOf<typeof endpointConnectionEvents>
