import type { Decider } from '../decider.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { identityEvents, type IdentityEvent, type IdentityKind } from './events.ts'

export type ClaimIdentity = {
  readonly type: 'ClaimIdentity'
  readonly organisation_id: OrganisationId
  readonly kind: IdentityKind
  /** The person who gets it, unless a person has it already. */
  readonly customer_id: CustomerId
  /** A person who had it and has it no more: they were erased, or it was taken away from them. */
  readonly former?: CustomerId
}

type Identity = { readonly customer_id: CustomerId }

const decide = (
  { organisation_id, kind, customer_id, former }: ClaimIdentity,
  identity: Identity | undefined,
): readonly IdentityEvent[] =>
  identity && identity.customer_id !== former ? [] : [{ type: 'IdentityClaimed', organisation_id, kind, customer_id }]

/** An email address or external id, and the one person who has it: the first who claimed it, or who did when that one had it no more. */
export const identity: Decider<ClaimIdentity, typeof identityEvents, Identity | undefined> = {
  category: 'identity',
  events: identityEvents,
  initialState: undefined,
  decide,
  evolve: (_identity, { customer_id }) => ({ customer_id }),
}
