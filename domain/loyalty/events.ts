import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { CalendarDate, CustomerId, MembershipId, OrganisationId, ProgrammeId, Slug } from '../values.ts'

export const TierKey = z
  .string()
  .regex(/^[a-z0-9_.-]{1,64}$/, 'must be up to 64 lower-case letters, digits, _, . and -')

export const Tier = z.object({
  key: TierKey,
  name: z.string(),
  /** The points of a cycle that the tier is meant for. For information: only the partner sets tiers. */
  threshold: z.int().min(0).nullable(),
})

/**
 * The length of a cycle of points, and when the first begins: on the day on which the membership is confirmed, or on a fixed
 * day of the year (`04-06`), from which cycles follow one another.
 */
export const CycleRule = z
  .object({
    months: z.int().min(1).max(60),
    starts: z.union([
      z.literal('confirmation'),
      z
        .string()
        .regex(/^(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])$/, 'must be confirmation or a day of the year such as 04-06'),
    ]),
  })
  .meta({
    anyOf: [
      { properties: { starts: { const: 'confirmation' } } },
      { properties: { months: { enum: [1, 2, 3, 4, 6, 12] } } },
    ],
  })
export type CycleRule = z.infer<typeof CycleRule>

const choices = {
  name: z.string(),
  tiers: z.array(Tier),
  cycle: CycleRule,
  /** The products whose policies make a member. */
  products: z.array(Slug),
}

/** Stream `programme-<programme id>`. */
export const programmeEvents = {
  ProgrammeCreated: event({ programme_id: ProgrammeId, organisation_id: OrganisationId, slug: Slug, ...choices }),
  ProgrammeChanged: event(choices),
}
export type ProgrammeEvent = EventOf<typeof programmeEvents>

/** The partner's own reference for a member: without spaces around it, wherever it is sent. */
export const MemberReference = z.string().trim().min(1).max(200)

const cycle = {
  cycle_started_on: CalendarDate,
  /** The last day of the cycle. */
  cycle_ends_on: CalendarDate,
  /** Start of the day after, in the organisation's time zone. */
  cycle_over_at: z.iso.datetime(),
}

const Payload = z.record(z.string(), z.unknown())

const entry = {
  /** Derived from the membership and the partner's idempotency key. */
  entry_id: z.uuid(),
  /** The member; null when nobody is known. */
  customer_id: CustomerId.nullable(),
  idempotency_key: personal(z.string()),
  occurred_at: z.iso.datetime(),
  /** The day of `occurred_at` in the organisation's time zone: it decides in which cycle points count. */
  day: CalendarDate,
  payload: personal(Payload).nullable(),
}

const ofMember = { subject: ({ customer_id }: { readonly customer_id: CustomerId | null }) => customer_id }

const reference = { customer_id: CustomerId.nullable(), external_member_ref: personal(z.string()) }

/** Stream `membership-<membership id>`. */
export const membershipEvents = {
  MembershipEnrolled: event({
    membership_id: MembershipId,
    organisation_id: OrganisationId,
    programme_id: ProgrammeId,
    /** The member; null where the operator enrolled by the number of the policy alone. */
    customer_id: CustomerId.nullable(),
    policy_id: z.uuid().nullable(),
    policy_number: z.string(),
  }),
  /** The reference of a membership that is not confirmed yet. */
  MemberReferenceRecorded: event(reference, ofMember),
  MembershipConfirmed: event({ ...reference, ...cycle, confirmed_on: CalendarDate }, ofMember),
  MembershipSuspended: event({ membership_id: MembershipId }),
  MembershipReinstated: event({ membership_id: MembershipId }),
  MembershipCancelled: event({ membership_id: MembershipId }),
  PointsAwarded: event({ ...entry, points: z.int().min(1) }, ofMember),
  PointsAdjusted: event({ ...entry, points: z.int() }, ofMember),
  TierAsserted: event({ ...entry, tier_key: TierKey }, ofMember),
  /** A new cycle: points count from its first day on. */
  CycleStarted: event(cycle),
}
export type MembershipEvent = EventOf<typeof membershipEvents>

/**
 * Stream `member_reference-<id>`, the id an HMAC of programme and reference under a key of the organisation: that makes a
 * reference one member's within its programme.
 */
export const memberReferenceEvents = {
  MemberReferenceClaimed: event({
    organisation_id: OrganisationId,
    programme_id: ProgrammeId,
    membership_id: MembershipId,
  }),
}
export type MemberReferenceEvent = EventOf<typeof memberReferenceEvents>
