import { z } from 'zod'
import { EndpointConnectionId } from '../integrations/events.ts'
import { OrganisationId, ProductId } from '../values.ts'
import { LifecycleActionId, LifecycleEventType, type LifecycleActionEvent } from './events.ts'

/** A product's lifecycle events that are sent as webhooks over a connection. */
export const LifecycleAction = z.object({
  id: LifecycleActionId,
  organisation_id: OrganisationId,
  name: z.string(),
  product_id: ProductId.nullable().describe('The product whose events are sent; null: every product.'),
  event_types: z.array(LifecycleEventType).min(1),
  endpoint_connection_id: EndpointConnectionId,
  active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type LifecycleAction = z.infer<typeof LifecycleAction>

/** What an action's events add up to; undefined when there is none, or none any more. */
export const evolveLifecycleAction = (
  action: LifecycleAction | undefined,
  event: LifecycleActionEvent,
  { occurred_at }: { readonly occurred_at: string },
): LifecycleAction | undefined => {
  switch (event.type) {
    case 'LifecycleActionCreated': {
      const { type: _type, lifecycle_action_id: id, ...declared } = event
      return { id, ...declared, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'LifecycleActionChanged': {
      const { type: _type, ...changed } = event
      return action && { ...action, ...changed, updated_at: occurred_at }
    }
    case 'LifecycleActionRemoved':
      return undefined
  }
}
