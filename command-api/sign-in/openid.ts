import { LRUCache } from 'lru-cache'
import * as openid from 'openid-client'
import { z } from 'zod'
import type { SignInProviderId } from '#domain/sign-in/events.ts'
import type { SignInProvider } from '#domain/sign-in/record.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import { Problem } from '#infra/http/problem.ts'

/** Kept by a browser while its user is at the provider, so that nobody else can bring the answer. */
export type Asked = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** Somebody as a provider names them. */
export type Person = {
  readonly subject: string
  readonly email: string | undefined
  /** True where the provider has verified that the email is theirs. */
  readonly isEmailVerified: boolean
  readonly claims: Readonly<Record<string, unknown>>
}

type Options = {
  readonly http: Pick<GuardedHttp, 'request'>
  readonly allowsHttp: (address: string) => boolean
  /** The address to which a provider sends browsers back: exactly this, and no other provider's. */
  readonly redirectOf: (provider_id: SignInProviderId) => string
}

type Provider = Pick<SignInProvider, 'id' | 'issuer' | 'client_id' | 'roles_claim' | 'updated_at'>

/** A provider seldom changes what it says of itself. */
const rememberedMs = 10 * 60_000
const mostRemembered = 100
/** Of an answer of a provider: what it says of itself, its keys, and what it says of a user. */
const mostBytes = 128 * 1024
const secondsOff = 30

const Claims = z
  .object({
    sub: z.string().min(1).max(255),
    email: z.string().max(320).nullish(),
    email_verified: z.unknown().optional(),
  })
  .loose()

/** OpenID Connect with the providers that teams set up: the code flow, with PKCE, state and nonce. */
export const makeOpenId = ({ http, allowsHttp, redirectOf }: Options) => {
  const known = new LRUCache<string, Promise<openid.Configuration>>({ max: mostRemembered, ttl: rememberedMs })

  /** All that the library asks goes to public addresses alone, or to those that the operator allows. */
  const guardedFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
    const sent = body === undefined || body === null ? undefined : textOf(body)
    const answer = await http.request({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(sent !== undefined && { body: sent }),
    })
    if (answer.outcome !== 'answered') throw new Error(`${new URL(url).host} did not answer: ${answer.reason}`)
    const { status } = answer
    if (answer.body.length > mostBytes) throw new Error(`${new URL(url).host} answered more than ${mostBytes} bytes`)
    return new Response(isWithoutBody(status) ? null : new Uint8Array(answer.body), {
      status,
      headers: answer.headers ?? {},
    })
  }

  const discover = async ({ issuer, client_id }: Provider, secret: string): Promise<openid.Configuration> => {
    const isPlain = issuer.startsWith('http:') && allowsHttp(issuer)
    const config = await openid.discovery(
      new URL(issuer),
      client_id,
      { client_secret: secret, [openid.clockTolerance]: secondsOff },
      clientAuthentication(secret),
      {
        [openid.customFetch]: guardedFetch,
        // oxlint-disable-next-line typescript/no-deprecated -- marked only to stand out: the operator has permitted it
        execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
      },
    )
    // With a slash at its end, an issuer is another.
    if (config.serverMetadata().issuer !== issuer) throw new Error('The issuer calls itself otherwise.')
    const { authorization_endpoint = '' } = config.serverMetadata()
    if (!authorization_endpoint.startsWith('https://') && !(isPlain && allowsHttp(authorization_endpoint)))
      throw new Error('The provider has no address to sign in at.')
    return config
  }

  const configOf = async (provider: Provider, secret: string): Promise<openid.Configuration> => {
    const name = `${provider.id} ${provider.updated_at}`
    const found = known.get(name) ?? discover(provider, secret)
    known.set(name, found)
    try {
      return await found
    } catch (cause) {
      known.delete(name)
      throw new Problem(
        'unavailable',
        'The sign-in provider does not answer as it must. Try again, or tell an owner.',
        {
          headers: { 'Retry-After': '5' },
          cause,
        },
      )
    }
  }

  return {
    /** The values that the browser keeps, and the address at the provider that it is to open. */
    begin: async (provider: Provider, secret: string): Promise<{ readonly asked: Asked; readonly url: string }> => {
      const config = await configOf(provider, secret)
      const asked = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectOf(provider.id),
        scope: 'openid email profile',
        state: asked.state,
        nonce: asked.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(asked.verifier),
        code_challenge_method: 'S256',
      })
      return { asked, url: url.href }
    },

    /** The person whom the provider names in its answer; throws where anything of the answer is not as it must be. */
    finish: async (
      provider: Provider,
      secret: string,
      { state, nonce, verifier }: Asked,
      answer: Readonly<Record<string, string>>,
    ): Promise<Person> => {
      const config = await configOf(provider, secret)
      const url = Object.assign(new URL(redirectOf(provider.id)), { search: new URLSearchParams(answer).toString() })
      const tokens = await openid.authorizationCodeGrant(config, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const own = Claims.parse(tokens.claims())
      const subject = own.sub
      const isAll = [provider.roles_claim, 'email', 'email_verified'].every((name) => Object.hasOwn(own, name))
      const { userinfo_endpoint } = config.serverMetadata()
      const told =
        isAll || userinfo_endpoint === undefined ? {} : await openid.fetchUserInfo(config, tokens.access_token, subject)
      const claims = Claims.parse({ ...told, ...own })
      return { subject, email: claims.email ?? undefined, isEmailVerified: claims.email_verified === true, claims }
    },
  }
}

/** Where a provider says nothing, it takes HTTP Basic. */
const clientAuthentication =
  (secret: string): openid.ClientAuth =>
  (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = server
    const isBasic = supported.includes('client_secret_basic')
    const authenticate = isBasic ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret)
    authenticate(server, ...rest)
  }

const isWithoutBody = (status: number): boolean => [204, 205, 304].includes(status)

/** The library sends forms. */
const textOf = (body: unknown): string => {
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString()
  throw new Error('Only texts and forms are sent.')
}
