import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import express, { Router, type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import { formerInForce, type ApiApplication, type Directory } from '#domain/access/record.ts'
import type { Scope } from '#domain/access/events.ts'
import { ApiApplicationId, type OrganisationId } from '#domain/values.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { parseInRoom } from '#infra/http/body.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Log } from '#infra/log.ts'
import { addressOf, rateLimitHeaders, tooManyMessage, type RateLimit } from '#infra/http/rate-limit.ts'
import { makeHashOfNobody, TooManyChecks, type SecretCheck } from '#infra/crypto/secret-hash.ts'
import type { Tokens } from '#infra/crypto/tokens.ts'
import { clientCredentialsOf, type ClientCredentials } from './client-credentials.ts'
import { TokenError } from './token-error.ts'
import { grantedScopes } from './token-request.ts'
import { realNow } from '#infra/clock.ts'

type TokenDeps = {
  readonly directory: Directory
  /** The application as it is in the log now, also where this process has not followed it so far. */
  readonly load: (id: ApiApplicationId) => Promise<ApiApplication | undefined>
  readonly tokens: Tokens
  readonly checkSecret: SecretCheck
  readonly rateLimit: RateLimit
  readonly baseUrl: string
  readonly log: Log
  /** Throws LogUnavailable when the directory may lack what was revoked meanwhile, of all organisations or of this one. */
  readonly requireCurrent?: (organisation_id?: OrganisationId) => void
}

const address = '/oauth/token'
const mostBytes = 16_384
const formType = 'application/x-www-form-urlencoded'

/**
 * The token endpoint: OAuth 2.0 client credentials. Its answers have their own format, so it comes before the admission
 * of the API and counts its requests itself.
 */
export const tokenRoutes = (deps: TokenDeps): Router => {
  const router = Router({ caseSensitive: true, strict: true })
  router.route(address).all(onlyPost).post(limitRate(deps), readForm, issueToken(deps))
  return router.use(refusals(deps))
}

/** Passes every other method on to the handler of unknown routes. Without it Express would answer OPTIONS itself. */
const onlyPost: RequestHandler = (request, _response, next) => {
  if (request.method === 'POST') next()
  else next('router')
}

const parseForm = express.text({ type: formType, limit: mostBytes })

const readForm: RequestHandler = async (request, response, next) => {
  await parseInRoom(parseForm, request, response, mostBytes)
  next()
}

const limitRate =
  ({ rateLimit }: TokenDeps): RequestHandler =>
  async (request, response, next) => {
    response.locals['address'] = address
    response.set('Cache-Control', 'no-store').set('Pragma', 'no-cache')
    const decision = await rateLimit(addressOf(request))
    response.set(rateLimitHeaders(decision))
    if (decision.served) {
      next()
      return
    }
    const error_description = tooManyMessage(decision.resumesAt)
    response.status(429).json({ error: 'rate_limited', error_description })
  }

const issueToken = (deps: TokenDeps): RequestHandler => {
  const { tokens, baseUrl, log, requireCurrent } = deps
  const resource = `${baseUrl}/api/v1`

  return async (request, response) => {
    requireCurrent?.()
    const form = formOf(request)
    const credentials = clientCredentialsOf(request.get('authorization'), form)
    const grantBy = async (found: ApiApplication | undefined): Promise<Granted> => {
      const proven = await provenClient(deps, credentials, found)
      requireForm(request)
      return { ...proven, scopes: grantedScopes(form, proven.application, resource) }
    }
    const { application, epoch, scopes } = await grantAsStored(deps, credentials.client_id, grantBy)

    const { id, organisation_id } = application
    requireCurrent?.(organisation_id)
    const grant = { organisation_id, api_application_id: id, epoch, scopes, resource }
    const { access_token, created_at, expires_in } = await tokens.issue(grant)
    const scope = [...scopes].join(' ')
    log.info({ request_id: response.locals['request_id'], client_id: id, scope }, 'token issued')
    response.json({ access_token, token_type: 'Bearer', expires_in, scope, created_at })
  }
}

type Proven = { readonly application: ApiApplication; readonly epoch: number }
type Granted = Proven & { readonly scopes: ReadonlySet<Scope> }

/**
 * Grants by what this process has of an application. It refuses nobody by that: another process may have answered a moment ago
 * that the application was made, or changed.
 */
const grantAsStored = async (
  { directory, load }: TokenDeps,
  client_id: string,
  grantBy: (found: ApiApplication | undefined) => Promise<Granted>,
): Promise<Granted> => {
  const found = directory.applications.get(client_id)
  try {
    return await grantBy(found)
  } catch (error) {
    const { data: id } = ApiApplicationId.safeParse(client_id)
    if (!(error instanceof TokenError) || id === undefined) throw error
    const stored = await load(id)
    if (isDeepStrictEqual(stored, found)) throw error
    return grantBy(stored)
  }
}

/** A body that is not a form counts as not sent. */
const formOf = (request: Request): URLSearchParams => {
  const body: unknown = request.body
  return new URLSearchParams(typeof body === 'string' ? body : '')
}

const requireForm = (request: Request): void => {
  if (request.get('content-type') !== undefined && !request.is(formType))
    throw new TokenError('invalid_request', `Send the parameters as a form: Content-Type ${formType}.`)
}

/** As long as a check takes where nobody else waits. */
const usualCheckMs = 60

const hashOfNobody = makeHashOfNobody()
/** The queue of checks against nobody's hashes, so that they keep nobody else waiting. */
const nobody = 'nobody'

/**
 * Proves a client. What is wrong takes two checks whoever it is said of: nobody learns from the time that there is such a
 * client, or that its secret was rotated.
 */
const provenClient = async (
  { checkSecret }: TokenDeps,
  { client_id, client_secret }: ClientCredentials,
  found: ApiApplication | undefined,
): Promise<Proven> => {
  // What was found once decides all that follows: if the secret is rotated meanwhile, the token belongs to the
  // former credentials and is revoked already.
  const application = found?.deleted === false ? found : undefined
  const former = application && formerInForce(application, realNow())
  for (const [index, credentials] of [application, former].entries()) {
    const isRight = credentials
      ? await checkSecret(client_secret, credentials.secret_hash)
      : await checkAgainstNobody(checkSecret, client_secret, hashOfNobody(`${index} ${client_id}`))
    if (isRight && application && credentials) return { application, epoch: credentials.epoch }
  }
  throw new TokenError(
    'invalid_client',
    'The client is unknown or was deleted, or its secret is wrong or was rotated. Check client_id and client_secret.',
  )
}

/**
 * The line of those whom nobody knows may be full, which must not tell them from others: they are refused all the same, only
 * without the work.
 */
const checkAgainstNobody = async (checkSecret: SecretCheck, secret: string, hash: string): Promise<boolean> => {
  try {
    return await checkSecret(secret, hash, nobody)
  } catch (error) {
    if (!(error instanceof TooManyChecks)) throw error
    await pause(usualCheckMs)
    return false
  }
}

/** The error of express.text() for a body that is too large, incomplete, or of an unknown encoding. */
const isUnreadableBody = (error: unknown): boolean =>
  error instanceof Error && 'expose' in error && error.expose === true

const toTokenError = (error: unknown): TokenError | undefined => {
  if (error instanceof TokenError) return error
  if (!isUnreadableBody(error)) return undefined
  return new TokenError('invalid_request', `The form could not be read. Send at most ${mostBytes / 1024}kb, in UTF-8.`)
}

const refusals =
  ({ log }: TokenDeps): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const isForNow = error instanceof Problem && error.code === 'unavailable'
    if (!request.complete) response.set('Connection', 'close')
    if (isForNow || error instanceof LogUnavailable || error instanceof TooManyChecks) {
      const error_description = 'Tokens cannot be issued at the moment. Send the request again.'
      response.status(503).set('Retry-After', '5').json({ error: 'temporarily_unavailable', error_description })
      return
    }
    const refused = toTokenError(error)
    if (!refused) {
      log.error({ error, request_id: response.locals['request_id'] }, 'token request failed')
      response.status(500).json({ error: 'server_error', error_description: 'Something went wrong on our side.' })
      return
    }
    const isClient = refused.code === 'invalid_client'
    if (isClient) response.set('WWW-Authenticate', 'Basic realm="Coverstream token endpoint", charset="UTF-8"')
    response.status(isClient ? 401 : 400).json({ error: refused.code, error_description: refused.message })
  }
