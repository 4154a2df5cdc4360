import type { MembershipEvent } from '#domain/loyalty/events.ts'
import { noneKnown, type NewEntry, type RecordEntries, type UpdateMembership } from '#domain/loyalty/membership.ts'
import { MembershipId, OrganisationId, ProgrammeId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

export const membership_id = MembershipId.parse('ae000000-0000-4000-8000-000000000001')
const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const programme_id = ProgrammeId.parse('ad000000-0000-4000-8000-000000000001')

export const rule = { months: 12, starts: 'confirmation' } as const
export const programme = { tiers: [{ key: 'gold', name: 'Gold', threshold: 5_000 }], cycle: rule }
export const today = '2026-01-16'
const time_zone = 'Europe/London'

export const cycle = {
  cycle_started_on: today,
  cycle_ends_on: '2027-01-15',
  cycle_over_at: '2027-01-16T00:00:00.000Z',
}

export const enrol = {
  type: 'Enrol',
  membership_id,
  organisation_id,
  programme_id,
  customer_id: null,
  policy_id: null,
  policy_number: 'NL-123456782',
} as const

const { type: _type, ...enrolment } = enrol
export const enrolled: MembershipEvent = { type: 'MembershipEnrolled', ...enrolment }

export const confirmed: MembershipEvent = {
  type: 'MembershipConfirmed',
  customer_id: null,
  external_member_ref: 'V-1',
  confirmed_on: today,
  ...cycle,
}
export const suspended: MembershipEvent = { type: 'MembershipSuspended', membership_id }
export const cancelled: MembershipEvent = { type: 'MembershipCancelled', membership_id }

export const update = (changes: Partial<UpdateMembership>): UpdateMembership => ({
  type: 'UpdateMembership',
  status: undefined,
  external_member_ref: undefined,
  cycle: rule,
  today,
  time_zone,
  ...changes,
})

export const startCycle = (on: string) => ({ type: 'StartCycle', cycle: rule, today: on, time_zone }) as const

export const entryIdOf = (key: string) => derivedId('membership_entry', organisation_id, membership_id, key)

const of = (key: string, day: string) => ({
  entry_id: entryIdOf(key),
  idempotency_key: key,
  occurred_at: `${day}T12:00:00.000Z`,
  day,
  payload: null,
})

export const points = (key: string, value: number, day = today): NewEntry => ({
  ...of(key, day),
  entry_type: value < 1 ? 'points_adjusted' : 'points_awarded',
  points: value,
})
export const tier = (key: string, tier_key = 'gold'): NewEntry => ({
  ...of(key, today),
  entry_type: 'tier_asserted',
  tier_key,
})

export const pointsRecorded = (key: string, value: number, day = today): MembershipEvent => ({
  type: value < 1 ? 'PointsAdjusted' : 'PointsAwarded',
  ...of(key, day),
  customer_id: null,
  points: value,
})
export const tierRecorded = (key: string, tier_key = 'gold'): MembershipEvent => ({
  type: 'TierAsserted',
  ...of(key, today),
  customer_id: null,
  tier_key,
})

export const record = (entries: readonly NewEntry[], on = today): RecordEntries => ({
  type: 'RecordEntries',
  entries,
  known: noneKnown,
  programme,
  today: on,
  time_zone,
})
