import { lifecycleActionEvents } from '#domain/workflows/events.ts'
import { actionKind, type ActionFacts } from '../capability.ts'
import { lifecycleBody } from '../lifecycle-body.ts'

type Facts = ActionFacts & {
  readonly connection_id: string
  readonly product_id: string | null
  readonly event_types: readonly string[]
}

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
  parts: ({ connection_id }, action_id) => [{ action_id, connection_id }],
  asksFor: ({ product_id, event_types }, { type, facts }) =>
    event_types.includes(type) && (product_id === null || product_id === facts['product_id']),
  message: (_facts, happening) => lifecycleBody(happening),
})
