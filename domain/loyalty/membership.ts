import { daysAfter, laterOf } from '../dates.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId, MembershipId, OrganisationId, ProgrammeId } from '../values.ts'
import { cycleOf } from './cycle.ts'
import { OwnError } from '../own-error.ts'
import { findEntry, type Entry } from './entry-set.ts'
import { membershipEvents, type CycleRule, type MembershipEvent } from './events.ts'
import { evolveState, fromTheBeginning, noMembership, type MembershipState } from './membership-state.ts'
import type { Membership, Programme } from './record.ts'

/** An event of the partner's, with the id that follows from its idempotency key. */
export type NewEntry = {
  readonly entry_id: string
  readonly idempotency_key: string
  readonly occurred_at: string
  readonly day: string
  readonly payload: Readonly<Record<string, unknown>> | null
} & (
  | { readonly entry_type: 'points_awarded' | 'points_adjusted'; readonly points: number }
  | { readonly entry_type: 'tier_asserted'; readonly tier_key: string }
)

export type Enrol = {
  readonly type: 'Enrol'
  readonly membership_id: MembershipId
  readonly organisation_id: OrganisationId
  readonly programme_id: ProgrammeId
  readonly customer_id: CustomerId | null
  readonly policy_id: string | null
  readonly policy_number: string
}

export type UpdateMembership = {
  readonly type: 'UpdateMembership'
  readonly status: 'active' | 'suspended' | 'cancelled' | undefined
  readonly external_member_ref: string | undefined
  /** The rule of the programme. */
  readonly cycle: CycleRule
  /** In the organisation's time zone. */
  readonly today: string
  readonly time_zone: string
}

/** Those of the entries sent that were recorded, as far as a revision of the stream at least. */
export type KnownEntries = { readonly as_far_as: number; readonly entries: readonly Entry[] }

export const noneKnown: KnownEntries = { as_far_as: fromTheBeginning, entries: [] }

/** Recorded entries have to be looked up as far as a later revision. */
export class EntriesUnknown extends OwnError {
  override readonly name = 'EntriesUnknown'
}

export type RecordEntries = {
  readonly type: 'RecordEntries'
  readonly entries: readonly NewEntry[]
  readonly known: KnownEntries
  readonly programme: Pick<Programme, 'tiers' | 'cycle'>
  readonly today: string
  readonly time_zone: string
}

export type StartCycle = {
  readonly type: 'StartCycle'
  readonly cycle: CycleRule
  readonly today: string
  readonly time_zone: string
}

export type MembershipCommand = Enrol | UpdateMembership | RecordEntries | StartCycle

const decide = (command: MembershipCommand, state: MembershipState): readonly MembershipEvent[] => {
  const { membership } = state
  if (command.type === 'Enrol') {
    const { type: _type, ...enrolled } = command
    return membership ? [] : [{ type: 'MembershipEnrolled', ...enrolled }]
  }
  if (!membership) throw new Rejection('not_found', 'There is no membership with this reference. Check the address.')
  switch (command.type) {
    case 'UpdateMembership':
      return update(command, membership)
    case 'RecordEntries':
      return record(command, membership, state)
    case 'StartCycle':
      return nextCycle(membership, command)
  }
}

const cancelled = () =>
  new Rejection('membership_cancelled', 'This membership is cancelled, and nothing of it changes any more.')

const update = (command: UpdateMembership, membership: Membership): readonly MembershipEvent[] => {
  const { status, external_member_ref: sent } = command
  const isSame =
    (status === undefined || status === membership.status) &&
    (sent === undefined || sent === membership.external_member_ref)
  if (isSame) return []
  if (membership.status === 'cancelled') throw cancelled()
  return membership.status === 'pending' ? updatePending(command, membership) : updateConfirmed(command, membership)
}

const updatePending = (
  { status, external_member_ref: sent, cycle, today, time_zone }: UpdateMembership,
  { customer_id, external_member_ref: held }: Membership,
): readonly MembershipEvent[] => {
  if (status === 'suspended' || status === 'cancelled')
    throw new Rejection('invalid_transition', `A pending membership cannot be ${status}: it is confirmed first.`, {
      status: 'is not possible while the membership is pending',
    })
  const external_member_ref = sent ?? held
  if (status === undefined)
    return external_member_ref === null ? [] : [{ type: 'MemberReferenceRecorded', customer_id, external_member_ref }]
  if (external_member_ref === null)
    throw new Rejection('validation_failed', 'Send external_member_ref, your reference for the member, to confirm.', {
      external_member_ref: 'is missing',
    })
  return [
    {
      type: 'MembershipConfirmed',
      customer_id,
      external_member_ref,
      confirmed_on: today,
      ...cycleOf(cycle, today, today, time_zone),
    },
  ]
}

const updateConfirmed = (
  { status, external_member_ref: sent }: UpdateMembership,
  membership: Membership,
): readonly MembershipEvent[] => {
  if (sent !== undefined && sent !== membership.external_member_ref) throw referenceMismatch()
  const { id: membership_id } = membership
  switch (status) {
    case undefined:
      return []
    case 'active':
      return [{ type: 'MembershipReinstated', membership_id }]
    case 'suspended':
      return [{ type: 'MembershipSuspended', membership_id }]
    case 'cancelled':
      return [{ type: 'MembershipCancelled', membership_id }]
  }
}

export const referenceMismatch = () =>
  new Rejection(
    'external_member_ref_mismatch',
    'A confirmed reference is fixed, and belongs to one member of the programme. Send the confirmed reference, or none.',
    { external_member_ref: 'is not the one that was confirmed' },
  )

const record = (
  { entries: sent, known, programme, today, time_zone }: RecordEntries,
  membership: Membership,
  { entries: recorded, entries_after }: MembershipState,
): readonly MembershipEvent[] => {
  refuseUnknownTiers(sent, programme)
  if (membership.status === 'pending')
    throw new Rejection('membership_pending', 'This membership is not confirmed yet. Confirm it, then send its events.')
  if (membership.status === 'cancelled') throw cancelled()
  if (known.as_far_as < entries_after)
    throw new EntriesUnknown(`Entries are known as far as ${known.as_far_as}, and wanted as far as ${entries_after}.`)

  const events: MembershipEvent[] = [...nextCycle(membership, { cycle: programme.cycle, today, time_zone })]
  const begun = events.length
  const seen = new Set(known.entries.map(({ id }) => id))
  for (const entry of sent) {
    const { entry_id } = entry
    if (seen.has(entry_id) || findEntry(recorded, entry_id)) continue
    events.push(eventOf(entry, membership))
    seen.add(entry_id)
  }
  return events.length > begun ? events : []
}

const refuseUnknownTiers = (sent: readonly NewEntry[], { tiers }: Pick<Programme, 'tiers'>): void => {
  const keys = new Set(tiers.map(({ key }) => key))
  const unknown = sent.flatMap((entry, index) =>
    entry.entry_type === 'tier_asserted' && !keys.has(entry.tier_key)
      ? [[`events[${index}].tier_key`, 'is not a tier of the programme'] as const]
      : [],
  )
  if (unknown.length > 0)
    throw new Rejection(
      'validation_failed',
      `The tiers of the programme are ${[...keys].join(', ') || 'none'}. Nothing was recorded.`,
      Object.fromEntries(unknown),
    )
}

const eventOf = (entry: NewEntry, { customer_id }: Membership): MembershipEvent => {
  const { entry_id, idempotency_key, occurred_at, day, payload } = entry
  const shared = { entry_id, customer_id, idempotency_key, occurred_at, day, payload }
  switch (entry.entry_type) {
    case 'points_awarded':
      return { type: 'PointsAwarded', ...shared, points: entry.points }
    case 'points_adjusted':
      return { type: 'PointsAdjusted', ...shared, points: entry.points }
    case 'tier_asserted':
      return { type: 'TierAsserted', ...shared, tier_key: entry.tier_key }
  }
}

/** The cycle of today, where the one before is over. A cancelled membership has no further ones. */
const nextCycle = (
  { cycle, confirmed_on, status }: Membership,
  { cycle: rule, today, time_zone }: Pick<StartCycle, 'cycle' | 'today' | 'time_zone'>,
): readonly MembershipEvent[] => {
  if (!cycle || confirmed_on === null || status === 'cancelled' || today <= cycle.cycle_ends_on) return []
  const next = cycleOf(rule, confirmed_on, today, time_zone)
  // By a rule that was changed meanwhile it would have begun earlier; a day is in one cycle.
  const cycle_started_on = laterOf(next.cycle_started_on, daysAfter(cycle.cycle_ends_on, 1))
  return [{ type: 'CycleStarted', ...next, cycle_started_on }]
}

export const membership: Decider<MembershipCommand, typeof membershipEvents, MembershipState> = {
  category: 'membership',
  events: membershipEvents,
  initialState: noMembership,
  decide,
  evolve: evolveState,
}
