import { idOf, organisationOf } from '#domain/event.ts'
import { membershipEvents } from '#domain/loyalty/events.ts'
import { entryTypes, evolveMembership, type EntryShown, type Membership } from '#domain/loyalty/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly programme_id: string
  readonly customer_id: string | null
  readonly external_member_ref: string | null
  readonly policy_number: string
  readonly document: Membership
  readonly created_at: string
}

/** Every membership. */
export const memberships: Projection<typeof membershipEvents, Row, 'organisation_id' | 'id'> = {
  name: 'memberships',
  version: 2,
  categories: ['membership'],
  events: membershipEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      programme_id: 'uuid',
      customer_id: 'uuid',
      external_member_ref: 'text',
      policy_number: 'text',
      document: 'json',
      created_at: 'timestamptz',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, external_member_ref',
      'organisation_id, created_at desc, id desc',
      'organisation_id, policy_number',
      'organisation_id, customer_id',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { metadata }, key) => {
    const document = evolveMembership(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of membership ${key.id}, which was never enrolled.`)
    const { programme_id, customer_id, external_member_ref, policy_number, created_at } = document
    return { ...key, programme_id, customer_id, external_member_ref, policy_number, document, created_at }
  },
}

type EntryRow = {
  readonly organisation_id: string
  readonly membership_id: string
  readonly revision: number
  readonly document: EntryShown
}

const { PointsAwarded, PointsAdjusted, TierAsserted } = membershipEvents
const entryEvents = { PointsAwarded, PointsAdjusted, TierAsserted }

/** Every event that a partner has sent about a member, in the order of their recording. */
export const membershipEntries: Projection<
  typeof entryEvents,
  EntryRow,
  'organisation_id' | 'membership_id' | 'revision'
> = {
  name: 'membership_entries',
  version: 1,
  categories: ['membership'],
  events: entryEvents,
  table: {
    columns: { organisation_id: 'uuid', membership_id: 'uuid', revision: 'integer', document: 'json' },
    key: ['organisation_id', 'membership_id', 'revision'],
  },

  keys: (_event, recorded) => [
    {
      organisation_id: organisationOf(recorded),
      membership_id: idOf(recorded.stream),
      revision: recorded.revision,
    },
  ],

  project: (_row, event, { metadata }, key) => ({
    ...key,
    document: {
      id: event.entry_id,
      entry_type: entryTypes[event.type],
      points: 'points' in event ? event.points : null,
      tier_key: 'tier_key' in event ? event.tier_key : null,
      idempotency_key: event.idempotency_key,
      occurred_at: event.occurred_at,
      payload: event.payload,
      recorded_at: metadata.occurred_at,
    },
  }),
}
