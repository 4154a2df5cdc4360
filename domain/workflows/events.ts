import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { EndpointConnectionId } from '../integrations/events.ts'
import { OrganisationId, ProductId } from '../values.ts'

/** Every lifecycle event that can be sent as a webhook, by its published name. Receivers rely on these names. */
export const LifecycleEventType = z.enum([
  'application.started',
  'application.customer_saved',
  'application.referred',
  'application.declined',
  'application.postponed',
  'application.abandoned',
  'application.reopened',
  'application.handed_off',
  'application.bound',
  'quote.issued',
  'quote.replaced',
  'quote.accepted',
  'quote.rejected',
  'quote.expired',
  'quote.bought',
  'quote.market_completed',
  'quote.market_failed',
  'policy.bound',
  'policy.activated',
  'policy.amended',
  'policy.indexed',
  'policy.reviewed',
  'policy.suspended',
  'policy.reinstated',
  'policy.lapsed',
  'policy.cancelled',
  'policy.expired',
  'policy.document_issued',
  'policy.updated',
  'mandate.created',
  'mandate.activated',
  'mandate.failed',
  'mandate.cancelled',
  'premium.due',
  'premium.collected',
  'premium.failed',
  'premium.retried',
  'premium.refunded',
  'premium.written_off',
  'claim.opened',
  'claim.evidence_requested',
  'claim.approved',
  'claim.declined',
  'claim.paid',
  'claim.closed',
  'claim.reopened',
])
export type LifecycleEventType = z.infer<typeof LifecycleEventType>

export const LifecycleActionId = z.uuid().brand<'LifecycleActionId'>()
export type LifecycleActionId = z.infer<typeof LifecycleActionId>

const choices = {
  product_id: ProductId.nullable(),
  event_types: z.array(LifecycleEventType).min(1),
  endpoint_connection_id: EndpointConnectionId,
  active: z.boolean(),
}

/** Stream `lifecycle_action-<lifecycle action id>`. */
export const lifecycleActionEvents = {
  LifecycleActionCreated: event({
    lifecycle_action_id: LifecycleActionId,
    organisation_id: OrganisationId,
    name: z.string(),
    ...choices,
  }),
  LifecycleActionChanged: event(choices),
  /** Nothing is sent for it any more; what was planned is cancelled. */
  LifecycleActionRemoved: event({ name: z.string() }),
}
export type LifecycleActionEvent = EventOf<typeof lifecycleActionEvents>
