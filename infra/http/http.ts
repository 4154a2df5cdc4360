import type { OutgoingHttpHeaders } from 'node:http'
import express, { type Express, type Request, type Response, type Router } from 'express'
import { ZodObject, type ZodType } from 'zod'
import { unknownKey } from '#domain/reasons.ts'
import type { ApplicationId } from '#domain/values.ts'
import { newId } from '../ids.ts'
import { accessOf, isRecorded, type RecordAccess } from '../access-records/access.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { bodyReader } from './body.ts'
import { routeFinder } from './find-route.ts'
import { inputPath, parseRequest, Problem, problems } from './problem.ts'
import type { Traffic } from '../request-load.ts'
import {
  EndedOtherwise,
  type Access,
  type Admitted,
  type Answer,
  type AnswerHeaders,
  type Caller,
  type CheckedRequest,
  type Route,
  type RouteSpec,
} from './route.ts'
import type { Streams } from './streams.ts'
import type { SubjectCheck } from './subject.ts'
import type { TeamUser } from './team.ts'
import { countedUnknownKeys, headerOf, nameOf, type UnknownKey } from './unknown-keys.ts'
import { unusableParameters, unusableTexts, unusableTextsOf } from './unusable-texts.ts'

/** The checks that every request passes before a route sees it. Each throws a Problem to refuse it. */
export type Admission = {
  /** Sets the CORS headers; true when that was all the request asked for (a preflight). */
  readonly cors: (request: Request, response: Response) => boolean
  /** Sets the headers about the limit. */
  readonly limitRate: (request: Request, response: Response) => Promise<void>
  /** The sender of a request to a route with this access, which takes a file of this type, if any. */
  readonly admit: (request: Request, access: Access, fileType?: string) => Promise<Admitted>
}

export type HttpOptions = {
  readonly log: Log
  readonly metrics: Metrics
  readonly admission: Admission
  readonly subjectCheck: SubjectCheck
  /** Records that somebody of a team is shown personal values, before they are. */
  readonly recordAccess: RecordAccess
  /** Business time, as of which requests are answered. */
  readonly clock: Clock
  readonly trustedProxies: number
  /** Serves answers that go on. */
  readonly streams?: Pick<Streams, 'serve'>
  /** Counts the requests of the process. */
  readonly traffic?: Pick<Traffic, 'count'>
  /**
   * Routers that answer in a form of their own (the token endpoint, health): they see a request before CORS and the rate
   * limit.
   */
  readonly before?: readonly Router[]
  /** Routers that are no routes and still count as requests: documents, pages. */
  readonly pages?: readonly Router[]
  /** Also check what is answered against the schemas: for tests, since it doubles the work. */
  readonly checkAnswers: boolean
}

const generatedId = /^([\da-f]{32}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i

/** The id of a request is stored with its events: one that may identify a person is answered but not stored. */
const requestIdOf = (request: Request): { readonly request_id: string; readonly answered: string } => {
  const given = request.get('x-request-id') ?? ''
  const request_id = generatedId.test(given) ? given : newId()
  return { request_id, answered: /^[\w.:-]{1,128}$/.test(given) ? given : request_id }
}

const hasBody = (request: Request): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0

const objectOf = (body: unknown): object => {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new Problem('validation_failed', 'The body must be one JSON object, sent as application/json.')
}

/** PostgreSQL knows no U+0000 in a text: an address that holds one names nothing that is stored. */
const parsedPath = (schema: ZodType | undefined, sent: Request['params']): unknown => {
  if (!schema) return undefined
  if (Object.values(sent).some((value) => String(value).includes('\0')))
    throw new Problem('not_found', 'There is nothing at this address. Check its encoding.')
  return parseRequest(schema, sent, 'not_found')
}

const parsedQuery = (schema: ZodType | undefined, sent: Request['query']): unknown => {
  if (!schema) return undefined
  const unusable = unusableParameters(schema, sent)
  if (unusable.length === 0) return parseRequest(schema, sent, 'invalid_parameter')
  const fields = Object.fromEntries(unusable.map((name) => [name, 'must not contain the character U+0000']))
  throw new Problem('invalid_parameter', `Correct ${unusable.join(', ')} and send the request again.`, { fields })
}

/** A person of an organisation need not name it in a list: it is the only one that there is to them. */
const ofOwnOrganisation = (
  schema: ZodType | undefined,
  sent: Request['query'],
  user: TeamUser | undefined,
): Request['query'] => {
  const own = user?.organisation_id ?? null
  if (own === null || !(schema instanceof ZodObject) || !('organisation_id' in schema.shape)) return sent
  return { organisation_id: own, ...sent }
}

/** Nobody can say which of several is meant. */
const refuseRepeated = (schema: ZodType | undefined, sent: Request['query']): void => {
  const known = schema instanceof ZodObject ? Object.keys(schema.shape) : []
  const repeated = known.filter((name) => Array.isArray(sent[name]))
  if (repeated.length === 0) return
  const message = `Send ${repeated.join(', ')} once. Several values of one are separated by commas, where it takes them.`
  const fields = Object.fromEntries(repeated.map((name) => [name, 'must not be sent more than once']))
  throw new Problem('invalid_parameter', message, { fields })
}

/** Refuses texts that cannot be stored as sent: in the team's bodies, which are shown to others, wherever they stand. */
const refuseUnusableTexts = ({ access }: RouteSpec, schema: ZodType, body: unknown): void => {
  const unusable = access.kind === 'team' ? unusableTexts(body) : unusableTextsOf(schema, body)
  if (unusable.length === 0) return
  const fields = Object.fromEntries(unusable.map(([path, reason]) => [inputPath(path) || 'body', reason]))
  const message = `Correct ${Object.keys(fields).join(', ')} and send the request again.`
  throw new Problem('validation_failed', message, { fields })
}

const unknownKeysRefused = (
  unknown: readonly UnknownKey[],
  code: 'invalid_parameter' | 'validation_failed',
): Problem => {
  return new Problem(code, `Correct ${unknown.map(nameOf).join(', ')} and send the request again.`, {
    fields: Object.fromEntries(unknown.map((key) => [nameOf(key), unknownKey(key.known)])),
  })
}

const checkAnswer = ({ answers, method, address, alsoAs }: RouteSpec, { status, body }: Answer): void => {
  if (alsoAs !== undefined && body instanceof Uint8Array) return
  const schema = answers[status]
  if (!schema) throw new Error(`${method} ${address} answers ${status}, which it does not document.`)
  const { success, error } = schema.safeParse(body)
  if (!success) throw new Error(`${method} ${address} answers a body that its schema does not allow: ${error.message}`)
}

const answerIn = (error: unknown): Answer => {
  if (error instanceof EndedOtherwise) return error.answer
  throw error
}

const serve = (
  served: Route,
  {
    checkAnswers,
    subjectCheck,
    clock,
    recordAccess,
    streams,
  }: Pick<HttpOptions, 'checkAnswers' | 'subjectCheck' | 'clock' | 'recordAccess' | 'streams'>,
) => {
  const { spec, handle, onUnfitBody } = served
  const read = bodyReader(spec)

  /**
   * A misspelt key of the team's would let the act do its worst, such as a rotation without its overlap, a key without its
   * end, a list of everything: it is refused. Of others it is named, and ignored.
   */
  const tellUnknown = (
    unknown: ReturnType<typeof countedUnknownKeys>,
    response: Response,
    code: 'invalid_parameter' | 'validation_failed',
  ) => {
    if (unknown.count === 0) return
    // What a provider adds to the address of an answer is its own affair.
    const isAct = spec.access.kind === 'session' && code === 'validation_failed'
    if (spec.access.kind === 'team' || isAct) throw unknownKeysRefused(unknown.named, code)
    response.appendHeader('X-Ignored-Fields', headerOf(unknown))
  }

  const checkedQuery = (given: Request['query'], response: Response, user: TeamUser | undefined): unknown => {
    const sent = ofOwnOrganisation(spec.query, given, user)
    refuseRepeated(spec.query, sent)
    if (spec.query) tellUnknown(countedUnknownKeys(spec.query, sent), response, 'invalid_parameter')
    return parsedQuery(spec.query, sent)
  }

  const checkedBody = (sent: unknown, response: Response): unknown => {
    if (!spec.body) return undefined
    tellUnknown(countedUnknownKeys(spec.body, sent), response, 'validation_failed')
    refuseUnusableTexts(spec, spec.body, sent)
    return parseRequest(spec.body, objectOf(sent), 'validation_failed')
  }

  return async (request: Request, response: Response): Promise<void> => {
    const locals = response.locals as Locals // set below, for every request
    const path = parsedPath(spec.path, request.params)
    const shareToken = request.get('x-share-token')
    const asked = { caller: locals.caller, shareToken, path: request.params }
    await subjectCheck.refuseHidden(spec.access, asked)
    await subjectCheck.refuseUnknownOrganisation(spec.access, path, locals.user)
    const facts = {
      path,
      ...locals,
      now: clock.now().toISOString(),
      header: (name: string) => request.get(name),
      isProven: (application_id: ApplicationId) => subjectCheck.isProven(application_id, shareToken),
    }
    let sent: unknown = {}
    const inputs = async (): Promise<CheckedRequest> => {
      const isServer = locals.caller?.kind === 'server'
      const numbers = await read(request, response, spec.access.kind === 'team' || isServer)
      if (hasBody(request)) sent = request.body
      const query = checkedQuery(request.query, response, locals.user)
      await subjectCheck.refuseUnknownOrganisation(spec.access, query, locals.user)
      const text = typeof request.body === 'string' ? request.body : undefined
      const body = checkedBody(sent, response)
      await subjectCheck.refuseUnknownOrganisation(spec.access, body, locals.user)
      return { ...facts, query, body, text, numbers }
    }
    const checked = await inputs().catch(async (unfit: unknown) => {
      // What was sent does not matter where there is nothing at the address.
      await subjectCheck.refuseMissing(spec.access, asked)
      await onUnfitBody?.({ ...facts, query: undefined, body: sent, text: undefined, numbers: [] })
      throw unfit
    })
    const isSearch = spec.access.kind === 'team' && spec.access.changesNothing === true
    const isAct = spec.method !== 'get' && !isSearch
    // An act is not undone where it cannot be recorded who is shown its answer, so that comes before it.
    if (isAct && isRecorded(spec)) await recordAccess(accessOf({ ...checked, spec, body: undefined }))
    const answer = await handle(checked).catch(answerIn)
    if (answer.stream && spec.access.kind === 'team' && request.method === 'GET') {
      response.locals['answered_at'] = performance.now()
      return streams?.serve({ request, response, access: spec.access, admitted: locals }, answer.stream)
    }
    if (checkAnswers) checkAnswer(spec, answer)
    if (!isAct && isRecorded(spec)) {
      const body = answer.shows ?? answer.body
      await recordAccess(accessOf({ ...checked, spec, body, ...(isSearch && { sought: checked.body }) }))
    }
    for (const path of answer.ignored ?? []) response.appendHeader('X-Ignored-Fields', path)
    send(response, answer)
  }
}

/** Node writes a list as one header for each, which its types ask to be changeable. */
const written = (headers: AnswerHeaders = {}): OutgoingHttpHeaders => headers as OutgoingHttpHeaders

/** Express would look settings up, look for an ETag and copy the text: half as long again as making it. */
const send = (response: Response, { status, headers, body }: Answer): void => {
  if (body instanceof Uint8Array) {
    response.writeHead(status, { ...written(headers), 'Content-Length': body.byteLength })
    response.end(body)
    return
  }
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...written(headers),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

/** Admits a request and serves it. */
const answering = (each: Route, options: HttpOptions) => {
  const { address, access, textBody } = each.spec
  const serveOne = serve(each, options)
  return async (request: Request, response: Response): Promise<void> => {
    response.locals['address'] = address
    Object.assign(response.locals, await options.admission.admit(request, access, textBody))
    await serveOne(request, response)
  }
}

type Locals = Admitted & { readonly request_id: string; readonly caller: Caller | undefined }

/** The sender of a request, and why it was refused, as far as that is known. */
const senderOf = ({ locals }: Response): Readonly<Record<string, string>> => {
  const { caller, operator, user, error_code } = locals as Partial<Locals> & { readonly error_code?: string }
  return {
    ...(caller && { organisation_id: caller.organisation_id, api_application_id: caller.api_application_id }),
    ...(operator !== undefined && { operator }),
    ...(user && { user: user.id, ...(user.organisation_id !== null && { organisation_id: user.organisation_id }) }),
    ...(error_code !== undefined && { error_code }),
  }
}

/** The status of a request whose caller did not wait for the answer, in the log and the metrics, as proxies write it. */
const callerGone = 499

/** An API: its routes behind one admission, and one way to refuse. */
export const httpApp = (routes: readonly Route[], options: HttpOptions): Express => {
  const { log, metrics, admission, trustedProxies, traffic, before = [], pages = [] } = options
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', trustedProxies)

  /** The start of every answer, and the notes of it when it has ended. */
  const begin = (request: Request, response: Response): void => {
    const startedAt = performance.now()
    traffic?.count()
    const { request_id, answered } = requestIdOf(request)
    response.locals['request_id'] = request_id
    response.setHeader('X-Request-Id', answered)
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.once('close', () => {
      const { answered_at } = response.locals as { readonly answered_at?: number }
      // An answer that goes on took as long as until it began.
      const seconds = ((answered_at ?? performance.now()) - startedAt) / 1000
      const address = String(response.locals['address'] ?? 'unknown')
      const status = response.headersSent ? response.statusCode : callerGone
      metrics.requests.observe({ method: request.method, address, status }, seconds)
      const line = { request_id, method: request.method, address, status, ms: Math.round(seconds * 1e5) / 100 }
      log.info(
        { ...line, ...senderOf(response) },
        status === callerGone ? 'caller gone before the answer' : 'request answered',
      )
    })
  }
  const passes = async (request: Request, response: Response): Promise<boolean> => {
    if (admission.cors(request, response)) return false
    await admission.limitRate(request, response)
    return true
  }
  const handlers = routes.map((each) => ({ ...each.spec, answer: answering(each, options) }))
  const find = routeFinder(handlers)
  app.use(async (request, response, next) => {
    begin(request, response)
    const found = find(request.method, request.path)
    if (!found) return next()
    if (!(await passes(request, response))) return
    request.params = found.params()
    await found.route.answer(request, response)
  })

  for (const router of before) app.use(router)
  app.use(async (request, response, next) => {
    if (await passes(request, response)) next()
  })
  for (const router of pages) app.use(router)
  app.use(() => {
    throw new Problem('not_found', 'There is nothing at this address. Check the path and the method.')
  })
  return app.use(problems(log))
}
