import { applicationStreamEvents, evolveRecord, type ApplicationRecord } from '#domain/applications/record.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly api_application_id: string
  readonly product_id: string
  readonly journey_id: string
  readonly release_id: string
  readonly presentation_id: string | null
  readonly status: string
  readonly customer_id: string | null
  readonly partner_id: string | null
  readonly document: ApplicationRecord
  readonly created_at: string
  readonly updated_at: string
}

/** Every application, folded from its events. Its presentation is that of its release, and is not repeated here. */
export const applications: Projection<typeof applicationStreamEvents, Row, 'organisation_id' | 'id'> = {
  name: 'applications',
  version: 10,
  categories: ['application'],
  events: applicationStreamEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      api_application_id: 'uuid',
      product_id: 'uuid',
      journey_id: 'uuid',
      release_id: 'uuid',
      presentation_id: 'uuid',
      status: 'text',
      customer_id: 'uuid',
      partner_id: 'uuid',
      document: 'json',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, customer_id where customer_id is not null',
      'organisation_id, partner_id where partner_id is not null',
      'organisation_id, status, updated_at, id',
      'organisation_id, updated_at, id',
      'organisation_id, product_id, updated_at, id',
      'organisation_id, api_application_id, updated_at, id',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveRecord(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of application ${key.id}, which was never started.`)
    const { api_application_id, product_id, journey_id, release_id, presentation_id, status } = document
    const { customer, partner, created_at, updated_at } = document
    return {
      ...key,
      api_application_id,
      product_id,
      journey_id,
      release_id,
      presentation_id,
      status,
      customer_id: customer?.id ?? null,
      partner_id: partner?.id ?? null,
      document,
      created_at,
      updated_at,
    }
  },
}
