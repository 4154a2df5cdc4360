import type { Json } from '#domain/event.ts'
import { LifecycleEventType } from '#domain/workflows/events.ts'
import type { Happening } from './capability.ts'

/** The body of a lifecycle webhook without its snapshot. */
export const lifecycleBody = (happening: Happening): Json => {
  const { event_id, type, occurred_at, subject, aggregate = subject, payload, facts, organisation_id } = happening
  return {
    id: event_id,
    type: LifecycleEventType.parse(type),
    occurred_at,
    aggregate,
    payload,
    product_id: facts['product_id'],
    organization_id: organisation_id,
  }
}
