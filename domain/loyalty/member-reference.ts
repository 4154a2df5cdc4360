import type { Decider } from '../decider.ts'
import type { MembershipId, OrganisationId, ProgrammeId } from '../values.ts'
import { memberReferenceEvents, type MemberReferenceEvent } from './events.ts'
import { referenceMismatch } from './membership.ts'

type ReferenceHolder = { readonly membership_id: MembershipId } | undefined

export type ClaimReference = {
  readonly type: 'ClaimReference'
  readonly organisation_id: OrganisationId
  readonly programme_id: ProgrammeId
  readonly membership_id: MembershipId
  /** A holder that was confirmed with another reference after all, and has given this one up. */
  readonly instead_of: MembershipId | undefined
}

const decide = (command: ClaimReference, holder: ReferenceHolder): readonly MemberReferenceEvent[] => {
  const { type: _type, instead_of, ...claim } = command
  if (holder?.membership_id === claim.membership_id) return []
  if (!holder || holder.membership_id === instead_of) return [{ type: 'MemberReferenceClaimed', ...claim }]
  throw referenceMismatch()
}

/** A reference of the partner's is one member's, within its programme. */
export const memberReference: Decider<ClaimReference, typeof memberReferenceEvents, ReferenceHolder> = {
  category: 'member_reference',
  events: memberReferenceEvents,
  initialState: undefined,
  decide,
  evolve: (_holder, { membership_id }) => ({ membership_id }),
}
