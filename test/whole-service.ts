import type { RequestListener } from 'node:http'
import { z } from 'zod'
import { readConfig } from '#infra/config.ts'
import { ApiApplicationId } from '#domain/values.ts'
import { listen } from '#infra/http/listen.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { reportProcess } from '#infra/process-report.ts'
import { openParts } from '#infra/role-parts.ts'
import { startCommandApi } from '../command-api/command-api.ts'
import { startProjections } from '../projections/projections.ts'
import { startQueryApi } from '../query-api/query-api.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { startEventStoreDb } from './eventstoredb/server.ts'

const operatorKey = 'the operator key of the tests'
const baseUrl = 'http://service.test'

export type Answer<Data = unknown> = {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly data: Data
    readonly next_cursor?: string | null
    readonly error?: { readonly code: string; readonly message: string; readonly fields?: Record<string, string> }
  }
}

export type Client = { readonly client_id: string; readonly token: string }

/** Of tests that do not say so themselves: on which log they have their events. */
export const isOnEventStoreDb = process.env['TEST_EVENT_LOG'] === 'eventstoredb'

const eventStoreDbIfAsked = async (environment: Readonly<Record<string, string>>) =>
  isOnEventStoreDb && environment['EVENT_LOG'] === undefined ? startEventStoreDb() : undefined

/** Command-api, projections and query-api over HTTP, as they run in one process, on a database of their own or on that of another. */
export const wholeService = async (environment: Readonly<Record<string, string>> = {}, beside?: TestDatabase) => {
  const database = beside ?? (await testDatabase())
  const eventStoreDb = await eventStoreDbIfAsked(environment)
  const logIn = eventStoreDb && { EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: eventStoreDb.url }
  const ending = new AbortController()
  const config = readConfig({
    BASE_URL: baseUrl,
    MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
    OPERATOR_KEY: operatorKey,
    ENVIRONMENT: 'test',
    RATE_LIMIT_REQUESTS: '0',
    READ_YOUR_WRITES_MS: '20000',
    ...logIn,
    ...environment,
  })
  const log = makeLog('silent', 'test')
  const health = { metrics: makeMetrics() }
  const { parts: opened, close } = await openParts(config, log, ending.signal, database.url, 'one process', health)
  const parts = { ...opened, pollMs: 50 }
  const projections = await startProjections(parts)
  const ownOrigin = () => `http://127.0.0.1:${port}`
  const [commandApi, queryApi] = await Promise.all([startCommandApi(parts), startQueryApi(parts, { ownOrigin })])
  const roles = [commandApi, queryApi, projections]
  const checks = async () => (await Promise.all(roles.map(async (role) => role.checks()))).flat()
  const reporting = reportProcess({ ...parts, role: 'all', checks })
  const serve: RequestListener = (request, response) => {
    const { app } = queryApi.isRead(request.method, request.url) ? queryApi : commandApi
    app(request, response)
  }
  const { port, close: stopListening } = await listen(
    serve,
    '127.0.0.1',
    environment['PORT'] === undefined ? 0 : config.PORT,
  )

  const send = async <Data = unknown>(
    method: string,
    path: string,
    {
      body,
      headers = {},
      token = operatorKey,
    }: { body?: unknown; headers?: Record<string, string>; token?: string } = {},
  ): Promise<Answer<Data>> => {
    const type = path.startsWith('/admin/v1/setup') ? 'application/yaml' : 'application/json'
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    // The tests look at what they need of it.
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Answer<Data>['body'] }
  }

  const tokenOf = async (client_id: string, client_secret: string, scope: string): Promise<string> => {
    const form = {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
      scope,
      resource: `${config.BASE_URL}/api/v1`,
    }
    const response = await fetch(`http://127.0.0.1:${port}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    return z.object({ access_token: z.string() }).parse(await response.json()).access_token
  }

  return {
    parts,
    database,
    /** Of another process: where the database is, and the log. */
    environment: { DATABASE_URL: database.url, ...logIn },
    baseUrl: config.BASE_URL,
    origin: `http://127.0.0.1:${port}`,
    send,
    /** Applies a set-up file and answers the id of its first organisation. */
    setUp: async (file: string): Promise<void> => {
      const apply = () => send('POST', '/admin/v1/setup?apply=true', { body: file })
      let answer = await apply()
      // On a busy machine the database may not answer in time; it says so, and a repeat is safe.
      for (let again = 0; again < 5 && answer.status === 503; again++) answer = await apply()
      if (answer.status !== 200)
        throw new Error(`The set-up was answered ${answer.status} ${JSON.stringify(answer.body)}`)
    },
    /** An API application of an organisation, and a token with all of its scopes. */
    client: async (organisation_id: string, scopes: readonly string[], allowed_origins: readonly string[] = []) => {
      const path = `/admin/v1/organisations/${organisation_id}/api_applications`
      const body = { name: `Client ${Math.random()}`, scopes, allowed_origins }
      const created = await send<{ client_id: string; client_secret: string }>('POST', path, { body })
      const { client_id, client_secret } = created.body.data
      return {
        client_id: ApiApplicationId.parse(client_id),
        token: await tokenOf(client_id, client_secret, scopes.join(' ')),
      }
    },
    organisation: async (slug: string): Promise<string> => {
      const created = await send<{ id: string }>('POST', '/admin/v1/organisations', { body: { slug, name: slug } })
      return created.body.data.id
    },
    [Symbol.asyncDispose]: async () => {
      queryApi.drain?.()
      await stopListening()
      ending.abort()
      await Promise.all(roles.map(async (role) => role.stop()))
      await reporting.finished
      await close()
      await eventStoreDb?.[Symbol.asyncDispose]()
      if (!beside) await database[Symbol.asyncDispose]()
    },
  }
}
