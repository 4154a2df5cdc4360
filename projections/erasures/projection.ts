import { erasureEvents } from '#domain/erasures/events.ts'
import { evolveErasure, type Erasure } from '#domain/erasures/record.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly contact_id: string
  readonly requested_at: string
  /** Of the last event: when all that follows from it is done, the person is gone from the read models too. */
  readonly position: string
  readonly document: Erasure
}

/** The people who were erased, or are about to be. */
export const erasures: Projection<typeof erasureEvents, Row, 'organisation_id' | 'contact_id'> = {
  name: 'erasures',
  version: 2,
  categories: ['erasure'],
  events: erasureEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      contact_id: 'uuid',
      requested_at: 'timestamptz',
      position: 'text',
      document: 'json',
    },
    key: ['organisation_id', 'contact_id'],
    indexes: ['organisation_id, requested_at, contact_id'],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), contact_id: idOf(recorded.stream) }],

  project: (row, event, { position, metadata }, key) => {
    const document = evolveErasure(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of ${key.contact_id}, whose erasure nobody has requested.`)
    return { ...key, requested_at: document.requested_at, position, document }
  },
}
