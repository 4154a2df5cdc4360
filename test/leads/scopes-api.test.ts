import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../whole-service.ts'
import { leadService, type LeadService } from '../ingests/fixture.ts'

const origin = 'https://example.com'
const nobody = '00000000-0000-4000-8000-000000000000'

const scopes = {
  'read crm': ['read', 'crm'],
  'write crm': ['write', 'crm'],
  'read outcomes': ['read', 'outcomes'],
  'write outcomes': ['write', 'outcomes'],
  'read write': ['read', 'write'],
} as const
type Held = keyof typeof scopes

let service: LeadService
let clients: Readonly<Record<string, Client>>
let browser: Client
beforeAll(async () => {
  service = await leadService()
  const made = Object.entries(scopes).map(
    async ([held, those]) => [held, await service.client(service.organisation_id, [...those])] as const,
  )
  clients = Object.fromEntries(await Promise.all(made))
  browser = await service.client(service.organisation_id, ['read', 'write'], [origin])
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const lead = { source: 'website', identity: { email: 'ada@example.com' } }
const report = { contact_id: nobody, type: 'quoted', occurred_at: '2026-01-15', values: { premium: 1 } }
const anyReader: readonly Held[] = ['read crm', 'write crm', 'read outcomes', 'write outcomes']
const reporters: readonly Held[] = ['write crm', 'write outcomes']

test.each<readonly [method: string, path: string, body: object | undefined, status: number, allowed: readonly Held[]]>([
  ['POST', '/crm/ingests', lead, 202, ['write crm']],
  ['GET', `/crm/ingests/${nobody}`, undefined, 404, ['read crm', 'write crm']],
  ['GET', '/crm/leads', undefined, 200, ['read crm', 'write crm']],
  ['GET', '/crm/events', undefined, 200, ['read crm']],
  ['POST', '/crm/outcomes', report, 404, reporters],
  ['POST', '/crm/outcomes/reverse', { event_id: 'none' }, 404, reporters],
  ['POST', `/crm/outcomes/${nobody}/reverse`, {}, 404, reporters],
  ['GET', '/crm/outcomes/model', undefined, 200, anyReader],
  ['GET', '/crm/outcomes', undefined, 200, anyReader],
])(
  '%s %s is for servers that hold the right scopes; all else is 401 or 403',
  async (method, path, body, status, may) => {
    const ask = async (token: string, headers: Record<string, string> = {}) =>
      service.send(method, `/api/v1${path}`, { token, headers, ...(body && { body }) })

    for (const [held, { token }] of Object.entries(clients)) {
      const answer = await ask(token)
      const isAllowed = may.some((each) => each === held)
      expect([held, answer.status]).toEqual([held, isAllowed ? status : 403])
      expect(answer.body.error?.code).toBe(isAllowed ? (status === 404 ? 'not_found' : undefined) : 'forbidden')
    }
    const fromPage = await ask(browser.token, { origin })
    expect([fromPage.status, fromPage.body.error?.code]).toEqual([403, 'forbidden'])
    const unknown = await ask('none')
    expect([unknown.status, unknown.body.error?.code]).toEqual([401, 'invalid_token'])
  },
)
