import { lifecycleActionEvents, LifecycleEventType } from '#domain/workflows/events.ts'
import { actionKind, type ActionFacts } from '../capability.ts'

type Facts = ActionFacts & { readonly product_id: string | null; readonly event_types: readonly string[] }

/** Lifecycle webhooks: events of the chosen types, of one product or of all. */
export const lifecycleActions = actionKind<typeof lifecycleActionEvents, Facts>({
  type: 'lifecycle_action',
  categories: ['lifecycle_action'],
  events: lifecycleActionEvents,
  learn: (facts, event) => {
    if (event.type === 'LifecycleActionRemoved') return facts && { ...facts, removed: true }
    const { product_id, event_types, endpoint_connection_id: connection_id, active } = event
    return { product_id, event_types, connection_id, active, removed: false }
  },
  asksFor: ({ product_id, event_types }, { type, facts }) =>
    event_types.includes(type) && (product_id === null || product_id === facts['product_id']),
  message: (_facts, { event_id, type, occurred_at, subject, payload, facts, organisation_id }) => ({
    id: event_id,
    type: LifecycleEventType.parse(type),
    occurred_at,
    aggregate: subject,
    payload,
    product_id: facts['product_id'],
    organization_id: organisation_id,
  }),
})
