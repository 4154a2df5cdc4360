import { z } from 'zod'
import { fromStored } from '#domain/event.ts'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { evolveEndpointConnection, type EndpointConnection } from '#domain/integrations/record.ts'
import { Slug, type OrganisationId } from '#domain/values.ts'
import { LifecycleActionId, LifecycleEventType } from '#domain/workflows/events.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { derivedId } from '#infra/ids.ts'
import { endpointConnectionIdOf } from '../integrations/ids.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'

/** The settings of a lifecycle action, by the names of things. */
export const named = {
  product: Slug.nullable().describe('The product whose events are sent, by its slug; null: every product.'),
  event_types: z.array(LifecycleEventType).min(1),
  endpoint_connection: z.string().describe('The connection that they are sent over, by its name.'),
  active: z.boolean(),
}

/** A lifecycle action of a set-up file, or of a request that creates one. */
export const DeclaredLifecycleAction = z.object({
  name: z.string().trim().min(1).max(200),
  ...named,
  product: named.product.default(null),
  active: named.active.default(true),
})
export type DeclaredLifecycleAction = z.output<typeof DeclaredLifecycleAction>

/** An action is known by its name within the organisation: its stream is the index of names. */
export const lifecycleActionIdOf = (organisation_id: OrganisationId, name: string): LifecycleActionId =>
  LifecycleActionId.parse(derivedId('lifecycle_action', organisation_id, name))

export type NamedThings = {
  readonly catalogue: Pick<Catalogue, 'slugs'>
}

export const connectionExists = async (
  log: EventLog,
  organisation_id: OrganisationId,
  name: string,
): Promise<boolean> => {
  const stream = `endpoint_connection-${endpointConnectionIdOf(organisation_id, name)}`
  const events = await log.read(stream)
  const connection = events.reduce<EndpointConnection | undefined>(
    (before, each) => evolveEndpointConnection(before, fromStored(endpointConnectionEvents, each), each.metadata),
    undefined,
  )
  return connection !== undefined
}
