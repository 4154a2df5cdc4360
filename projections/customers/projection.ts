import { customerEvents } from '#domain/customers/events.ts'
import { evolveCustomer, nameKey, type Customer } from '#domain/customers/record.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly email: string | null
  /** By these, people without an email address are told apart. */
  readonly phone_number: string | null
  readonly name_key: string | null
  readonly dob: string | null
  readonly postal_code: string | null
  readonly document: Customer
  readonly created_at: string
  readonly updated_at: string
}

/** Every customer, with what was proposed of them. */
export const customers: Projection<typeof customerEvents, Row, 'organisation_id' | 'id'> = {
  name: 'customers',
  version: 2,
  categories: ['customer'],
  events: customerEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      email: 'text',
      phone_number: 'text',
      name_key: 'text',
      dob: 'date',
      postal_code: 'text',
      document: 'json',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, email',
      'organisation_id, phone_number',
      'organisation_id, name_key, dob',
      'organisation_id, name_key, postal_code',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveCustomer(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of customer ${key.id}, who was never created.`)
    const { email, phone_number, dob, postal_code, created_at, updated_at } = document
    const name_key = nameKey(document)
    return { ...key, email, phone_number, name_key, dob, postal_code, document, created_at, updated_at }
  },
}
