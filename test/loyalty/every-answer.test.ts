import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeService, type Client } from '../whole-service.ts'

/** Every row of the transition table, and every error of the operations of loyalty and outreach, over HTTP. */

const file = `
organisations:
  - slug: firm
    name: A firm
    outreach: [{ on: true }]
    outreach_streams:
      - { slug: letter, kind: mailshot, name: A letter, purpose: service, texts: [{ subject: Hello, body: Hello }] }
    loyalty_programmes:
      - slug: vitality
        name: Vitality
        tiers: [{ key: gold, name: Gold, threshold: 5000 }]
        cycle: { months: 12, starts: confirmation }
`

type Service = Awaited<ReturnType<typeof wholeService>>
type Shown = { readonly id: string; readonly status: string; readonly external_member_ref: string | null }
let service: Service
let partner: Client
let admin: string
let enrolments: string
let stream: string

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file)
  const organisations = await service.send<readonly { id: string }[]>('GET', '/admin/v1/organisations')
  const id = String(organisations.body.data[0]?.id)
  admin = `/admin/v1/organisations/${id}`
  partner = await service.client(id, ['read', 'write'])
  const programmes = await service.send<readonly { id: string }[]>('GET', `${admin}/programmes`)
  enrolments = `${admin}/programmes/${programmes.body.data[0]?.id}/memberships`
  const streams = await service.send<readonly { id: string }[]>('GET', `${admin}/outreach_streams`)
  stream = String(streams.body.data[0]?.id)
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const organisation = () => admin.split('/').at(-1) ?? ''
const member = (reference: string) => `/api/v1/programme_memberships/${reference}`
const send = (method: string, path: string, body?: object, token = partner.token) =>
  service.send<Shown>(method, path, { token, ...(body && { body }) })

let made = 0
const ways: Readonly<Record<string, readonly object[]>> = {
  pending: [],
  active: [{ status: 'active' }],
  suspended: [{ status: 'active' }, { status: 'suspended' }],
  cancelled: [{ status: 'active' }, { status: 'cancelled' }],
}
/** A membership that has come as far; the reference is recorded where it is confirmed. */
const membershipThat = async (status: string) => {
  const enrolled = await service.send<Shown>('POST', enrolments, { body: { policy_number: `P-${++made}` } })
  const { id } = enrolled.body.data
  const reference = `ref-${made}`
  for (const step of ways[status] ?? []) await send('PATCH', member(id), { external_member_ref: reference, ...step })
  return { id, reference }
}

const refOf = (given: 'own' | 'other' | undefined, own: string) =>
  given === undefined ? {} : { external_member_ref: given === 'own' ? own : `other-${++made}` }

describe.each(['PATCH', 'PUT'])('%s of a membership that is', (method) => {
  test.each([
    ['pending', { status: 'active' }, 'own', 'active'],
    ['pending', {}, 'own', 'pending'],
    ['pending', { status: 'active' }, undefined, 'validation_failed'],
    ['pending', { status: 'suspended' }, undefined, 'invalid_transition'],
    ['pending', { status: 'suspended' }, 'own', 'invalid_transition'],
    ['pending', { status: 'cancelled' }, undefined, 'invalid_transition'],
    ['active', { status: 'active' }, undefined, 'active'],
    ['active', { status: 'active' }, 'own', 'active'],
    ['active', { status: 'suspended' }, undefined, 'suspended'],
    ['active', { status: 'cancelled' }, undefined, 'cancelled'],
    ['active', {}, 'own', 'active'],
    ['active', {}, 'other', 'external_member_ref_mismatch'],
    ['active', { status: 'suspended' }, 'other', 'external_member_ref_mismatch'],
    ['suspended', { status: 'active' }, undefined, 'active'],
    ['suspended', { status: 'suspended' }, undefined, 'suspended'],
    ['suspended', { status: 'cancelled' }, undefined, 'cancelled'],
    ['suspended', {}, 'own', 'suspended'],
    ['suspended', {}, 'other', 'external_member_ref_mismatch'],
    ['cancelled', { status: 'active' }, undefined, 'membership_cancelled'],
    ['cancelled', { status: 'suspended' }, undefined, 'membership_cancelled'],
    ['cancelled', { status: 'cancelled' }, undefined, 'cancelled'],
    ['cancelled', {}, 'own', 'cancelled'],
    ['cancelled', {}, 'other', 'membership_cancelled'],
  ] as const)('%s, with %j and reference %s: %s', async (from, change, given, expected) => {
    const { id, reference } = await membershipThat(from)
    const before = (await send('GET', member(id))).body.data

    const { status, body } = await send(method, member(id), { ...change, ...refOf(given, reference) })

    const after = (await send('GET', member(id))).body.data
    if (status === 200) {
      expect([body.data.status, after]).toEqual([expected, body.data])
      expect(body.data.external_member_ref).toBe(given === 'own' ? reference : before.external_member_ref)
    } else {
      expect([status, body.error?.code]).toEqual([expected === 'validation_failed' ? 422 : 409, expected])
      expect(after).toEqual(before)
    }
  })
})

test.each(['active', 'suspended'])('events of a membership that is %s are recorded', async (status) => {
  const { id } = await membershipThat(status)
  const events = [{ idempotency_key: 'one', entry_type: 'points_awarded', points: 5 }]
  expect((await send('POST', `${member(id)}/events`, { events })).status).toBe(200)
})

test.each(['pending', 'cancelled'])('events of a membership that is %s are refused', async (status) => {
  const { id } = await membershipThat(status)
  const events = [{ idempotency_key: 'one', entry_type: 'points_awarded', points: 5 }]
  const { status: answered, body } = await send('POST', `${member(id)}/events`, { events })
  expect([answered, body.error?.code]).toEqual([409, `membership_${status}`])
  expect((await send('GET', member(id))).body.data).toMatchObject({ cycle_points: 0 })
})

const change = { status: 'suspended' }
const events = { events: [{ idempotency_key: 'x', entry_type: 'points_awarded', points: 1 }] }
const operations = [
  ['GET', () => member('nobody'), undefined],
  ['PATCH', () => member('nobody'), change],
  ['PUT', () => member('nobody'), change],
  ['POST', () => `${member('nobody')}/events`, events],
  ['GET', () => `/api/v1/outreach/streams/${stream}`, undefined],
] as const

describe.each(operations)('%s %s', (method, path, body) => {
  const isRead = method === 'GET'
  const answerTo = async (token: string, headers: Record<string, string> = {}) => {
    const answer = await service.send(method, path(), { token, headers, ...(body && { body }) })
    return [answer.status, answer.body.error?.code]
  }
  const clientOf = async (scopes: readonly string[], origins: readonly string[] = []) =>
    (await service.client(organisation(), scopes, origins)).token

  test('401 without a token of ours', async () => {
    expect(await answerTo('none')).toEqual([401, 'invalid_token'])
  })

  test('403 for a browser application, and for a server’s token from a web page', async () => {
    const origin = 'https://firm.example'
    expect(await answerTo(await clientOf(['read', 'write'], [origin]), { origin })).toEqual([403, 'forbidden'])
    expect(await answerTo(partner.token, { origin })).toEqual([403, 'forbidden'])
  })

  test('403 without the scope', async () => {
    expect(await answerTo(await clientOf(isRead ? ['crm'] : ['read', 'crm']))).toEqual([403, 'forbidden'])
  })

  test('the scope write serves reads, too; 404 for what is not there', async () => {
    const isStream = path().includes('/outreach/')
    const expected = isStream ? [200, undefined] : [404, 'not_found']
    expect(await answerTo(await clientOf(['write']))).toEqual(expected)
    if (isRead) expect(await answerTo(await clientOf(['read']))).toEqual(expected)
  })

  test('403 while the organisation is not active', async () => {
    await service.send('POST', `${admin}/deactivate`)
    const answer = await answerTo(partner.token)
    await service.send('POST', `${admin}/activate`)
    expect(answer).toEqual([403, 'forbidden'])
  })
})

describe.each(['PATCH', 'PUT'])('422 for %s', (method) => {
  test.each([
    ['{}', []],
    ['[]', []],
    ['{', []],
    ['{"status":"gone"}', ['status']],
    ['{"status":"pending"}', ['status']],
    ['{"status":null}', ['status']],
    ['{"external_member_ref":""}', ['external_member_ref']],
    ['{"external_member_ref":7}', ['external_member_ref']],
    [JSON.stringify({ external_member_ref: 'x'.repeat(300) }), ['external_member_ref']],
  ])('%.60s', async (body, fields) => {
    const { id } = await membershipThat('pending')
    const answer = await service.send(method, member(id), { token: partner.token, body })
    const { error } = answer.body
    expect([answer.status, error?.code, Object.keys(error?.fields ?? {})]).toEqual([422, 'validation_failed', fields])
  })
})
