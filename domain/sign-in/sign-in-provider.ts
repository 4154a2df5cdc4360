import type { Decider } from '../decider.ts'
import { isSameJson } from '../canonical-json.ts'
import { keptSecret } from '../kept-secrets.ts'
import { Rejection } from '../rejection.ts'
import { notEncrypted } from '../web-address.ts'
import { signInProviderEvents, type SignInProviderEvent, type SignInProviderId } from './events.ts'
import { evolveSignInProvider, type SignInProvider } from './record.ts'

/** Of one team. */
export const mostProviders = 5

export type SignInProviderCommand =
  | ({
      readonly type: 'SetSignInProvider'
      readonly sign_in_provider_id: SignInProviderId
      /** True where the operator's configuration permits plain http to this host. */
      readonly http_allowed: boolean
      /** This is the secret that is held, sealed again. */
      readonly is_same_secret: boolean
      /** It stays as it is, however it is by the time of this. */
      readonly keeps_secret?: boolean
      /** The number of others that the team has. */
      readonly others: number
    } & Omit<SignInProvider, 'id' | 'updated_at'>)
  | { readonly type: 'RemoveSignInProvider'; readonly sign_in_provider_id: SignInProviderId }

const decide = (
  command: SignInProviderCommand,
  existing: SignInProvider | undefined,
): readonly SignInProviderEvent[] => {
  const { sign_in_provider_id } = command
  if (command.type === 'RemoveSignInProvider')
    return existing ? [{ type: 'SignInProviderRemoved', sign_in_provider_id }] : []

  const { type: _, http_allowed, is_same_secret, keeps_secret, others, ...given } = command
  refuseIssuer(given.issuer, http_allowed)
  if (!existing && others >= mostProviders)
    throw new Rejection(
      'conflict',
      `There are ${mostProviders} providers, which is the most. Remove one of them first.`,
    )
  const roles_of = given.roles_of.map(({ value, roles }) => ({ value, roles: [...roles] }))
  // A secret that was replaced meanwhile stays, but goes nowhere else.
  const goesWhereItWent = existing?.issuer === given.issuer && existing.client_id === given.client_id
  const held = goesWhereItWent ? existing.sealed_secret : undefined
  const set = { ...given, roles_of, sealed_secret: keptSecret(keeps_secret, given.sealed_secret, held) }
  return existing && is_same_secret && isSameJson(comparable(existing), comparable(set))
    ? []
    : [{ type: 'SignInProviderSet', ...set }]
}

const comparable = ({ issuer, client_id, roles_claim, roles_of }: Omit<SignInProvider, 'id' | 'updated_at'>) => ({
  issuer,
  client_id,
  roles_claim,
  roles_of: roles_of.map(({ value, roles }) => ({ value, roles: [...roles] })),
})

const refuseIssuer = (issuer: string, http_allowed: boolean): void => {
  const url = URL.parse(issuer)
  const reason = !url
    ? 'must be a whole address, such as https://login.example.com'
    : url.protocol !== 'https:' && !(url.protocol === 'http:' && http_allowed)
      ? notEncrypted
      : url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
        ? 'must hold no user name, password, query or fragment'
        : undefined
  if (reason !== undefined)
    throw new Rejection('validation_failed', 'Correct issuer and send the request again.', { issuer: reason })
}

export const signInProvider: Decider<SignInProviderCommand, typeof signInProviderEvents, SignInProvider | undefined> = {
  category: 'sign_in_provider',
  events: signInProviderEvents,
  initialState: undefined,
  decide,
  evolve: (_provider, event, metadata) => evolveSignInProvider(event, metadata),
}
