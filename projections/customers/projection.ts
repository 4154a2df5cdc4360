import { customerEvents } from '#domain/customers/events.ts'
import { evolveCustomer, type Customer } from '#domain/customers/record.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly email: string | null
  readonly document: Customer
  readonly created_at: string
  readonly updated_at: string
}

/** Every customer, with what was proposed of them. */
export const customers: Projection<typeof customerEvents, Row, 'organisation_id' | 'id'> = {
  name: 'customers',
  version: 1,
  categories: ['customer'],
  events: customerEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      email: 'text',
      document: 'json',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, email'],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveCustomer(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of customer ${key.id}, who was never created.`)
    const { email, created_at, updated_at } = document
    return { ...key, email, document, created_at, updated_at }
  },
}
