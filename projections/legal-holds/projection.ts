import { legalHoldEvents } from '#domain/legal-holds/events.ts'
import { evolveLegalHold } from '#domain/legal-holds/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every legal hold, in force or ended. */
export const legalHolds = documentProjection({
  name: 'legal_holds',
  version: 1,
  categories: ['legal_hold'],
  events: legalHoldEvents,
  keys: ({ hold_id }) => [{ id: hold_id }],
  evolve: evolveLegalHold,
  columns: { contact_id: 'uuid', state: 'text', placed_at: 'timestamptz', document: 'json' },
  indexes: [
    'organisation_id, placed_at, id',
    'organisation_id, state, placed_at, id',
    'organisation_id, contact_id, placed_at, id',
  ],
})
