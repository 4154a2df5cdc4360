import type { Express, Request } from 'express'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import { randomBytes } from 'node:crypto'
import { deriveKeys, type Keys } from '#infra/crypto/keys.ts'
import { systemClock, type Clock } from '#infra/clock.ts'
import { httpApp, type Admission } from '#infra/http/http.ts'
import { listen } from '#infra/http/listen.ts'
import { makeSubjectCheck, type FindOwner } from '#infra/http/subject.ts'
import { makeLog, type Log } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import type { Caller, Route } from '#infra/http/route.ts'

export const serverCaller = (changes: Partial<Caller> = {}): Caller => ({
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  api_application_id: ApiApplicationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'),
  kind: 'server',
  scopes: new Set(['read', 'write', 'crm', 'outcomes']),
  ...changes,
})

export const browserCaller = (changes: Partial<Caller> = {}): Caller =>
  serverCaller({ kind: 'browser', scopes: new Set(['read', 'write']), ...changes })

export type Answered = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** An app on a free port, and requests to it. A body that is a string is sent as YAML, anything else as JSON. */
export const serveApp = async (app: Express) => {
  const { port, close } = await listen(app, '127.0.0.1', 0)
  const origin = `http://127.0.0.1:${port}`

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> => {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json'
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  return {
    origin,
    send,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) => send('POST', path, body, headers),
    patch: (path: string, body?: unknown, headers?: Record<string, string>) => send('PATCH', path, body, headers),
    put: (path: string, body?: unknown, headers?: Record<string, string>) => send('PUT', path, body, headers),
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Serves routes as they are in use, with every answer checked against its schema. Who calls is given instead of proven:
 * always the same caller, or one that is told from the request.
 */
export const serve = async (
  routes: readonly Route[],
  caller: Caller | ((request: Request) => Caller) = serverCaller(),
  {
    keys = deriveKeys(randomBytes(32).toString('base64')),
    owners = {},
    clock = systemClock,
    log = makeLog('silent', 'test'),
  }: {
    readonly keys?: Keys
    readonly owners?: Readonly<Record<string, FindOwner>>
    readonly clock?: Clock
    readonly log?: Log
  } = {},
) => {
  const admission: Admission = {
    cors: () => false,
    limitRate: async () => undefined,
    admit: async (request, access) => {
      if (access.kind === 'team') return { operator: 'tester' }
      if (access.kind !== 'application') return {}
      return { caller: typeof caller === 'function' ? caller(request) : caller }
    },
  }
  const subjectCheck = makeSubjectCheck({ keys, owners })
  return serveApp(
    httpApp(routes, {
      log,
      metrics: makeMetrics(),
      admission,
      subjectCheck,
      recordAccess: async () => undefined,
      clock,
      trustedProxies: 0,
      checkAnswers: true,
    }),
  )
}
