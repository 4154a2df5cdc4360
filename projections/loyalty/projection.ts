import { idOf } from '#domain/event.ts'
import { membershipEvents } from '#domain/loyalty/events.ts'
import { entryTypes, evolveMembership, type EntryShown } from '#domain/loyalty/record.ts'
import { documentProjection } from '../document-projection.ts'

/** Every membership. */
export const memberships = documentProjection({
  name: 'memberships',
  version: 2,
  categories: ['membership'],
  events: membershipEvents,
  evolve: evolveMembership,
  columns: {
    programme_id: 'uuid',
    customer_id: 'uuid',
    external_member_ref: 'text',
    policy_number: 'text',
    document: 'json',
    created_at: 'timestamptz',
  },
  indexes: [
    'organisation_id, external_member_ref',
    'organisation_id, created_at desc, id desc',
    'organisation_id, policy_number',
    'organisation_id, customer_id',
  ],
})

const { PointsAwarded, PointsAdjusted, TierAsserted } = membershipEvents

/** Every event that a partner has sent about a member, in the order of their recording. */
export const membershipEntries = documentProjection({
  name: 'membership_entries',
  version: 1,
  categories: ['membership'],
  events: { PointsAwarded, PointsAdjusted, TierAsserted },
  key: { membership_id: 'uuid', revision: 'integer' },
  keys: (_event, { stream, revision }) => [{ membership_id: idOf(stream), revision }],
  evolve: (_before, event, { occurred_at: recorded_at }): EntryShown => ({
    id: event.entry_id,
    entry_type: entryTypes[event.type],
    points: 'points' in event ? event.points : null,
    tier_key: 'tier_key' in event ? event.tier_key : null,
    idempotency_key: event.idempotency_key,
    occurred_at: event.occurred_at,
    payload: event.payload,
    recorded_at,
  }),
  columns: { document: 'json' },
})
