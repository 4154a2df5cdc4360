import { erasureEvents } from '#domain/erasures/events.ts'
import { evolveErasure } from '#domain/erasures/record.ts'
import { idOf } from '#domain/event.ts'
import { documentProjection, position } from '../document-projection.ts'

/** The people who were erased, or are about to be. */
export const erasures = documentProjection({
  name: 'erasures',
  version: 5,
  categories: ['erasure'],
  events: erasureEvents,
  key: { contact_id: 'uuid' },
  keys: (_event, { stream }) => [{ contact_id: idOf(stream) }],
  evolve: evolveErasure,
  columns: {
    requested_at: 'timestamptz',
    erased_at: 'timestamptz',
    given_up_at: 'timestamptz',
    // When all that follows from the last event is done, the person is gone from the read models too.
    position,
    document: 'json',
  },
  indexes: ['organisation_id, requested_at, contact_id'],
})
