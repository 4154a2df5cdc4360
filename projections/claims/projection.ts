import { claimEvents } from '#domain/claims/events.ts'
import { evolveClaim } from '#domain/claims/record.ts'
import { documentProjection, streamId } from '../document-projection.ts'

/** Every claim, folded from its events. */
export const claims = documentProjection({
  name: 'claims',
  version: 2,
  categories: ['policy'],
  events: claimEvents,
  keys: ({ claim_id: id }) => [{ id }],
  evolve: evolveClaim,
  columns: {
    policy_id: streamId,
    status: 'text',
    opened_at: 'timestamptz',
    document: 'json',
  },
  indexes: [
    'organisation_id, opened_at, id',
    'organisation_id, status, opened_at, id',
    'organisation_id, policy_id, opened_at, id',
  ],
})
