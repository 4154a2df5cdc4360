import { customerEvents } from '#domain/customers/events.ts'
import {
  evolveCustomer,
  nameKey,
  type ConsentSaid,
  type Customer,
  type VerificationSaid,
} from '#domain/customers/record.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import { CustomerId } from '#domain/values.ts'
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
  /** When the latest proposal came that the team has not judged; null: there is none. */
  readonly proposed_at: string | null
  readonly document: Customer
  readonly created_at: string
  readonly updated_at: string
}

/** Every customer, with what was proposed of them. */
export const customers: Projection<typeof customerEvents, Row, 'organisation_id' | 'id'> = {
  name: 'customers',
  version: 4,
  categories: ['customer'],
  events: customerEvents,
  awaitedByDeliveries: true,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      email: 'text',
      phone_number: 'text',
      name_key: 'text',
      dob: 'date',
      postal_code: 'text',
      proposed_at: 'timestamptz',
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
      'organisation_id, proposed_at, id',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveCustomer(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of customer ${key.id}, who was never created.`)
    const { email, phone_number, dob, postal_code, created_at, updated_at } = document
    const name_key = nameKey(document)
    const isProposal = event.type === 'CustomerDetailsProposed' || event.type === 'CustomerValuesProposed'
    const proposed_at = isProposal ? metadata.occurred_at : (row?.proposed_at ?? null)
    return {
      ...key,
      email,
      phone_number,
      name_key,
      dob,
      postal_code,
      proposed_at: Object.keys(document.proposed).length > 0 ? proposed_at : null,
      document,
      created_at,
      updated_at,
    }
  },
}

/** What is listed in the order in which it was recorded. */
type SaidRow<Said> = {
  readonly organisation_id: string
  readonly id: string
  readonly contact_id: string
  readonly position: string
  readonly document: Said
}

const saidTable = {
  columns: { organisation_id: 'uuid', id: 'uuid', contact_id: 'uuid', position: 'text', document: 'json' },
  key: ['organisation_id', 'id'],
  indexes: [`organisation_id, "position" collate "C"`, `organisation_id, contact_id, "position" collate "C"`],
} as const

const { CustomerConsentRecorded } = customerEvents
const consentEvents = { CustomerConsentRecorded }

/** All that people have said to being contacted, in the order in which it was recorded. */
export const consentHistory: Projection<typeof consentEvents, SaidRow<ConsentSaid>, 'organisation_id' | 'id'> = {
  name: 'consent_history',
  version: 1,
  categories: ['customer'],
  events: consentEvents,
  table: saidTable,

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: recorded.id }],

  project: (_row, event, { stream, position, recorded_at }, key) => {
    const { entries, method, wording, said_at, source } = event
    const contact_id = CustomerId.parse(idOf(stream))
    const said = { entries, method, wording, said_at, source, recorded_at: recorded_at.toISOString() }
    return { ...key, contact_id, position, document: { id: key.id, contact_id, ...said } }
  },
}

const { CustomerDetailVerified, CustomerVerificationWithdrawn } = customerEvents
const verificationEvents = { CustomerDetailVerified, CustomerVerificationWithdrawn }

/** All that was confirmed to be people's, and what of it was taken back, in the order in which it was recorded. */
export const verificationHistory: Projection<
  typeof verificationEvents,
  SaidRow<VerificationSaid>,
  'organisation_id' | 'id'
> = {
  name: 'verification_history',
  version: 1,
  categories: ['customer'],
  events: verificationEvents,
  table: saidTable,

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: recorded.id }],

  project: (_row, event, { stream, position, recorded_at, metadata }, key) => {
    const { detail, method, source } = event
    const contact_id = CustomerId.parse(idOf(stream))
    const isVerified = event.type === 'CustomerDetailVerified'
    const value = isVerified ? event.value : null
    const times = { said_at: metadata.occurred_at, recorded_at: recorded_at.toISOString() }
    const document = { id: key.id, contact_id, detail, value, verified: isVerified, method, source, ...times }
    return { ...key, contact_id, position, document }
  },
}
