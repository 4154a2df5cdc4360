import { z } from 'zod'
import { SignInProviderId } from '#domain/sign-in/events.ts'
import { countOthers, signInSecretBinding, type SignInProvider } from '#domain/sign-in/record.ts'
import { signInProvider, type SignInProviderCommand } from '#domain/sign-in/sign-in-provider.ts'
import {
  InstallationRole,
  OrganisationId,
  OrganisationRole,
  UserRole,
  type OrganisationId as Id,
} from '#domain/values.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import { installationKeys } from '#infra/crypto/subjects.ts'
import { derivedId } from '#infra/ids.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { commandHandler } from '../writing/handle.ts'

export type ProviderDeps = AccountsDeps & { readonly signInProviders: ReadonlyMap<string, SignInProvider> }

export const ProviderName = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be of small letters, digits and hyphens')
  .max(50)

const mostRows = 50

const givenWith = <Role extends z.ZodEnum>(role: Role) =>
  z.object({
    issuer: z.string().max(500).describe('As the provider writes it in what it issues.'),
    client_id: z.string().min(1).max(200),
    client_secret: z.string().min(1).max(500).describe('It is never shown.'),
    roles_claim: z.string().min(1).max(200).default('groups').describe('The claim that says what somebody is.'),
    roles_of: z
      .array(z.object({ value: z.string().min(1).max(200), roles: z.array(role).min(1) }))
      .min(1)
      .max(mostRows)
      .describe('The roles that each value of the claim gives. Whoever has none of the values is refused.'),
  })

export const GivenProvider = {
  organisation: givenWith(OrganisationRole),
  installation: givenWith(InstallationRole),
}
type GivenProvider = z.output<(typeof GivenProvider)[keyof typeof GivenProvider]>

/** A secret that is left out stays as it is. */
type MayKeepSecret = Omit<GivenProvider, 'client_secret'> & { readonly client_secret: string | undefined }

export const ShownProvider = z
  .object({
    id: SignInProviderId,
    organisation_id: OrganisationId.nullable().describe('Null: of the installation.'),
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    roles_claim: z.string(),
    roles_of: z.array(z.object({ value: z.string(), roles: z.array(UserRole) })),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'SignInProvider' })

export const shownProvider = (provider: SignInProvider): z.input<typeof ShownProvider> => ShownProvider.parse(provider)

export const providerIdOf = (team: Id | null, name: string): SignInProviderId =>
  SignInProviderId.parse(derivedId('sign_in_provider', team ?? installationKeys, name))

/** Shared by the set-up file and the routes. */
export const makeProviders = ({ writer, keys, allowsHttp, signInProviders }: ProviderDeps) => {
  const handler = commandHandler(writer, signInProvider)

  const commandFor = async (
    team: Id | null,
    name: string,
    { client_secret, ...given }: MayKeepSecret,
  ): Promise<SignInProviderCommand> => {
    const id = providerIdOf(team, name)
    const binding = signInSecretBinding(team ?? installationKeys, id)
    const existing = await handler.load(id)
    return {
      type: 'SetSignInProvider',
      sign_in_provider_id: id,
      organisation_id: team,
      name,
      ...given,
      sealed_secret: client_secret === undefined ? (existing?.sealed_secret ?? '') : seal(keys, client_secret, binding),
      keeps_secret: client_secret === undefined,
      is_same_secret:
        existing !== undefined &&
        (client_secret === undefined || holdsSecret(keys, existing.sealed_secret, binding, client_secret)),
      http_allowed: allowsHttp(given.issuer),
      others: countOthers(signInProviders, team, id),
    }
  }

  return { ...handler, commandFor }
}
