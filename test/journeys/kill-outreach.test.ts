import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startMessageGateway } from '../../stand-ins/message-gateway.ts'
import { testDatabase } from '../database.ts'
import { startRole } from './role-process.ts'
import { freePort } from './service-process.ts'

// OUTREACH_KILL_LEADS=500 OUTREACH_KILLS=20 for a long run.
const leads = Number(process.env['OUTREACH_KILL_LEADS'] ?? 24)
const kills = Number(process.env['OUTREACH_KILLS'] ?? 2)
const operatorKey = 'an operator key for tests'
const baseUrl = 'http://service.test'

const declared = (gateway: string) => `
organisations:
  - slug: firm
    name: A firm
    provider_accounts: [{ provider: message_gateway, base_url: "${gateway}", account: FIRM, secret: key }]
    campaigns: [{ key: spring, name: Spring }]
    api_applications:
      - { name: Forms, client_id: 0e500000-0000-4000-8000-000000000001, client_secret: secret-of-the-forms, scopes: [read, write, crm] }
    outreach: [{ on: true }]
    outreach_streams:
      - slug: welcome
        kind: mailshot
        name: Welcome
        purpose: first_party_marketing
        channels: [sms]
        auto_send: true
        started: true
        campaigns: [spring]
        texts: [{ body: Welcome }]
`

const patienceMs = 180_000

test(
  'two processes that are killed, and lose their store, in the middle of sending send every message once',
  { timeout: 400_000 },
  async () => {
    await using database = await testDatabase()
    const gateway = await startMessageGateway()
    await using stack = new AsyncDisposableStack()
    stack.defer(gateway.close)
    const stores = {
      DATABASE_URL: database.url,
      BASE_URL: baseUrl,
      ENVIRONMENT: 'test',
      RATE_LIMIT_REQUESTS: '0',
      DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
      DELIVERY_ALLOW_HTTP: 'true',
    }
    const begin = async (program: string) => {
      const port = await freePort()
      const role = await startRole({ ...stores, PORT: String(port) }, program)
      await role.ready
      return { ...role, origin: `http://127.0.0.1:${port}` }
    }
    stack.use(await begin('projections/main.ts'))
    const pair = [await begin('command-api/main.ts'), await begin('command-api/main.ts')]
    stack.defer(async () => {
      for (const each of pair) await each.kill('process')
    })

    /** By whichever of the two answers. */
    const send = async (path: string, init: RequestInit): Promise<unknown> => {
      for (let attempt = 0; ; attempt++) {
        const answer = await fetch(`${pair[attempt % 2]?.origin}${path}`, init).catch(() => undefined)
        if (answer?.ok) return answer.json()
        if (attempt > 200) throw new Error(`${path} is not answered: ${await answer?.text()}`)
        await pause(100)
      }
    }
    const byOperator = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' }
    await send('/admin/v1/setup?apply=true', { method: 'POST', headers: byOperator, body: declared(gateway.url) })
    const form = {
      grant_type: 'client_credentials',
      client_id: '0e500000-0000-4000-8000-000000000001',
      client_secret: 'secret-of-the-forms',
      scope: 'read write crm',
      resource: `${baseUrl}/api/v1`,
    }
    const answered = await send('/oauth/token', { method: 'POST', body: new URLSearchParams(form) })
    const { access_token } = z.object({ access_token: z.string() }).parse(answered)
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }

    const phoneOf = (lead: number) => `+4474001${10_000 + lead}`
    const sending = async () => {
      for (let lead = 0; lead < leads; lead++) {
        const consent = { method: 'a form', first_party_marketing: { sms: true } }
        const identity = { email: `person${lead}@example.com`, phone: phoneOf(lead) }
        const body = JSON.stringify({ source: 'form', campaign: 'spring', identity, consent })
        await send('/api/v1/crm/ingests', {
          method: 'POST',
          headers: { ...headers, 'idempotency-key': `lead-${lead}` },
          body,
        })
      }
    }
    const killing = async () => {
      for (let kill = 0; kill < kills; kill++) {
        // In the middle of it, as far as the gateway tells.
        const before = gateway.requests.length
        for (let waited = 0; gateway.requests.length === before && waited < 5_000; waited += 10) await pause(10)
        await pair[kill % 2]?.kill('process')
        await database.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        )
        pair[kill % 2] = await begin('command-api/main.ts')
      }
    }
    await Promise.all([sending(), killing()])

    const sentEvents = async () => {
      const { rows } = await database.pool.query<{ count: string }>(
        `select count(*) from event_log.event where type = 'OutreachMessageSent'`,
      )
      return Number(rows[0]?.count)
    }
    const deadline = Date.now() + patienceMs
    while ((await sentEvents()) < leads && Date.now() < deadline) {
      // What a dead process was sending is taken over after a minute of business time.
      const body = JSON.stringify({ forward_seconds: 61 })
      await send('/admin/v1/clock', {
        method: 'POST',
        headers: { ...byOperator, 'content-type': 'application/json' },
        body,
      })
      await pause(1_000)
    }

    const numbers = [...gateway.sent.values()].map(({ to }) => to)
    expect(numbers.toSorted()).toEqual(Array.from({ length: leads }, (_, lead) => phoneOf(lead)))
    expect(await sentEvents()).toBe(leads)
  },
)
