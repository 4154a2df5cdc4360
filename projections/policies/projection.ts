import { idOf, organisationOf } from '#domain/event.ts'
import { evolvePolicy, policyStreamEvents, type PolicyRecord } from '#domain/policies/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly policy_number: string
  readonly application_id: string
  readonly product_id: string
  readonly customer_id: string
  readonly status: string
  readonly document: PolicyRecord
  readonly created_at: string
}

/** Every policy folded from its events. */
export const policies: Projection<typeof policyStreamEvents, Row, 'organisation_id' | 'id'> = {
  name: 'policies',
  version: 13,
  categories: ['policy'],
  events: policyStreamEvents,
  awaitedByDeliveries: true,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      policy_number: 'text',
      application_id: 'uuid',
      product_id: 'uuid',
      customer_id: 'uuid',
      status: 'text',
      document: 'json',
      created_at: 'timestamptz',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, created_at, id',
      'organisation_id, status, created_at, id',
      'organisation_id, customer_id, created_at, id',
      'organisation_id, product_id, created_at, id',
      'organisation_id, product_id, status, created_at, id',
      'organisation_id, policy_number',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolvePolicy(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of policy ${key.id}, which was never bound.`)
    const { policy_number, application_id, product_id, customer, status, created_at } = document
    const customer_id = customer.id
    return { ...key, policy_number, application_id, product_id, customer_id, status, document, created_at }
  },
}
