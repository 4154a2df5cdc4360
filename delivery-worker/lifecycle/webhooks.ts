import { deliveryNewsEvents } from '#domain/deliveries/events.ts'
import type { Json } from '#domain/event.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import { subjectKind, type Happening } from '../capability.ts'

export const webhookSubject = 'webhook'

const names: Readonly<Record<keyof typeof deliveryNewsEvents, LifecycleEventType>> = {
  DeliveryFailed: 'webhook.failed',
  ConnectionFailing: 'webhook.connection_failing',
  ConnectionDisabled: 'webhook.connection_disabled',
}

/** Webhooks about webhooks, so that somebody hears of those that did not arrive: the payload says it all. */
export const webhooks = subjectKind<typeof deliveryNewsEvents, { readonly product_id: null }>({
  type: webhookSubject,
  categories: ['delivery_news'],
  events: deliveryNewsEvents,
  readModels: [],
  idOf: (event) => (event.type === 'DeliveryFailed' ? event.delivery_id : event.connection_id),
  remember: () => ({ product_id: null }),
  happening: ({ type, ...payload }): Pick<Happening, 'type' | 'payload'> => ({ type: names[type], payload }),
  readSnapshots: async () => (): Json => ({}),
  people: () => [],
})
