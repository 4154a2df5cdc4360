import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'

/** The request for an access token (OAuth 2.0 client credentials, RFC 6749 section 4.4). */
export type TokenRequest = {
  readonly connection_id: string
  readonly token_url: string
  readonly client_id: string
  readonly client_secret: string
  readonly scope: string | null
  readonly client_authentication: 'basic' | 'form'
}

type Kept =
  { readonly token: string; readonly usableUntil: number } | { readonly failure: string; readonly usableUntil: number }

const Answer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,8000}$/),
  token_type: z.string().optional(),
  expires_in: z.coerce.number().positive().optional(),
})
const Refusal = z.object({ error: z.string().regex(/^[a-z_]{1,50}$/) })

const timeoutMs = 5_000
const usualLifeSeconds = 300
const marginSeconds = 30
/** Deliveries that wait for a token server that is away do not ask it one after the other. */
const failureKeptMs = 2_000
const tokensKept = 10_000

/**
 * The access tokens of connections. A token is used until shortly before it expires; while one is asked for, all who want it
 * wait for the same answer.
 */
export const makeTokens = (http: Pick<GuardedHttp, 'request'>, now: () => number = Date.now) => {
  const kept = new LRUCache<string, Kept>({ max: tokensKept })
  const underway = new Map<string, Promise<Kept>>()

  const ask = async (request: TokenRequest): Promise<Kept> => {
    const asked = await askOnce(http, request)
    return 'failure' in asked
      ? { failure: asked.failure, usableUntil: now() + failureKeptMs }
      : { token: asked.token, usableUntil: now() + asked.lifeSeconds * 1_000 }
  }

  const find = async (request: TokenRequest): Promise<Kept> => {
    const key = keyOf(request)
    const known = kept.get(key)
    if (known && known.usableUntil > now()) return known
    const waiting =
      underway.get(key) ??
      ask(request)
        .then((found) => {
          kept.set(key, found)
          return found
        })
        .finally(() => underway.delete(key))
    underway.set(key, waiting)
    return waiting
  }

  return {
    /** Throws when there is none to be had. */
    tokenFor: async (request: TokenRequest): Promise<string> => {
      const found = await find(request)
      if ('token' in found) return found.token
      throw new OwnError(`no access token: ${found.failure}`)
    },
    /** The token was refused: another one is asked for next time. */
    forget: (request: TokenRequest, token: string): void => {
      const known = kept.get(keyOf(request))
      if (known && 'token' in known && known.token === token) kept.delete(keyOf(request))
    },
  }
}
export type Tokens = ReturnType<typeof makeTokens>

/** A different request is for another token. */
const keyOf = (request: TokenRequest): string => {
  const { connection_id, token_url, client_id, client_secret, scope, client_authentication } = request
  const parts = [connection_id, token_url, client_id, client_secret, scope, client_authentication]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

const askOnce = async (
  http: Pick<GuardedHttp, 'request'>,
  { token_url, client_id, client_secret, scope, client_authentication }: TokenRequest,
): Promise<{ readonly token: string; readonly lifeSeconds: number } | { readonly failure: string }> => {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== null && { scope }),
    ...(client_authentication === 'form' && { client_id, client_secret }),
  })
  // In the header both are encoded as in a form (RFC 6749 section 2.3.1).
  const encoded = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length)
  const basic = Buffer.from(`${encoded(client_id)}:${encoded(client_secret)}`).toString('base64')
  const exchange = await http.request({
    method: 'POST',
    url: token_url,
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      ...(client_authentication === 'basic' && { Authorization: `Basic ${basic}` }),
    },
    body: form.toString(),
    timeoutMs,
  })
  if (exchange.outcome !== 'answered') return { failure: exchange.reason }
  const body = parsed(exchange.body)
  const { data: answer } = Answer.safeParse(body)
  if (exchange.status < 200 || exchange.status > 299) {
    const { data: refusal } = Refusal.safeParse(body)
    return { failure: `the token server answered ${exchange.status}${refusal ? ` ${refusal.error}` : ''}` }
  }
  if (!answer || (answer.token_type ?? 'bearer').toLowerCase() !== 'bearer')
    return { failure: 'the token server answered without a bearer token' }
  const life = answer.expires_in ?? usualLifeSeconds
  return { token: answer.access_token, lifeSeconds: Math.max(life / 2, life - marginSeconds) }
}

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
