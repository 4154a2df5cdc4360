import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { z } from 'zod'
import { apiApplication as apiApplicationDecider } from '#domain/access/api-application.ts'
import { directoryFold, emptyDirectory, type Directory } from '#domain/access/record.ts'
import { categoryOf } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import type { Batch, EventLog, Subscription } from '#infra/event-log/event-log.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { systemClock } from '#infra/clock.ts'
import { httpApp } from '#infra/http/http.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLiveFolds } from '#infra/consumers/live-folds.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { makeRateLimit, type RateLimit } from '#infra/http/rate-limit.ts'
import { readOrWrite, route, write, type Caller, type Route, type Scope } from '#infra/http/route.ts'
import { makeSecretCheck, type SecretCheck } from '#infra/crypto/secret-hash.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { accessRoutes } from '../../command-api/access/routes.ts'
import { tokenRoutes } from '../../command-api/access/token.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { serveApp } from '../serve.ts'

export const baseUrl = 'https://api.example.com'
export const resource = `${baseUrl}/api/v1`
export const operatorKey = 'the operator of these tests'
export const asOperator = { authorization: `Bearer ${operatorKey}` }

const keys = deriveKeys(randomBytes(32).toString('base64'))

const CallerSeen = z.object({
  data: z.object({
    organisation_id: z.uuid(),
    api_application_id: z.uuid(),
    kind: z.string(),
    scopes: z.array(z.string()),
  }),
})

const application = { kind: 'application', serverOnly: false } as const
const probe = { tag: 'Test', answers: { 200: CallerSeen }, summary: 'Shows who calls' } as const

const shown = async ({ caller }: { readonly caller: Caller }) => ({
  status: 200 as const,
  body: { data: { ...caller, scopes: [...caller.scopes] } },
})

/** One address for each way in which the specification restricts who may call. */
const probes: readonly Route[] = [
  route({ ...probe, method: 'get', address: '/api/v1/read', access: { ...application, scopes: readOrWrite } }, shown),
  route({ ...probe, method: 'post', address: '/api/v1/write', access: { ...application, scopes: write } }, shown),
  route(
    {
      ...probe,
      method: 'get',
      address: '/api/v1/crm',
      access: {
        kind: 'application',
        serverOnly: true,
        scopes: [
          ['read', 'crm'],
          ['write', 'crm'],
        ],
      },
    },
    shown,
  ),
  route(
    {
      ...probe,
      method: 'get',
      address: '/api/v1/outcomes',
      access: { kind: 'application', serverOnly: true, scopes: [['write', 'outcomes']] },
    },
    shown,
  ),
]

type Options = {
  /** Another process on the same log. */
  readonly beside?: { readonly database: TestDatabase }
  readonly requests?: number
  readonly windowSeconds?: number
  readonly rateLimit?: RateLimit
  readonly trustedProxies?: number
  readonly operatorKey?: string | undefined
  readonly checkSecret?: SecretCheck
  /** Since when the log is away, in place of what the log says itself. */
  readonly outage?: EventLog['outage']
  /** Nothing is followed of what happens after the start. */
  readonly isBehind?: boolean
  readonly mayLagMs?: number
}

export type Client = { readonly client_id: string; readonly client_secret: string }

const onlyThePast = async function* (batches: AsyncIterable<Batch>, { signal }: Subscription): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    yield batch
    if (batch.caughtUp && !signal.aborted) await once(signal, 'abort')
  }
}

/** A process with the whole of access, on a log of its own, and what the operator and a client do with it. */
export const accessApi = async (options: Options = {}) => {
  const database = options.beside?.database ?? (await testDatabase())
  await prepareLog(database.pool)
  const ownLog = postgresLog({ url: database.url })
  const eventLog = {
    ...ownLog,
    ...(options.outage && { outage: options.outage }),
    ...(options.isBehind && { subscribe: (wanted: Subscription) => onlyThePast(ownLog.subscribe(wanted), wanted) }),
  }
  const log = makeLog('silent', 'test')
  const stopping = new AbortController()
  const progress = makeProgress()
  const { mayLagMs = 30_000 } = options
  const folds = makeLiveFolds({ eventLog, log, signal: stopping.signal, progress, mayLagMs })
  const directory: Directory = await folds.follow(directoryFold, emptyDirectory())
  const writer = makeWriter({
    log: eventLog,
    seen: async (stream, position) => {
      await progress.wait(categoryOf(stream), position, 5000)
    },
  })

  const requireCurrent = (organisation_id?: OrganisationId) => folds.requireCurrent(directoryFold.name, organisation_id)
  let ahead = 0
  const tokens = makeTokens(keys, baseUrl, () => Date.now() + ahead * 1000)
  const { checkSecret = makeSecretCheck(), requests = 0, windowSeconds = 300, trustedProxies = 0 } = options
  const rateLimit = options.rateLimit ?? makeRateLimit({ requests, windowSeconds, log })
  const admission = makeAdmission({
    directory,
    tokens,
    baseUrl,
    rateLimit,
    operatorKey: 'operatorKey' in options ? options.operatorKey : operatorKey,
    requireCurrent,
  })
  const { load } = commandHandler(writer, apiApplicationDecider)
  const before = [tokenRoutes({ directory, load, tokens, checkSecret, rateLimit, baseUrl, log, requireCurrent })]
  const routes = [...accessRoutes({ writer, directory }), ...probes]
  const app = httpApp(routes, {
    log,
    metrics: makeMetrics(),
    admission,
    subjectCheck: makeSubjectCheck({ keys, organisations: directory.organisations }),
    recordAccess: async () => undefined,
    clock: systemClock,
    trustedProxies,
    before,
    checkAnswers: true,
  })
  const served = await serveApp(app)

  const operate = async (method: string, path: string, body?: unknown) => {
    const answer = await served.send(method, `/admin/v1${path}`, body, asOperator)
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${JSON.stringify(answer.body)}`)
    return z.object({ data: z.record(z.string(), z.unknown()) }).parse(answer.body).data
  }

  let organisations = 0
  const organisation = async (): Promise<OrganisationId> => {
    const slug = `firm-${++organisations}`
    return OrganisationId.parse((await operate('POST', '/organisations', { slug, name: 'A firm' }))['id'])
  }

  const apiApplication = async (
    scopes: readonly Scope[],
    allowed_origins: readonly string[] = [],
    owner?: OrganisationId,
  ) => {
    const organisation_id = owner ?? (await organisation())
    const path = `/organisations/${organisation_id}/api_applications`
    const created = await operate('POST', path, { name: 'A client', scopes, allowed_origins })
    const client = z.object({ client_id: z.string(), client_secret: z.string() }).parse(created)
    return { ...client, organisation_id, path: `${path}/${client.client_id}` }
  }

  const requestToken = async (
    form: Record<string, string> | URLSearchParams | string,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${served.origin}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    })
    return {
      status: response.status,
      headers: response.headers,
      body: z.record(z.string(), z.unknown()).parse(await response.json()),
    }
  }

  const tokenOf = async ({ client_id, client_secret }: Client, scope = 'read write'): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope, resource }
    const { body } = await requestToken(form)
    return z.string().parse(body['access_token'])
  }

  return {
    ...served,
    database,
    directory,
    eventLog,
    folds,
    writer,
    tokens,
    checkSecret,
    operate,
    organisation,
    apiApplication,
    requestToken,
    tokenOf,
    /** Moves the clock of the tokens forward. */
    advance: (seconds: number) => {
      ahead += seconds
    },
    /** A request with an access token. */
    call: async (token: string, path: string, { method = 'GET', origin }: { method?: string; origin?: string } = {}) =>
      served.send(method, path, undefined, {
        authorization: `Bearer ${token}`,
        ...(origin !== undefined && { origin }),
      }),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      stopping.abort()
      await eventLog.close()
      if (!options.beside) await database[Symbol.asyncDispose]()
    },
  }
}

/** The message of an error answer, and its code. */
export const errorOf = ({ body }: { body: unknown }) =>
  z
    .object({
      error: z.object({ code: z.string(), message: z.string(), fields: z.record(z.string(), z.string()).optional() }),
    })
    .parse(body).error
