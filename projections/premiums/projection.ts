import { premiumEvents } from '#domain/premiums/events.ts'
import { evolvePremium } from '#domain/premiums/record.ts'
import { documentProjection, streamId } from '../document-projection.ts'

/** Every premium that was ever due, folded from its events. */
export const premiums = documentProjection({
  name: 'premiums',
  version: 11,
  categories: ['policy'],
  events: premiumEvents,
  keys: ({ premium_id: id }) => [{ id }],
  evolve: evolvePremium,
  columns: {
    policy_id: streamId,
    status: 'text',
    amount_pence: 'bigint',
    created_at: 'timestamptz',
    document: 'json',
  },
  indexes: [
    'organisation_id, created_at, id',
    'organisation_id, status, created_at, id',
    'organisation_id, policy_id, created_at, id',
    // All that figures ask for, so that rows are not read for them.
    'organisation_id, created_at, status, amount_pence',
  ],
})
