import { complaintEvents } from '#domain/complaints/events.ts'
import { evolveComplaint } from '#domain/complaints/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every complaint, folded from its events. */
export const complaints = documentProjection({
  name: 'complaints',
  version: 2,
  categories: ['complaint'],
  events: complaintEvents,
  evolve: evolveComplaint,
  columns: {
    contact_id: 'uuid',
    policy_id: 'uuid',
    state: 'text',
    cause: 'text',
    overdue: 'boolean',
    opened_at: 'timestamptz',
    document: 'json',
  },
  indexes: [
    'organisation_id, opened_at, id',
    'organisation_id, contact_id, opened_at, id',
    'organisation_id, policy_id, opened_at, id',
    'organisation_id, state, opened_at, id',
    'organisation_id, cause, opened_at, id',
    'organisation_id, overdue, opened_at, id',
  ],
})
