import { recordsFold } from '../records-fold.ts'
import type { OrganisationId, UserRole } from '../values.ts'
import { signInProviderEvents, type SignInProviderEvent, type SignInProviderId } from './events.ts'

/** A server that says who somebody is, by OpenID Connect. */
export type SignInProvider = {
  readonly id: SignInProviderId
  readonly organisation_id: OrganisationId | null
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  readonly sealed_secret: string
  readonly roles_claim: string
  readonly roles_of: readonly { readonly value: string; readonly roles: readonly UserRole[] }[]
  readonly updated_at: string
}

export const evolveSignInProvider = (
  event: SignInProviderEvent,
  { occurred_at }: { readonly occurred_at: string },
): SignInProvider | undefined => {
  if (event.type === 'SignInProviderRemoved') return undefined
  const { type: _type, sign_in_provider_id: id, ...provider } = event
  return { id, ...provider, updated_at: occurred_at }
}

/** The binding under which the secret of a provider is sealed: under another it cannot be opened. */
export const signInSecretBinding = (team: string, id: SignInProviderId): readonly string[] => [
  team,
  `sign_in_provider-${id}`,
  'client_secret',
]

export type SignInProviders = Map<string, SignInProvider>

export const providersOf = (
  providers: ReadonlyMap<string, SignInProvider>,
  organisation_id: OrganisationId | null,
): readonly SignInProvider[] =>
  [...providers.values()]
    .filter((each) => each.organisation_id === organisation_id)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** The number of others that the team of a provider has. */
export const countOthers = (
  providers: ReadonlyMap<string, SignInProvider>,
  organisation_id: OrganisationId | null,
  id: SignInProviderId,
): number => providersOf(providers, organisation_id).filter((each) => each.id !== id).length

/** The roles that a provider gives somebody of whom it claims this; none where nothing that it claims is set up. */
export const rolesOfClaims = (
  { roles_claim, roles_of }: Pick<SignInProvider, 'roles_claim' | 'roles_of'>,
  claims: Readonly<Record<string, unknown>>,
): readonly UserRole[] => {
  const claimed: readonly unknown[] = Object.hasOwn(claims, roles_claim) ? [claims[roles_claim]].flat() : []
  return [...new Set(roles_of.filter(({ value }) => claimed.includes(value)).flatMap(({ roles }) => roles))]
}

/** Applies events to the providers, in place. */
export const signInProvidersFold = recordsFold({
  name: 'sign-in providers',
  version: 1,
  categories: ['sign_in_provider'],
  events: signInProviderEvents,
  evolve: (_former, event, metadata) => evolveSignInProvider(event, metadata),
})
