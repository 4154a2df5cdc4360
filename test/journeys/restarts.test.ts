import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { testDatabase } from '../database.ts'
import { startPoolingProxy } from '../pooling-proxy.ts'
import { isRead } from '../proxy-routing.ts'
import { startRole } from './role-process.ts'
import { freePort } from './service-process.ts'

const operatorKey = 'an operator key for tests'
const baseUrl = 'http://service.test'
const client_id = '0e500000-0000-4000-8000-000000000001'
const client_secret = 'secret-of-the-forms'
const declared = `
organisations:
  - slug: firm
    name: A firm
    api_applications:
      - { name: Forms, client_id: ${client_id}, client_secret: ${client_secret}, scopes: [read, write, crm] }
`
/** `STOPS=12` for a longer run. */
const stops = Number(process.env['STOPS'] ?? 4)

test(
  'API processes that are told to stop under load, one after the other, break no request of a proxy that keeps its connections open',
  { timeout: 600_000 },
  async () => {
    await using database = await testDatabase()
    await using stack = new AsyncDisposableStack()
    const begin = async (program: string) => {
      const port = await freePort()
      const stores = { DATABASE_URL: database.url, BASE_URL: baseUrl, RATE_LIMIT_REQUESTS: '0', PORT: String(port) }
      const role = stack.use(await startRole(stores, `${program}/main.ts`))
      await role.ready
      await vi.waitFor(async () => expect((await role.details()).status).toBe(200), { timeout: 60_000 })
      return { ...role, port }
    }
    await begin('projections')
    const apis = {
      'command-api': [await begin('command-api'), await begin('command-api')],
      'query-api': [await begin('query-api'), await begin('query-api')],
    }
    await using proxy = await startPoolingProxy(({ method = '', url = '' }) =>
      apis[isRead(method, url) ? 'query-api' : 'command-api'].map(({ port }) => port),
    )
    const setUp = await fetch(`${proxy.origin}/admin/v1/setup?apply=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
      body: declared,
    })
    expect([setUp.status, await setUp.text()]).toEqual([200, expect.anything()])
    const resource = `${baseUrl}/api/v1`
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'read write crm', resource }
    const granted = await fetch(`${proxy.origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const token: unknown = await granted.json()
    expect([granted.status, token]).toEqual([200, expect.anything()])
    const { access_token } = z.object({ access_token: z.string() }).parse(token)
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }

    const ending = new AbortController()
    /** The ports of those that were told to stop. */
    const stopping = new Set<string>()
    const refused: string[] = []
    let [answered, putOff, leads] = [0, 0, 0]
    /** As the guide tells callers: after 503 the same once more, not before the seconds in `Retry-After`. */
    const send = async (request: Request): Promise<void> => {
      const answer = await fetch(request.clone())
      const text = await answer.text()
      const waitSeconds = Number(answer.headers.get('retry-after') ?? NaN)
      const isPutOff = answer.status === 503 && waitSeconds > 0
      const isByStopping = stopping.has(answer.headers.get('x-answered-by') ?? '')
      answered++
      if (answer.status >= 500 && (!isPutOff || isByStopping))
        refused.push(`${answer.status} ${isByStopping ? 'while stopping' : ''} ${answer.url} ${text}`)
      if (!isPutOff) return
      putOff++
      await pause(waitSeconds * 1_000)
      await send(request)
    }
    const ask = async (next: () => Request) => {
      while (!ending.signal.aborted) await send(next())
    }
    const read = () => new Request(`${proxy.origin}/api/v1/products`, { headers })
    const write = () => {
      const body = JSON.stringify({ source: 'form', identity: { email: `person${++leads}@example.com` } })
      const key = { 'idempotency-key': `lead ${leads}` }
      return new Request(`${proxy.origin}/api/v1/crm/ingests`, {
        method: 'POST',
        headers: { ...headers, ...key },
        body,
      })
    }
    const asking = Promise.all([
      ...Array.from({ length: 8 }, () => ask(read)),
      ...Array.from({ length: 8 }, () => ask(write)),
    ])

    for (let stop = 0; stop < stops; stop++) {
      const program = stop % 2 === 0 ? 'command-api' : 'query-api'
      const running = apis[program]
      running.push(await begin(program))
      const before = answered
      await vi.waitFor(() => expect(answered).toBeGreaterThan(before + 50), { timeout: 60_000 })
      const [oldest] = running
      stopping.add(String(oldest?.port))
      process.kill(oldest?.pid ?? 0, 'SIGTERM')
      expect(await oldest?.ended).toEqual({ code: 0, signal: null })
      running.shift()
    }
    ending.abort()
    await asking

    expect(proxy.broken).toEqual([])
    expect(refused).toEqual([])
    // A machine that is busy with others may let a deadline pass now and then.
    expect(putOff).toBeLessThan(answered / 20)
  },
)
