import { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import { CalendarDate, MembershipId, OrganisationId, ProgrammeId, Slug, type CustomerId } from '../values.ts'
import { CycleRule, programmeEvents, Tier, type MembershipEvent, type ProgrammeEvent } from './events.ts'

export const Programme = z
  .object({
    id: ProgrammeId,
    organisation_id: OrganisationId,
    slug: Slug,
    name: z.string(),
    tiers: z.array(Tier),
    cycle: CycleRule,
    products: z.array(Slug).describe('The products whose policies make a member.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Programme' })
export type Programme = z.infer<typeof Programme>

export const evolveProgramme = (
  programme: Programme | undefined,
  event: ProgrammeEvent,
  { occurred_at }: { readonly occurred_at: string },
): Programme | undefined => {
  switch (event.type) {
    case 'ProgrammeCreated': {
      const { type: _type, programme_id: id, ...declared } = event
      return { id, ...declared, created_at: occurred_at, updated_at: occurred_at }
    }
    case 'ProgrammeChanged': {
      const { type: _type, ...changed } = event
      return programme && { ...programme, ...changed, updated_at: occurred_at }
    }
  }
}

/** The programmes of all organisations, for a process that keeps them in memory. */
export const programmesFold = recordsFold({
  name: 'programmes',
  version: 1,
  categories: ['programme'],
  events: programmeEvents,
  evolve: evolveProgramme,
})

/** The programmes of an organisation, by slug. */
export const programmesOf = (
  programmes: ReadonlyMap<string, Programme>,
  organisation_id: OrganisationId,
): readonly Programme[] =>
  [...programmes.values()]
    .filter((each) => each.organisation_id === organisation_id)
    .toSorted((one, other) => one.slug.localeCompare(other.slug))

export const MembershipStatus = z.enum(['pending', 'active', 'suspended', 'cancelled'])
export type MembershipStatus = z.infer<typeof MembershipStatus>

/** A cycle of points: both days belong to it. */
export type Cycle = {
  readonly cycle_started_on: string
  readonly cycle_ends_on: string
  /** Start of the day after. */
  readonly cycle_over_at: string
}

/** A membership as its events say it. */
export type Membership = {
  readonly id: MembershipId
  readonly organisation_id: OrganisationId
  readonly programme_id: ProgrammeId
  readonly customer_id: CustomerId | null
  readonly policy_id: string | null
  readonly policy_number: string
  readonly status: MembershipStatus
  readonly external_member_ref: string | null
  readonly current_tier_key: string | null
  readonly cycle_points: number
  /** Null until it is confirmed. */
  readonly cycle: Cycle | null
  readonly confirmed_on: string | null
  /** Points of days after the cycle: they count when the next one begins. */
  readonly later: readonly { readonly day: string; readonly points: number }[]
  readonly created_at: string
  readonly updated_at: string
}

/** The membership alone, for the read model: what repeats is for the command side. */
export const evolveMembership = (
  membership: Membership | undefined,
  event: MembershipEvent,
  { occurred_at }: { readonly occurred_at: string },
): Membership | undefined => {
  if (event.type === 'MembershipEnrolled') {
    const { type: _type, membership_id: id, ...enrolled } = event
    return {
      id,
      ...enrolled,
      status: 'pending',
      external_member_ref: null,
      current_tier_key: null,
      cycle_points: 0,
      cycle: null,
      confirmed_on: null,
      later: [],
      created_at: occurred_at,
      updated_at: occurred_at,
    }
  }
  if (!membership) return undefined
  return { ...membership, ...changeOf(membership, event), updated_at: occurred_at }
}

const changeOf = (
  membership: Membership,
  event: Exclude<MembershipEvent, { type: 'MembershipEnrolled' }>,
): Partial<Membership> => {
  switch (event.type) {
    case 'MemberReferenceRecorded':
      return { external_member_ref: event.external_member_ref }
    case 'MembershipConfirmed': {
      const { external_member_ref, confirmed_on, cycle_started_on, cycle_ends_on, cycle_over_at } = event
      const cycle = { cycle_started_on, cycle_ends_on, cycle_over_at }
      return { status: 'active', external_member_ref, confirmed_on, cycle }
    }
    case 'MembershipSuspended':
      return { status: 'suspended' }
    case 'MembershipReinstated':
      return { status: 'active' }
    case 'MembershipCancelled':
      return { status: 'cancelled' }
    case 'PointsAwarded':
    case 'PointsAdjusted':
      return withPoints(membership, event.points, event.day)
    case 'TierAsserted':
      return { current_tier_key: event.tier_key }
    case 'CycleStarted': {
      const { type: _type, ...cycle } = event
      const fresh: Membership = { ...membership, cycle, cycle_points: 0, later: [] }
      return membership.later.reduce(
        (before, { points, day }) => ({ ...before, ...withPoints(before, points, day) }),
        fresh,
      )
    }
  }
}

/** Points count in the cycle of the day on which they were earned: those of an earlier one count no more. */
const withPoints = (membership: Membership, points: number, day: string): Partial<Membership> => {
  const { cycle, cycle_points, later } = membership
  if (!cycle || day < cycle.cycle_started_on) return {}
  if (day > cycle.cycle_ends_on) return { later: withLater(later, day, points) }
  return { cycle_points: cycle_points + points }
}

/** One sum for each day: however many events there are, they lie a day ahead at most. */
const withLater = (later: Membership['later'], day: string, points: number): Membership['later'] => {
  const known = later.find((each) => each.day === day)
  return known
    ? later.map((each) => (each === known ? { day, points: each.points + points } : each))
    : [...later, { day, points }]
}

/** A membership as the partner sees it. */
export const ShownMembership = z
  .object({
    id: MembershipId,
    programme_slug: z.string(),
    programme_name: z.string(),
    policy_number: z.string(),
    status: MembershipStatus,
    external_member_ref: z.string().nullable().describe('The partner’s reference, once it is confirmed.'),
    current_tier_key: z.string().nullable(),
    cycle_points: z.int().describe('Points of this cycle.'),
    cycle_started_on: CalendarDate.nullable(),
    cycle_ends_on: CalendarDate.nullable().describe('The last day of the cycle.'),
  })
  .meta({ id: 'Membership' })
export type ShownMembership = z.infer<typeof ShownMembership>

export const renderMembership = (
  membership: Membership,
  { slug, name }: Pick<Programme, 'slug' | 'name'>,
): ShownMembership => {
  const { id, policy_number, status, external_member_ref, current_tier_key, cycle_points, cycle } = membership
  return {
    id,
    programme_slug: slug,
    programme_name: name,
    policy_number,
    status,
    external_member_ref,
    current_tier_key,
    cycle_points,
    cycle_started_on: cycle?.cycle_started_on ?? null,
    cycle_ends_on: cycle?.cycle_ends_on ?? null,
  }
}

export const EntryType = z.enum(['points_awarded', 'points_adjusted', 'tier_asserted'])
export type EntryType = z.infer<typeof EntryType>

/** The partner's names for the events of a membership that it sends. */
export const entryTypes = {
  PointsAwarded: 'points_awarded',
  PointsAdjusted: 'points_adjusted',
  TierAsserted: 'tier_asserted',
} as const satisfies Partial<Record<MembershipEvent['type'], EntryType>>

/** The result of an event that the partner sent. */
export const EntryResult = z
  .object({
    id: z.uuid(),
    entry_type: EntryType,
    points: z.int().nullable(),
    tier_key: z.string().nullable(),
    replayed: z.boolean().describe('Whether an event with this key was recorded before: this one changed nothing.'),
  })
  .meta({ id: 'MembershipEventResult' })
export type EntryResult = z.infer<typeof EntryResult>

/** An event of the partner's, as the operator sees it. */
export const EntryShown = z
  .object({
    id: z.uuid(),
    entry_type: EntryType,
    points: z.int().nullable(),
    tier_key: z.string().nullable(),
    idempotency_key: z.string(),
    occurred_at: z.iso.datetime(),
    payload: z.record(z.string(), z.unknown()).nullable(),
    recorded_at: z.iso.datetime(),
  })
  .meta({ id: 'MembershipEvent' })
export type EntryShown = z.infer<typeof EntryShown>
