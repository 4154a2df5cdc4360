import type { KeyObject } from 'node:crypto'
import { errors, jwtVerify, SignJWT, type JWTHeaderParameters } from 'jose'
import { LRUCache } from 'lru-cache'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import { realNow } from '../clock.ts'
import type { Keys } from './keys.ts'
import type { Scope } from '../http/route.ts'

const tokenLifetimeSeconds = 7200

const algorithm = 'EdDSA'
const type = 'at+jwt'

/** The content of an access token: who may do what, where, and until when. */
export type Grant = {
  readonly organisation_id: OrganisationId
  readonly api_application_id: ApiApplicationId
  /** The state of the application's credentials at the time; once it has moved on, the token is revoked. */
  readonly epoch: number
  readonly scopes: ReadonlySet<Scope>
  /** The address of the API for which it was asked. */
  readonly resource: string
}

export type Issued = { readonly access_token: string; readonly created_at: number; readonly expires_in: number }

export type Verified =
  | { readonly outcome: 'genuine'; readonly grant: Grant }
  | { readonly outcome: 'expired' }
  /** Not issued here, cut short, or otherwise no token. */
  | { readonly outcome: 'unknown' }

export type Tokens = {
  readonly issue: (grant: Grant) => Promise<Issued>
  readonly verify: (token: string) => Promise<Verified>
}

const ScopeName = z.enum(['read', 'write', 'crm', 'outcomes'])

const Claims = z.object({
  sub: ApiApplicationId,
  aud: z.string(),
  scope: z
    .string()
    .transform((value) => value.split(' '))
    .pipe(z.array(ScopeName)),
  exp: z.int(),
  organisation_id: OrganisationId,
  epoch: z.int(),
})

type Genuine = { readonly grant: Grant; readonly expiresAt: number }

const unknown: Verified = { outcome: 'unknown' }
const expired: Verified = { outcome: 'expired' }

/**
 * Access tokens as signed JWTs (RFC 9068). A signature is verified once for each token and process; when it expires is
 * looked at every time. `clock` gives milliseconds since 1970.
 */
export const makeTokens = (
  { tokens: keys }: Pick<Keys, 'tokens'>,
  issuer: string,
  clock: () => number = realNow,
): Tokens => {
  const genuine = new LRUCache<string, Genuine>({ max: 10_000 })

  const issue = async ({ organisation_id, api_application_id, epoch, scopes, resource }: Grant): Promise<Issued> => {
    const created_at = Math.floor(clock() / 1000)
    const scope = [...scopes].join(' ')
    const access_token = await new SignJWT({ client_id: api_application_id, scope, organisation_id, epoch })
      .setProtectedHeader({ alg: algorithm, typ: type, kid: keys.id })
      .setIssuer(issuer)
      .setSubject(api_application_id)
      .setAudience(resource)
      .setIssuedAt(created_at)
      .setExpirationTime(created_at + tokenLifetimeSeconds)
      .setJti(uuidv7())
      .sign(keys.private)
    return { access_token, created_at, expires_in: tokenLifetimeSeconds }
  }

  const publicKey = ({ kid }: JWTHeaderParameters): KeyObject => {
    const key = keys.public.get(kid ?? '')
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key
  }

  const verifySignature = async (token: string): Promise<Genuine> => {
    // The last character of a signature has bits to spare: a token that differs only in those is another token.
    const signature = token.slice(token.lastIndexOf('.') + 1)
    if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) throw new errors.JWSInvalid()
    const options = { algorithms: [algorithm], typ: type, issuer, currentDate: new Date(clock()) }
    const { payload } = await jwtVerify(token, publicKey, options)
    const { sub, aud, scope, exp, organisation_id, epoch } = Claims.parse(payload)
    const grant = { organisation_id, api_application_id: sub, epoch, scopes: new Set(scope), resource: aud }
    return { grant, expiresAt: exp * 1000 }
  }

  const verify = async (token: string): Promise<Verified> => {
    let found = genuine.get(token)
    if (!found) {
      try {
        found = await verifySignature(token)
      } catch (error) {
        if (error instanceof errors.JWTExpired) return expired
        if (error instanceof errors.JOSEError || error instanceof z.ZodError) return unknown
        throw error
      }
      genuine.set(token, found)
    }
    return found.expiresAt <= clock() ? expired : { outcome: 'genuine', grant: found.grant }
  }

  return { issue, verify }
}
