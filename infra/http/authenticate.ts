import { setTimeout as pause } from 'node:timers/promises'
import type { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import { Problem } from './problem.ts'
import type { Scope } from './route.ts'
import type { Grant, Tokens } from '../crypto/tokens.ts'
import { realNow } from '../clock.ts'

type KnownApplication = {
  readonly id: ApiApplicationId
  readonly organisation_id: OrganisationId
  readonly kind: 'server' | 'browser'
  readonly scopes: readonly Scope[]
  readonly allowed_origins: readonly string[]
  readonly secret_hash: string
  /** Increases with every change that ends the tokens issued so far. */
  readonly epoch: number
  /** The secret before a rotation goes on until then, and so do the tokens issued with it, which have this epoch. */
  readonly former: { readonly epoch: number; readonly ends_at: string } | null
  readonly deleted: boolean
}

/** The organisations and applications that may call, at this moment. Entries are replaced, never changed. */
export type Directory = {
  readonly organisations: ReadonlyMap<string, { readonly active: boolean }>
  readonly applications: ReadonlyMap<string, KnownApplication>
  /** The origins that some browser application allows. */
  readonly origins: { readonly has: (origin: string) => boolean }
}

export type Authenticated = { readonly application: KnownApplication; readonly grant: Grant }

const behindForMs = 1000
const lookAgainMs = 10

/** Waits a moment for what is known elsewhere already, and is about to be known here. */
export const waitUntilKnown = async (isKnown: () => boolean): Promise<void> => {
  for (let waited = 0; !isKnown() && waited < behindForMs; waited += lookAgainMs) await pause(lookAgainMs)
}

const challenge = (message: string): string =>
  `Bearer realm="Coverstream API", error="invalid_token", error_description="${message}"`

const invalid = (message: string) =>
  new Problem('invalid_token', message, { headers: { 'WWW-Authenticate': challenge(message) } })

const isInForce = ({ epoch, former }: KnownApplication, issued: number): boolean =>
  issued === epoch || (former?.epoch === issued && Date.parse(former.ends_at) > realNow())

/** The token of `Authorization: Bearer`. */
export const bearerOf = (authorization = ''): string | undefined => {
  const [scheme] = /^bearer +/i.exec(authorization) ?? []
  const token = scheme && authorization.slice(scheme.length).replace(/ +$/, '')
  return token === '' ? undefined : token
}

/**
 * Proves that a request was sent by an API application whose token is in force, or throws a Problem that says why not.
 * A token can come here before the event that created its application, or renewed its credentials, has: the token is
 * genuine, so it is this process that is behind, and it waits a moment.
 */
export const makeAuthenticate = (directory: Directory, tokens: Tokens, tokenAddress: string) => {
  const again = `Get a new one from ${tokenAddress}.`

  const isKnown = ({ api_application_id, epoch }: Grant): boolean =>
    (directory.applications.get(api_application_id)?.epoch ?? -1) >= epoch

  const applicationOf = async (grant: Grant): Promise<KnownApplication | undefined> => {
    await waitUntilKnown(() => isKnown(grant))
    return directory.applications.get(grant.api_application_id)
  }

  return async (authorization: string | undefined): Promise<Authenticated> => {
    if (authorization === undefined)
      throw new Problem(
        'invalid_token',
        `No access token was sent. Get one from ${tokenAddress} and send it as Authorization: Bearer.`,
        { headers: { 'WWW-Authenticate': 'Bearer realm="Coverstream API"' } },
      )

    const token = bearerOf(authorization)
    const verified = token === undefined ? undefined : await tokens.verify(token)
    if (verified?.outcome === 'expired') throw invalid(`The access token has expired. ${again}`)
    if (verified?.outcome !== 'genuine')
      throw invalid(`The access token was not issued by this service, or was cut short. ${again}`)

    const { grant } = verified
    const application = await applicationOf(grant)
    if (!application) throw invalid(`The access token was not issued by this service, or was cut short. ${again}`)
    if (application.deleted)
      throw invalid('The application of the access token was deleted. Use the credentials of another application.')
    if (!isInForce(application, grant.epoch))
      throw invalid(
        `The access token was revoked, because the secret was rotated or a scope was removed after it was issued. ${again}`,
      )
    return { application, grant }
  }
}
