import { afterAll, beforeAll, expect, test } from 'vitest'
import { leadService, type LeadService } from '../ingests/fixture.ts'
import type { Client } from '../whole-service.ts'
import { askedCodes, codeOf, documentedCodes, refusal, refused, type Refused } from './codes.ts'

const requestsOfAnAddress = 300

let service: LeadService
let reader: Client
let browser: Client
let office: Client
let lead: string
let outcome: string
let reversal: string
beforeAll(async () => {
  service = await leadService({ TRUSTED_PROXIES: '1', RATE_LIMIT_REQUESTS: String(requestsOfAnAddress) })
  await service.setUp(`
organisations:
  - slug: firm
    name: A firm
    outcome_products: [{ key: term, name: Term }]
`)
  ;[reader, browser] = await Promise.all([
    service.client(service.organisation_id, ['read']),
    service.client(service.organisation_id, ['read', 'write'], ['https://example.com']),
  ])
  lead = (await service.process({ identity: { email: 'ada@example.com' } })).contact_id ?? ''
  outcome = (await sent(report({ event_id: 'E-1' }))).body.data.id
  reversal = (await sent({ ...reverse, path: `/crm/outcomes/${outcome}/reverse`, body: {} })).body.data.id
  await sent(report({ type: 'cancelled', deal_ref: 'D-1', values: {} }))
  const offices = [1, 2, 3].map(async () => service.client(service.organisation_id, ['write', 'outcomes']))
  const [one, other, third] = await Promise.all(offices)
  for (const reporter of [one, other])
    await sent({ ...report({ event_id: 'E-2' }), token: () => reporter?.token ?? '' })
  office = third ?? browser
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

type Asked = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: () => string
}
const sent = ({ method, path, body, headers = {}, token = () => service.sender.token }: Asked) =>
  service.send<{ id: string }>(method, `/api/v1${path}`, { token: token(), headers, ...(body && { body }) })

const nobody = '00000000-0000-4000-8000-000000000000'
const ingest = (body: object = {}): Asked => ({
  method: 'POST',
  path: '/crm/ingests',
  body: { source: 'website', identity: { email: 'ada@example.com' }, ...body },
})
const report = (body: object = {}): Asked => ({
  method: 'POST',
  path: '/crm/outcomes',
  body: { contact_id: lead, type: 'quoted', occurred_at: '2026-01-15', values: { premium: 1 }, ...body },
})
const reverse: Asked = { method: 'POST', path: '/crm/outcomes/reverse', body: { event_id: 'E-1' } }
const get = (path: string): Asked => ({ method: 'GET', path })

/** Who may not ask, and who asks too often: the same for every operation. */
const access = (ask: () => Asked): Readonly<Record<string, () => Asked>> => ({
  'invalid_token: no token that we issued': () => ({ ...ask(), token: () => 'none' }),
  'forbidden: without the scope crm': () => ({ ...ask(), token: () => reader.token }),
  'forbidden: a browser application': () => ({
    ...ask(),
    token: () => browser.token,
    headers: { origin: 'https://example.com' },
  }),
  'forbidden: a server application from a page': () => ({ ...ask(), headers: { origin: 'https://example.com' } }),
  'rate_limited: too often from one address': () => ({ ...ask(), headers: { 'x-forwarded-for': '203.0.113.7' } }),
})

/** By operation, each code that the specification and the decisions give it, and a request that is answered so. */
const operations: Refused<Asked> = {
  'post /api/v1/crm/ingests': {
    ...access(() => ingest()),
    campaign_paused: () => ingest({ campaign: 'paused' }),
    campaign_archived: () => ingest({ campaign: 'archived' }),
    unknown_campaign: () => ingest({ campaign: 'unheard' }),
    'validation_failed source: left out': () => ingest({ source: undefined }),
    'validation_failed source: malformed': () => ingest({ source: 'A b' }),
    'validation_failed source: reserved': () => ingest({ source: 'leadform' }),
    'validation_failed: nothing to go on': () => ingest({ identity: undefined }),
    'validation_failed: more than 256 KB': () => ingest({ text: 'x'.repeat(262_144) }),
  },
  'get /api/v1/crm/ingests/{id}': {
    ...access(() => get(`/crm/ingests/${nobody}`)),
    'not_found: unknown': () => get(`/crm/ingests/${nobody}`),
    'not_found: no id': () => get('/crm/ingests/7'),
  },
  'get /api/v1/crm/leads': {
    ...access(() => get('/crm/leads')),
    'invalid_parameter cursor': () => get('/crm/leads?cursor=x'),
    'invalid_parameter updated_since': () => get('/crm/leads?updated_since=yesterday'),
    'invalid_parameter status': () => get('/crm/leads?status=open,asleep'),
    'invalid_parameter campaign_id': () => get('/crm/leads?campaign_id=spring'),
    'invalid_parameter limit: 0': () => get('/crm/leads?limit=0'),
    'invalid_parameter limit: 201': () => get('/crm/leads?limit=201'),
    'invalid_parameter limit: twice': () => get('/crm/leads?limit=1&limit=2'),
  },
  'get /api/v1/crm/events': {
    ...access(() => get('/crm/events')),
    'invalid_parameter cursor': () => get('/crm/events?cursor=x'),
    'invalid_parameter contact_id': () => get('/crm/events?contact_id=7'),
    'invalid_parameter campaign_id': () => get('/crm/events?campaign_id=7'),
    'invalid_parameter type': () => get('/crm/events?type=Lead!'),
    'invalid_parameter since': () => get('/crm/events?since=yesterday'),
    'invalid_parameter limit: 0': () => get('/crm/events?limit=0'),
    'invalid_parameter limit: 201': () => get('/crm/events?limit=201'),
    'invalid_parameter limit: no number': () => get('/crm/events?limit=ten'),
  },
  'post /api/v1/crm/outcomes': {
    ...access(() => report()),
    'not_found: contact_id': () => report({ contact_id: nobody }),
    'not_found: lead.id': () => report({ contact_id: undefined, lead: { id: nobody } }),
    'not_found: lead.external_id': () => report({ contact_id: undefined, lead: { external_id: 'none' } }),
    event_id_conflict: () => report({ event_id: 'E-1', note: 'other content' }),
    not_repeatable: () => report({ type: 'cancelled', deal_ref: 'D-1', note: 'once more', values: {} }),
    'validation_failed type': () => report({ type: 'flown' }),
    'validation_failed occurred_at': () => report({ occurred_at: '2999-01-01' }),
    'validation_failed product': () => report({ product: 'boat' }),
    'validation_failed values.premium': () => report({ values: { premium: 0.5 } }),
    'validation_failed lead': () => report({ lead: {}, contact_id: undefined }),
    'validation_failed currency': () => report({ currency: 'pounds' }),
  },
  'post /api/v1/crm/outcomes/reverse': {
    ...access(() => reverse),
    not_found: () => ({ ...reverse, body: { event_id: 'none' } }),
    already_reversed: () => reverse,
    event_id_ambiguous: () => ({ ...reverse, body: { event_id: 'E-2' }, token: () => office.token }),
    'validation_failed event_id': () => ({ ...reverse, body: {} }),
    'validation_failed note': () => ({ ...reverse, body: { event_id: 'E-1', note: 'x'.repeat(501) } }),
  },
  'post /api/v1/crm/outcomes/{id}/reverse': {
    ...access(() => ({ ...reverse, path: `/crm/outcomes/${nobody}/reverse`, body: {} })),
    'not_found: unknown': () => ({ ...reverse, path: `/crm/outcomes/${nobody}/reverse`, body: {} }),
    'not_found: no id': () => ({ ...reverse, path: '/crm/outcomes/7/reverse', body: {} }),
    'already_reversed: before': () => ({ ...reverse, path: `/crm/outcomes/${outcome}/reverse`, body: {} }),
    'already_reversed: a reversal': () => ({ ...reverse, path: `/crm/outcomes/${reversal}/reverse`, body: {} }),
    'validation_failed note': () => ({
      ...reverse,
      path: `/crm/outcomes/${outcome}/reverse`,
      body: { note: 'x'.repeat(501) },
    }),
  },
  'get /api/v1/crm/outcomes/model': access(() => get('/crm/outcomes/model')),
  'get /api/v1/crm/outcomes': {
    ...access(() => get('/crm/outcomes')),
    'invalid_parameter type': () => get('/crm/outcomes?type=flown'),
    'invalid_parameter cursor': () => get('/crm/outcomes?cursor=x'),
    'invalid_parameter contact_id': () => get('/crm/outcomes?contact_id=7'),
    'invalid_parameter limit: 0': () => get('/crm/outcomes?limit=0'),
    'invalid_parameter limit: 201': () => get('/crm/outcomes?limit=201'),
    'invalid_parameter limit: twice': () => get('/crm/outcomes?limit=1&limit=2'),
  },
}

test.each(Object.entries(operations))(
  '%s answers every code of its own, with the input that it names',
  async (_, asked) => {
    const ofItsOwn = Object.entries(asked).filter(([title]) => codeOf(title) !== 'rate_limited')
    for (const [title, ask] of ofItsOwn) expect(refused(title, await sent(ask()))).toMatchObject(refusal(title))
  },
)

test('every operation answers 429 rate_limited, and when to go on', async () => {
  const tooOften = { 'x-forwarded-for': '203.0.113.7' }
  for (let count = 0; count < requestsOfAnAddress; count += 20)
    await Promise.all(Array.from({ length: 20 }, () => sent({ ...get('/crm/leads'), headers: tooOften })))

  for (const asked of Object.values(operations))
    for (const [title, ask] of Object.entries(asked)) {
      if (codeOf(title) !== 'rate_limited') continue
      const answer = await sent(ask())
      expect(refused(title, answer)).toMatchObject(refusal(title))
      expect(Number(answer.headers.get('x-ratelimit-reset')) * 1_000).toBeGreaterThan(Date.now())
    }
})

test('the document names exactly the codes that were seen, operation by operation', () => {
  expect(askedCodes(operations)).toEqual(documentedCodes((address) => address.startsWith('/api/v1/crm/')))
})
