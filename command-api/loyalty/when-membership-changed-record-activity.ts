import { idOf, type EventOf } from '#domain/event.ts'
import { membershipEvents } from '#domain/loyalty/events.ts'
import type { Programme } from '#domain/loyalty/record.ts'
import { MembershipId, OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from '../leads/live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { Memberships } from './memberships.ts'

const { MembershipEnrolled, MembershipConfirmed, MembershipSuspended, MembershipReinstated, MembershipCancelled } =
  membershipEvents
const { TierAsserted } = membershipEvents
const followed = {
  MembershipEnrolled,
  MembershipConfirmed,
  MembershipSuspended,
  MembershipReinstated,
  MembershipCancelled,
  TierAsserted,
}

const describe = (event: EventOf<typeof followed>, programme: string): string => {
  switch (event.type) {
    case 'MembershipEnrolled':
      return `Enrolled in ${programme}`
    case 'MembershipConfirmed':
      return `Membership of ${programme} was confirmed`
    case 'MembershipSuspended':
      return `Membership of ${programme} was suspended`
    case 'MembershipReinstated':
      return `Membership of ${programme} was reinstated`
    case 'MembershipCancelled':
      return `Membership of ${programme} was cancelled`
    case 'TierAsserted':
      return `Tier ${event.tier_key} of ${programme}`
  }
}

type Deps = {
  readonly memberships: Pick<Memberships, 'load'>
  readonly programmes: ReadonlyMap<string, Programme>
  readonly leads: Pick<Leads, 'find' | 'handle'>
}

/** A membership's changes stand on the timeline of its member, where that person is a lead. Points do not. */
export const whenMembershipChangedRecordActivity = ({
  memberships,
  programmes,
  leads,
}: Deps): Reaction<typeof followed> => ({
  name: 'when-membership-changed-record-activity',
  categories: ['membership'],
  events: followed,
  react: async (event, { stream, id }, context) => {
    const { membership } = await memberships.load(MembershipId.parse(idOf(stream)))
    const contact_id = membership?.customer_id
    if (!contact_id || !(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
    const programme = programmes.get(membership.programme_id)?.name ?? 'the programme'
    await leads.handle(
      {
        contact_id,
        acts: [
          {
            type: 'RecordActivity',
            activity_id: derivedId('membership_activity', id),
            kind: 'membership_changed',
            summary: describe(event, programme),
            related: { type: 'membership', id: membership.id },
            happened_at: context.now,
          },
        ],
        by: { type: 'system', name: null },
      },
      context,
    )
  },
})
