import type { Decider } from '../decider.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { identityEvents, type IdentityEvent, type IdentityKind } from './events.ts'

export type ClaimIdentity = {
  readonly type: 'ClaimIdentity'
  readonly organisation_id: OrganisationId
  readonly kind: IdentityKind
  /** The person who gets it, unless a person has it already. */
  readonly customer_id: CustomerId
  /** A person who had it and was erased: it is nobody's any more. */
  readonly erased?: CustomerId
}

type Identity = { readonly customer_id: CustomerId }

const decide = (
  { organisation_id, kind, customer_id, erased }: ClaimIdentity,
  identity: Identity | undefined,
): readonly IdentityEvent[] =>
  identity && identity.customer_id !== erased ? [] : [{ type: 'IdentityClaimed', organisation_id, kind, customer_id }]

/** An email address or external id, and the one person who has it: the first who claimed it, or who did after that one was erased. */
export const identity: Decider<ClaimIdentity, typeof identityEvents, Identity | undefined> = {
  category: 'identity',
  events: identityEvents,
  initialState: undefined,
  decide,
  evolve: (_identity, { customer_id }) => ({ customer_id }),
}
