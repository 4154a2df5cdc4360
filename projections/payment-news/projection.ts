import { paymentNewsEvents, type PaymentNewsEvent } from '#domain/payment-news/events.ts'
import { documentProjection, happenedAt } from '../document-projection.ts'

const newsIn = (_before: unknown, { type: _type, ...news }: PaymentNewsEvent): Omit<PaymentNewsEvent, 'type'> => news

/** Notices of the payment provider, and their subjects. */
export const paymentNews = documentProjection({
  name: 'payment_news',
  version: 1,
  categories: ['payment_news'],
  events: paymentNewsEvents,
  awaited: 'never',
  evolve: newsIn,
  columns: {
    kind: 'text',
    application_id: 'uuid',
    policy_id: 'uuid',
    received_at: happenedAt,
    document: 'json',
  },
  indexes: [
    'organisation_id, received_at, id',
    'organisation_id, application_id, received_at, id',
    'organisation_id, policy_id, received_at, id',
  ],
})
