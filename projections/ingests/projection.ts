import { idOf, organisationOf } from '#domain/event.ts'
import { ingestEvents } from '#domain/ingests/events.ts'
import { evolveRecord, namedIn, type IngestRecord } from '#domain/ingests/record.ts'
import type { Projection } from '../projection.ts'

const { IngestKeyUsed: _, ...events } = ingestEvents

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly api_application_id: string | null
  readonly status: string
  readonly source: string
  readonly campaign_id: string | null
  readonly contact_id: string | null
  readonly received_at: string
  /** Of somebody who is not known to be one of the organisation's people: so that they can be erased all the same. */
  readonly named_id: string | null
  readonly external_id: string | null
  readonly email: string | null
  readonly phone_digits: string | null
  readonly document: IngestRecord
}

const nobody = { named_id: null, external_id: null, email: null, phone_digits: null }

/** Every lead that was sent, and what became of it; without what was sent of the person. */
export const ingests: Projection<typeof events, Row, 'organisation_id' | 'id'> = {
  name: 'ingests',
  version: 7,
  categories: ['ingest'],
  events,
  awaited: 'seldom',
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      api_application_id: 'uuid',
      status: 'text',
      source: 'text',
      campaign_id: 'uuid',
      contact_id: 'uuid',
      received_at: 'timestamptz',
      named_id: 'text',
      external_id: 'text',
      email: 'text',
      phone_digits: 'text',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, received_at, id',
      'organisation_id, status, received_at, id',
      'organisation_id, contact_id, received_at, id where contact_id is not null',
      'organisation_id, source, status, received_at, id',
      'organisation_id, campaign_id, status, received_at, id where campaign_id is not null',
      'organisation_id, api_application_id, status, received_at, id',
      // What two of these seldom have in common is not looked for in all of one.
      'organisation_id, source, campaign_id, status, received_at, id where campaign_id is not null',
      'organisation_id, source, api_application_id, status, received_at, id',
      'organisation_id, campaign_id, api_application_id, status, received_at, id where campaign_id is not null',
      'organisation_id, named_id where named_id is not null',
      'organisation_id, external_id where external_id is not null',
      'organisation_id, email where email is not null',
      'organisation_id, phone_digits where phone_digits is not null',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveRecord(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of ingest ${key.id}, which was never received.`)
    const { api_application_id, status, source, campaign, contact_id, received_at } = document
    const named = event.type === 'IngestReceived' ? namedIn(event.content) : row
    const { named_id, external_id, email, phone_digits } = contact_id === null && named ? named : nobody
    return {
      ...key,
      api_application_id,
      status,
      source,
      campaign_id: campaign?.id ?? null,
      contact_id,
      received_at,
      named_id,
      external_id,
      email,
      phone_digits,
      document,
    }
  },
}
