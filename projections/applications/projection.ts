import { applicationStreamEvents, evolveRecord, referenceOf } from '#domain/applications/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every application, folded from its events. Its presentation is that of its release, and is not repeated here. */
export const applications = documentProjection({
  name: 'applications',
  version: 11,
  categories: ['application'],
  events: applicationStreamEvents,
  evolve: evolveRecord,
  columns: {
    api_application_id: 'uuid',
    product_id: 'uuid',
    journey_id: 'uuid',
    release_id: 'uuid',
    presentation_id: 'uuid',
    reference: { type: 'text', of: ({ id }) => referenceOf(id) },
    status: 'text',
    customer_id: { type: 'uuid', of: ({ customer }) => customer?.id ?? null },
    partner_id: { type: 'uuid', of: ({ partner }) => partner?.id ?? null },
    document: 'json',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  indexes: [
    'organisation_id, customer_id where customer_id is not null',
    'organisation_id, partner_id where partner_id is not null',
    'organisation_id, reference',
    'organisation_id, status, updated_at, id',
    'organisation_id, updated_at, id',
    'organisation_id, product_id, updated_at, id',
    'organisation_id, api_application_id, updated_at, id',
  ],
})
