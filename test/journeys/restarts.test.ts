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
    expect(setUp.status).toBe(200)
    const resource = `${baseUrl}/api/v1`
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'read write crm', resource }
    const granted = await fetch(`${proxy.origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token } = z.object({ access_token: z.string() }).parse(await granted.json())
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }

    const ending = new AbortController()
    let answered = 0
    const refused: string[] = []
    let leads = 0
    const ask = async (work: () => Promise<Response>) => {
      while (!ending.signal.aborted) {
        const answer = await work()
        const text = await answer.text()
        answered++
        if (answer.status >= 500) refused.push(`${answer.status} ${answer.url} ${text}`)
      }
    }
    const read = () => fetch(`${proxy.origin}/api/v1/products`, { headers })
    const write = () => {
      const body = JSON.stringify({ source: 'form', identity: { email: `person${++leads}@example.com` } })
      const key = { 'idempotency-key': `lead ${leads}` }
      return fetch(`${proxy.origin}/api/v1/crm/ingests`, { method: 'POST', headers: { ...headers, ...key }, body })
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
      process.kill(oldest?.pid ?? 0, 'SIGTERM')
      expect(await oldest?.ended).toEqual({ code: 0, signal: null })
      running.shift()
    }
    ending.abort()
    await asking

    expect(proxy.broken).toEqual([])
    expect(refused).toEqual([])
  },
)
