import { evolvePolicy, policyStreamEvents } from '#domain/policies/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every policy folded from its events. */
export const policies = documentProjection({
  name: 'policies',
  version: 13,
  categories: ['policy'],
  events: policyStreamEvents,
  awaitedByDeliveries: true,
  evolve: evolvePolicy,
  columns: {
    policy_number: 'text',
    application_id: 'uuid',
    product_id: 'uuid',
    customer_id: { type: 'uuid', of: ({ customer }) => customer.id },
    status: 'text',
    document: 'json',
    created_at: 'timestamptz',
  },
  indexes: [
    'organisation_id, created_at, id',
    'organisation_id, status, created_at, id',
    'organisation_id, customer_id, created_at, id',
    'organisation_id, product_id, created_at, id',
    'organisation_id, product_id, status, created_at, id',
    'organisation_id, policy_number',
  ],
})
