import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { identityEvents, type IdentityEvent, type IdentityKind } from './events.ts'

export type ClaimIdentity = {
  readonly type: 'ClaimIdentity'
  readonly organisation_id: OrganisationId
  readonly kind: IdentityKind
  /** The person who gets it, unless a person has it already. */
  readonly customer_id: CustomerId
  /** A claim that holds no more: its person was erased, or it was taken away from them. */
  readonly former?: Claim
}

/** An identity's owner, and the time claimed. */
export type Claim = { readonly customer_id: CustomerId; readonly claimed_at: string }

const decide = (
  { organisation_id, kind, customer_id, former }: ClaimIdentity,
  identity: Claim | undefined,
): readonly IdentityEvent[] =>
  identity && !isSameJson(identity, former ?? null)
    ? []
    : [{ type: 'IdentityClaimed', organisation_id, kind, customer_id }]

/** An email address or external id, and the one person who has it: the first who claimed it, or who did when that one had it no more. */
export const identity: Decider<ClaimIdentity, typeof identityEvents, Claim | undefined> = {
  category: 'identity',
  events: identityEvents,
  initialState: undefined,
  decide,
  evolve: (_identity, { customer_id }, { occurred_at: claimed_at }) => ({ customer_id, claimed_at }),
}
