import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Exchange } from '#infra/guarded-http.ts'
import type { MadeRequest } from '../../delivery-worker/capability.ts'
import { exchangeRecorder } from '../../delivery-worker/sending/exchange.ts'
import type { Claimed } from '../../delivery-worker/sending/queue.ts'
import { fillEndpoint } from '../../delivery-worker/custom-integrations/fill.ts'
import { integrationRequest } from '../../delivery-worker/custom-integrations/request.ts'

const claimed = {
  id: '00000000-0000-4000-8000-00000000000d',
  organisation_id: '00000000-0000-4000-8000-00000000000e',
  stream: 'application-1',
  number: 1,
} as Claimed

const answer = (status: number, headers: Readonly<Record<string, string>> = {}): Exchange => ({
  outcome: 'answered',
  status,
  header: (name) => headers[name],
  headers,
  body: Buffer.from('an answer'),
})

/** What is kept of an attempt, and under whose key. */
const kept = async (message: object, given: Exchange, changes: Partial<MadeRequest> = {}) => {
  const subjects: string[] = []
  const record = exchangeRecorder({
    of: ({ subject }) => {
      subjects.push(subject)
      return Promise.resolve({ id: 'key', key: createSecretKey(randomBytes(32)) })
    },
  })
  const body = JSON.stringify(message)
  const request: MadeRequest = { method: 'POST', url: 'https://firm.example/hooks', headers: {}, body, ...changes }
  return { ...(await record(claimed, body, request, given)), subjects }
}

const policyOf = (...people: readonly string[]) => {
  const [customer, joint] = people.map((id) => ({ id }))
  return { policy: { customer: customer ?? null, joint_customer: joint ?? null } }
}

test('bodies of a failed attempt are sealed for the one person whom they are about, or else for the record', async () => {
  expect((await kept({ contact_id: 'anna' }, answer(500))).subjects).toEqual(['person:anna/application-1'])
  expect((await kept(policyOf('anna'), answer(500))).subjects).toEqual(['person:anna/application-1'])
  expect((await kept({ id: 'ping' }, answer(500))).subjects).toEqual(['application-1'])
})

test('bodies about two people are not kept, since each may be erased without the other', async () => {
  const { exchange, sealed, subjects } = await kept(policyOf('anna', 'bert'), answer(500))

  expect({ sealed, subjects }).toEqual({ sealed: null, subjects: [] })
  expect(exchange).toMatchObject({ response: { status: 500 } })
  const application = { application: { customer: { id: 'anna' }, joint_customer: { id: 'bert' } } }
  expect((await kept(application, answer(500))).sealed).toBeNull()
})

test('of each body the digest is kept, of what arrived as well', async () => {
  const digest = createHash('sha256').update('{"id":"ping"}').digest('hex')
  for (const status of [200, 500])
    expect((await kept({ id: 'ping' }, answer(status))).exchange).toMatchObject({ request: { body_sha256: digest } })
})

test('an address that was filled in with what is known of a person is kept as its template', async () => {
  const path = '/contacts/{{ email }}?of={{ email }}'
  const endpoint = { key: 'add', method: 'POST', path, headers: {}, body_template: null } as const
  const call = integrationRequest({
    outbound: { base_url: 'https://api.example.com/v1/' },
    endpoint,
    filled: fillEndpoint(endpoint, { email: 'anna@example.org' }),
    idempotency_key: 'the key',
    credential: {},
  })
  expect(call.url).toBe('https://api.example.com/v1/contacts/anna%40example.org?of=anna%40example.org')

  const { exchange } = await kept({}, answer(201, { location: '/contacts/anna@example.org', date: 'today' }), call)

  expect(exchange).toMatchObject({
    request: { url: 'https://api.example.com/v1/contacts/{{ email }}?(not shown)' },
    response: { headers: { location: '(not shown)', date: 'today' } },
  })
  expect(JSON.stringify(exchange)).not.toContain('anna')
})

test('where a webhook was redirected to is shown', async () => {
  const { exchange } = await kept({}, answer(301, { location: 'https://firm.example/new' }))

  expect(exchange).toMatchObject({ response: { headers: { location: 'https://firm.example/new' } } })
})
