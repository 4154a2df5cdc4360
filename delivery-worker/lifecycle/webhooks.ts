import type { Json } from '#domain/event.ts'
import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind, webhookSubject, type Happening } from '../capability.ts'

const { events, names } = lifecycle.webhook

/** Webhooks about webhooks, so that somebody hears of those that did not arrive: the payload says it all. */
export const webhooks = subjectKind<typeof events, { readonly product_id: null }>({
  type: webhookSubject,
  categories: ['delivery_news'],
  events,
  readModels: [],
  idOf: (event) => (event.type === 'DeliveryFailed' ? event.delivery_id : event.connection_id),
  remember: () => ({ product_id: null }),
  happening: ({ type, ...payload }): Pick<Happening, 'type' | 'payload'> => ({ type: names[type], payload }),
  readSnapshots: async () => (): Json => ({}),
  people: () => [],
})
