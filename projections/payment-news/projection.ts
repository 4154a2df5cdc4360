import { idOf, organisationOf } from '#domain/event.ts'
import { paymentNewsEvents, type PaymentNewsEvent } from '#domain/payment-news/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly kind: string
  readonly application_id: string | null
  readonly policy_id: string | null
  readonly received_at: string
  readonly document: Omit<PaymentNewsEvent, 'type'>
}

/** What the payment provider has told, and what it was about. */
export const paymentNews: Projection<typeof paymentNewsEvents, Row, 'organisation_id' | 'id'> = {
  name: 'payment_news',
  version: 1,
  categories: ['payment_news'],
  events: paymentNewsEvents,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      kind: 'text',
      application_id: 'uuid',
      policy_id: 'uuid',
      received_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, received_at, id',
      'organisation_id, application_id, received_at, id',
      'organisation_id, policy_id, received_at, id',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (_row, { type: _type, ...document }, { metadata: { occurred_at: received_at } }, key) => {
    const { kind, application_id, policy_id } = document
    return { ...key, kind, application_id, policy_id, received_at, document }
  },
}
