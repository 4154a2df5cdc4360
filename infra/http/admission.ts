import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import { originOf } from '#domain/origin.ts'
import type { OrganisationId } from '#domain/values.ts'
import { bearerOf, makeAuthenticate, type Authenticated, type Directory } from './authenticate.ts'
import type { Admission } from './http.ts'
import { Problem } from './problem.ts'
import { addressOf, rateLimitHeaders, tooManyMessage, type RateLimit } from './rate-limit.ts'
import type { Access, Caller, Scope, ScopeRule } from './route.ts'
import type { Tokens } from '../crypto/tokens.ts'
import { realNow } from '../clock.ts'

type AdmissionOptions = {
  readonly directory: Directory
  readonly tokens: Tokens
  readonly baseUrl: string
  readonly rateLimit: RateLimit
  /** The operator's first key. Without it the operator's routes are as if they were not there. */
  readonly operatorKey: string | undefined
  /** The operator's keys with names, by the SHA-256 of each. */
  readonly operatorKeys?: ReadonlyMap<string, NamedKey>
  /** Throws when the directory may lack what was revoked meanwhile, of all organisations or of this one. */
  readonly requireCurrent?: (organisation_id?: OrganisationId) => void
  /** Throws when the operator's keys with names may lack one that has ended meanwhile. */
  readonly requireCurrentKeys?: () => void
  /** True where pages of this very address, such as the explorer, may use the tokens of servers. */
  readonly allowsOwnPages?: boolean
}

/**
 * The checks that every request passes on its way in, in this order: CORS, request limit, token, application and origin,
 * scope.
 */
export const makeAdmission = ({
  directory,
  tokens,
  baseUrl,
  rateLimit,
  operatorKey,
  operatorKeys = new Map(),
  requireCurrent,
  requireCurrentKeys,
  allowsOwnPages = false,
}: AdmissionOptions): Admission => {
  const resource = `${baseUrl}/api/v1`
  const authenticate = makeAuthenticate(directory, tokens, `${baseUrl}/oauth/token`)
  const operatorOf = makeOperatorCheck(operatorKey, operatorKeys)

  return {
    cors: (request, response) => answerCors(directory, request, response),

    limitRate: async (request, response) => {
      // The operator sets up and watches; only those who try to be the operator are counted.
      if (/^\/(admin|audit)\//.test(request.path) && operatorOf(request)) return
      const decision = await rateLimit(addressOf(request))
      response.set(rateLimitHeaders(decision))
      if (!decision.served) throw new Problem('rate_limited', tooManyMessage(decision.resumesAt))
    },

    admit: async (request, access) => {
      if (access.kind === 'public') return {}
      if (access.kind === 'application') {
        requireCurrent?.()
        const authenticated = await authenticate(request.get('authorization'))
        requireCurrent?.(authenticated.application.organisation_id)
        const sender = { origin: request.get('origin'), isTrusted: allowsOwnPages && isOwnPage(request) }
        return { caller: admitApplication(directory, resource, authenticated, sender, access) }
      }
      if (operatorKey === undefined)
        throw new Problem('not_found', 'The operator’s routes are switched off: no OPERATOR_KEY is configured.')
      const operator = operatorOf(request)
      if (!operator)
        throw new Problem('invalid_token', noOperatorKey, {
          headers: { 'WWW-Authenticate': 'Bearer realm="Coverstream operator"' },
        })
      if (operator.name !== firstKey) requireCurrentKeys?.()
      if (operator.scope === 'read_only' && !access.changesNothing && !isReading(request))
        throw forbidden(`The operator key ${operator.name} may only read. Use one whose scope is all.`)
      return { operator: operator.name }
    },
  }
}

type NamedKey = {
  readonly name: string
  readonly scope: 'all' | 'read_only'
  readonly ends_at: string | null
  readonly ended_at: string | null
}

/** The name of the environment's key. No other has capitals. */
const firstKey = 'OPERATOR_KEY'

const noOperatorKey =
  'The request has no operator key, or an operator key that is wrong or has ended. Send one as Authorization: Bearer.'

const isReading = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** The operator key that a request carries. Digests are compared, so that the time it takes says nothing of a key. */
const makeOperatorCheck = (operatorKey: string | undefined, operatorKeys: ReadonlyMap<string, NamedKey>) => {
  const digest = (key: string) => createHash('sha256').update(key).digest()
  const expected = operatorKey === undefined ? undefined : digest(operatorKey)
  return (request: Request): Pick<NamedKey, 'name' | 'scope'> | undefined => {
    const sent = bearerOf(request.get('authorization'))
    if (expected === undefined || sent === undefined) return undefined
    const given = digest(sent)
    if (timingSafeEqual(given, expected)) return { name: firstKey, scope: 'all' }
    const named = operatorKeys.get(given.toString('hex'))
    if (named?.ended_at !== null) return undefined
    const isOver = named.ends_at !== null && Date.parse(named.ends_at) <= realNow()
    return isOver ? undefined : named
  }
}

/** True where a page of this very address sent the request, such as the explorer. */
const isOwnPage = (request: Request): boolean => {
  const origin = request.get('origin')
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.get('host')
}

/** The page that sent a request, if one did. */
type Sender = { readonly origin: string | undefined; readonly isTrusted: boolean }

const forbidden = (message: string) => new Problem('forbidden', message)

const admitApplication = (
  directory: Directory,
  resource: string,
  { application, grant }: Authenticated,
  sender: Sender,
  { scopes, serverOnly }: Extract<Access, { kind: 'application' }>,
): Caller => {
  const { id, kind, organisation_id } = application
  if (grant.resource !== resource)
    throw forbidden(`The access token is not valid for this resource. Ask for one with resource=${resource}.`)
  if (!directory.organisations.get(organisation_id)?.active)
    throw forbidden('The organisation’s account is not active. Ask the operator of the service to activate it.')
  checkOrigin(application, sender)
  if (serverOnly && kind === 'browser')
    throw forbidden('This endpoint is for server-only applications. Call it from your server, with one of those.')
  checkScopes(grant.scopes, scopes)
  return { organisation_id, api_application_id: id, kind, scopes: grant.scopes }
}

const checkOrigin = ({ kind, allowed_origins }: Authenticated['application'], { origin, isTrusted }: Sender): void => {
  if (kind === 'server') {
    if (origin !== undefined && !isTrusted)
      throw forbidden(
        'A server-only application’s token cannot be used from a browser. Use a browser application, with this page’s origin allowed.',
      )
    return
  }
  if (origin === undefined)
    throw forbidden(
      'A browser application’s token can be used only from web pages: the request has no Origin header. Use a server-only application.',
    )
  if (!allowed_origins.includes(originOf(origin) ?? ''))
    throw forbidden(
      'The origin of this page is not among the allowed origins of the application. Scheme, host (with www. or without) and port must match.',
    )
}

/** Refuses a token that lacks scopes, naming the alternatives that it comes closest to. */
const checkScopes = (held: ReadonlySet<Scope>, rule: ScopeRule): void => {
  const lacking = rule.map((alternative) => alternative.filter((scope) => !held.has(scope)))
  const fewest = Math.min(...lacking.map(({ length }) => length))
  if (fewest === 0) return

  const nearest = lacking.filter(({ length }) => length === fewest).map((scopes) => scopes.join(' and '))
  const missing = [...new Set(nearest)].join(', or ')
  const needed = rule.find((_alternative, index) => lacking[index]?.length === fewest) ?? []
  throw new Problem(
    'forbidden',
    `The access token lacks the scope ${missing}. Ask for it in scope with the token; the application must hold it.`,
    {
      headers: {
        'WWW-Authenticate': `Bearer realm="Coverstream API", error="insufficient_scope", scope="${needed.join(' ')}"`,
      },
    },
  )
}

const cors = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, PUT, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Share-Token, X-Request-Id',
  'Access-Control-Max-Age': '7200',
}
const exposed =
  'X-RateLimit-Reset, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replay, Location, X-Ignored-Fields, X-Request-Id'

/**
 * Lets the pages of browser applications read what the API answers, errors too, and answers their preflights: those
 * carry no token, so any origin that some browser application allows may ask.
 */
const answerCors = ({ origins }: Directory, request: Request, response: Response): boolean => {
  if (!/^\/api\/v1(\/|$)/.test(request.path)) return false
  response.setHeader('Vary', 'Origin')
  const sent = request.get('origin')
  if (sent === undefined || !origins.has(originOf(sent) ?? '')) return false

  response.set('Access-Control-Allow-Origin', sent).set('Access-Control-Expose-Headers', exposed)
  const isPreflight = request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined
  if (isPreflight) response.status(204).set(cors).end()
  return isPreflight
}
