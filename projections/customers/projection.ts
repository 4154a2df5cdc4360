import { customerEvents } from '#domain/customers/events.ts'
import { evolveCustomer, nameKey, type ConsentSaid, type VerificationSaid } from '#domain/customers/record.ts'
import { idOf } from '#domain/event.ts'
import { CustomerId } from '#domain/values.ts'
import { documentProjection, position, recordedId, streamId } from '../document-projection.ts'

/** Every customer, with what was proposed of them. */
export const customers = documentProjection({
  name: 'customers',
  version: 4,
  categories: ['customer'],
  events: customerEvents,
  awaitedByDeliveries: true,
  evolve: evolveCustomer,
  columns: {
    email: 'text',
    // By these, people without an email address are told apart.
    phone_number: 'text',
    name_key: { type: 'text', of: nameKey },
    dob: 'date',
    postal_code: 'text',
    // When the latest proposal came that the team has not judged; null: there is none.
    proposed_at: {
      type: 'timestamptz',
      of: ({ proposed }, { metadata }, { type }, before) => {
        if (Object.keys(proposed).length === 0) return null
        const isProposal = type === 'CustomerDetailsProposed' || type === 'CustomerValuesProposed'
        return isProposal ? metadata.occurred_at : (before ?? null)
      },
    },
    document: 'json',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  indexes: [
    'organisation_id, email',
    'organisation_id, phone_number',
    'organisation_id, name_key, dob',
    'organisation_id, name_key, postal_code',
    'organisation_id, proposed_at, id',
  ],
})

/** A row listed in the order of recording. */
const said = {
  categories: ['customer'],
  keys: recordedId,
  columns: { contact_id: streamId, position, document: 'json' },
  indexes: [`organisation_id, "position" collate "C"`, `organisation_id, contact_id, "position" collate "C"`],
} as const

const { CustomerConsentRecorded } = customerEvents

/** All that people have said to being contacted, in the order in which it was recorded. */
export const consentHistory = documentProjection({
  ...said,
  name: 'consent_history',
  version: 1,
  events: { CustomerConsentRecorded },
  evolve: (_before, event, _metadata, { id, stream, recorded_at }): ConsentSaid => {
    const { entries, method, wording, said_at, source } = event
    const contact_id = CustomerId.parse(idOf(stream))
    return { id, contact_id, entries, method, wording, said_at, source, recorded_at: recorded_at.toISOString() }
  },
})

const { CustomerDetailVerified, CustomerVerificationWithdrawn } = customerEvents

/** All that was confirmed to be people's, and what of it was taken back, in the order in which it was recorded. */
export const verificationHistory = documentProjection({
  ...said,
  name: 'verification_history',
  version: 1,
  events: { CustomerDetailVerified, CustomerVerificationWithdrawn },
  evolve: (_before, event, { occurred_at: said_at }, { id, stream, recorded_at }): VerificationSaid => {
    const { detail, method, source } = event
    const contact_id = CustomerId.parse(idOf(stream))
    const isVerified = event.type === 'CustomerDetailVerified'
    const value = isVerified ? event.value : null
    const times = { said_at, recorded_at: recorded_at.toISOString() }
    return { id, contact_id, detail, value, verified: isVerified, method, source, ...times }
  },
})
