import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { claimEvents } from '#domain/claims/events.ts'
import type { Complaint } from '#domain/complaints/record.ts'
import { toStored, type EventOf } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { PolicyId } from '#domain/values.ts'
import { firm } from '../audit/firm.ts'
import { readableIn } from '../erasures/readable.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { memberOf } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

const patience = { timeout: 30_000, interval: 50 }
const dayMs = 86_400_000

let service: Awaited<ReturnType<typeof wholeService>>
let organisation_id: string
let stranger_id: string
let desk: string
let auditor: string
let strangers: string
let leads: string
let ada: string
let eve: string
let policy_id: string
let application_id: string
const claim_id = randomUUID()

/** Somebody with an application. */
const customerOf = async (token: string, first_name: string) => {
  const call = async <Data>(method: string, path: string, body: object) => {
    const answer = await service.send<Data>(method, `/api/v1${path}`, { token, body })
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
    return answer.body.data
  }
  const slugs = { product_slug: 'simple-life', journey_slug: 'standard' }
  const { id } = await call<{ id: string }>('POST', '/applications', slugs)
  const customer = { first_name, last_name: 'Okafor', email: `${first_name}@example.com`, dob: '1990-05-01' }
  const saved = await call<{ customer: { id: string } }>('PATCH', `/applications/${id}/customer`, { customer })
  return { application_id: id, contact_id: saved.customer.id }
}

/** A policy that has ended, so that nothing more happens to it by itself, with a claim on it. */
const policyOf = async (contact_id: string): Promise<string> => {
  const id = randomUUID()
  const about = { organisation_id, customer_id: contact_id }
  const events = [
    { ...sampleEvent(policyEvents, 'PolicyBound', 2), ...about, policy_id: PolicyId.parse(id) },
    { ...sampleEvent(claimEvents, 'ClaimOpened'), customer_id: contact_id, claim_id },
    { ...sampleEvent(claimEvents, 'ClaimClosed'), customer_id: contact_id, claim_id },
    sampleEvent(policyEvents, 'PolicyCancelled'),
  ] as unknown as readonly EventOf<typeof policyStreamEvents>[] // with ids that are texts here
  const metadata = {
    organisation_id,
    actor: { type: 'system', id: null },
    correlation_id: randomUUID(),
    causation_id: null,
    occurred_at: new Date().toISOString(),
  } as const
  await service.parts.eventLog.append(
    `policy-${id}`,
    'no_stream',
    events.map((event) => ({ id: randomUUID(), ...toStored(policyStreamEvents, event), metadata })),
  )
  return id
}

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('audited'))
  organisation_id = (await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')).body.data[0]?.id ?? ''
  stranger_id = await service.organisation('strangers')
  const { token } = await service.client(organisation_id, ['read', 'write'])
  ;({ contact_id: ada, application_id } = await customerOf(token, 'Ada'))
  ;({ contact_id: eve } = await customerOf(token, 'Eve'))
  policy_id = await policyOf(ada)
  const sees = { sees_personal_data: true }
  desk = (await memberOf(service, organisation_id, ['claims'])).key
  leads = (await memberOf(service, organisation_id, ['leads'])).key
  auditor = (await memberOf(service, organisation_id, ['auditor'], sees)).key
  strangers = (await memberOf(service, stranger_id, ['auditor', 'claims'], sees)).key
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const address = (path = '', of = organisation_id) => `/admin/v1/organisations/${of}/complaints${path}`
const post = (path: string, body: object, { token = desk, key }: { token?: string; key?: string } = {}) =>
  service.send<Complaint>('POST', address(path), {
    token,
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })
const done = async (path: string, body: object): Promise<Complaint> => {
  const { status, body: answer } = await post(path, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer.data
}
const show = async (id: string, token = desk) =>
  (await service.send<Complaint>('GET', address(`/${id}`), { token })).body.data
const list = (query: Readonly<Record<string, string>>, token = auditor, of = organisation_id) =>
  service.send<Complaint[]>('GET', address(`?${new URLSearchParams(query).toString()}`, of), { token })
const audit = <Data>(path: string, token = auditor, of = organisation_id) =>
  service.send<Data>('GET', `/audit/v1/organisations/${of}/${path}`, { token })

const complaint = (more: object = {}) => ({
  contact_id: ada,
  cause: 'administration_and_service',
  description: 'Nobody answers.',
  ...more,
})
const daysAgo = (days: number) => new Date(service.parts.clock.now().getTime() - days * dayMs).toISOString()
const upheld = { decision: 'upheld', reason: 'We should have called.' }

test('a complaint from its opening to its end, each act once', async () => {
  const key = randomUUID()
  const body = complaint({ policy_id, claim_id, cause: 'claim', received_at: daysAgo(2) })
  const both = await Promise.all([post('', body, { key }), post('', body, { key })])
  expect(both.map(({ status }) => status)).toEqual([201, 201])
  const { id } = both[0].body.data
  expect(both[1].body.data).toEqual(both[0].body.data)
  expect(both[0].body.data).toMatchObject({ state: 'open', contact_id: ada, policy_id, claim_id, overdue: false })

  const noted = { note: 'Called back.' }
  for (const again of [1, 2]) {
    const { status, body: answer } = await post(`/${id}/notes`, noted, { key: 'one note' })
    expect([again, status, answer.data.notes.map(({ note }) => note)]).toEqual([again, 200, ['Called back.']])
  }
  expect((await post(`/${id}/notes`, { note: 'Wrote.' }, { key: 'one note' })).body.error?.code).toBe(
    'idempotency_key_conflict',
  )
  expect((await post(`/${id}/redress`, { amount_pence: 5_000 })).status).toBe(409)
  expect(await done(`/${id}/decisions`, upheld)).toMatchObject({ state: 'decided' })
  expect((await done(`/${id}/decisions`, upheld)).decision?.reason).toBe(upheld.reason)
  await post(`/${id}/redress`, { amount_pence: 5_000 }, { key: 'one payment' })
  await post(`/${id}/redress`, { amount_pence: 5_000 }, { key: 'one payment' })
  await done(`/${id}/referral`, { referred_on: daysAgo(0).slice(0, 10), reference: 'PNX-1' })
  const closed = await done(`/${id}/closing`, {})

  expect(closed).toMatchObject({ state: 'closed', referral: { reference: 'PNX-1' } })
  expect(closed.redress.map(({ amount_pence }) => amount_pence)).toEqual([5_000])
  expect(closed.keep_until?.slice(0, 4)).toBe(String(Number(daysAgo(0).slice(0, 4)) + 3))
  expect(await show(id)).toEqual(closed)
})

describe('what is refused, and changes nothing', () => {
  test('a complaint about what the organisation does not have, or what is not of its person', async () => {
    const refusal = async (more: object) => {
      const { status, body } = await post('', complaint(more))
      return [status, body.error?.fields && Object.keys(body.error.fields)]
    }
    expect(await refusal({ contact_id: randomUUID() })).toEqual([422, ['contact_id']])
    expect(await refusal({ policy_id: randomUUID() })).toEqual([422, ['policy_id']])
    expect(await refusal({ contact_id: eve, policy_id })).toEqual([422, ['policy_id']])
    expect(await refusal({ contact_id: eve, application_id })).toEqual([422, ['application_id']])
    expect(await refusal({ application_id: randomUUID() })).toEqual([422, ['application_id']])
    expect(await refusal({ application_id, policy_id })).toEqual([422, ['application_id']])
    expect(await refusal({ claim_id })).toEqual([422, ['policy_id']])
    expect(await refusal({ policy_id, claim_id: randomUUID() })).toEqual([422, ['claim_id']])
    expect(await refusal({ cause: 'rudeness' })).toEqual([422, ['cause']])
    expect(await refusal({ description: ' ' })).toEqual([422, ['description']])
    expect(await refusal({ received_at: daysAgo(-1) })).toEqual([422, ['received_at']])
    const ofStrangers = await service.send('POST', address('', stranger_id), { token: strangers, body: complaint() })
    expect([ofStrangers.status, Object.keys(ofStrangers.body.error?.fields ?? {})]).toEqual([422, ['contact_id']])
  })

  test('a complaint that there is not, one of another organisation, and a role that it is no work of', async () => {
    const { id } = await done('', complaint())
    const acts = {
      notes: { note: 'x' },
      decisions: upheld,
      redress: { amount_pence: 1 },
      referral: { referred_on: '2026-01-01', reference: 'x' },
      closing: {},
    }
    for (const [act, body] of Object.entries(acts)) {
      expect([act, (await post(`/${randomUUID()}/${act}`, body)).status]).toEqual([act, 404])
      expect([act, (await post(`/${id}/${act}`, body, { token: leads })).status]).toEqual([act, 403])
      const elsewhere = address(`/${id}/${act}`, stranger_id)
      expect([act, (await service.send('POST', elsewhere, { token: strangers, body })).status]).toEqual([act, 404])
    }
    expect((await service.send('GET', address(`/${id}`, stranger_id), { token: strangers })).status).toBe(404)
    expect(await show(id)).toMatchObject({ state: 'open', notes: [], decision: null })
  })
})

test('a complaint that nobody decides within eight weeks is overdue by itself, once', async () => {
  // 57 days of 24 hours ago is 56 days ago by the calendar where a clock change lies between and it is nearly midnight.
  const { id } = await done('', complaint({ received_at: daysAgo(58) }))
  await vi.waitUntil(async () => (await show(id)).overdue, patience)

  await done(`/${id}/notes`, { note: 'Late.' })
  const { body } = await audit<{ type: string; who: { as: string; name: string } }[]>(`records/complaint/${id}/history`)
  expect(body.data.map(({ type, who }) => [type, who.as])).toEqual([
    ['ComplaintOpened', 'user'],
    ['ComplaintFellOverdue', 'timer'],
    ['ComplaintNoteAdded', 'user'],
  ])
  expect(await done(`/${id}/decisions`, upheld)).toMatchObject({
    overdue: false,
    overdue_at: expect.any(String) as string,
  })
})

describe('for whoever looks back', () => {
  let id: string
  beforeAll(async () => {
    ;({ id } = await done('', complaint({ description: 'Marigold was rude.', application_id })))
    await done(`/${id}/decisions`, { decision: 'rejected', reason: 'Nobody was rude.' })
  })

  test('the history of a complaint in sentences, with what was given as its reason', async () => {
    type Entry = { sentence: string; basis: { name: string; value: unknown }[]; changes: { path: string }[] }
    const { body } = await audit<Entry[]>(`records/complaint/${id}/history?personal=opened`)
    const [opened, decided] = body.data
    expect(opened?.sentence).toMatch(/^A complaint was opened that was received on .* \(administration and service\)/)
    expect(decided?.sentence).toMatch(/^The complaint was rejected by final response on /)
    expect(decided?.basis).toEqual([{ name: 'reason', value: 'Nobody was rude.' }])
    expect(decided?.changes.map(({ path }) => path)).toContain('state')
    const masked = await audit(`records/complaint/${id}/history`)
    expect(JSON.stringify(masked.body)).not.toMatch(/Marigold|rude/)
    expect((await audit(`records/complaint/${id}/history`, strangers, stranger_id)).status).toBe(404)
  })

  test('the complaint as it was before it was decided', async () => {
    const { body } = await audit<{ position: string; type: string }[]>(`events?record=complaint-${id}`)
    const position = body.data.find(({ type }) => type === 'ComplaintOpened')?.position ?? ''
    const query = new URLSearchParams({ address: address(`/${id}`), position })
    const shown = await audit<{ answer: { data: Complaint } }>(`as_of?${query.toString()}`)
    expect(shown.body.data.answer.data).toMatchObject({ id, state: 'open', description: 'Marigold was rude.' })
  })
})

test('question 18: complaints with their clocks and causes', async () => {
  const since = new Date().toISOString()
  const about = { contact_id: eve, cause: 'arrears' }
  const late = await done('', complaint({ ...about, received_at: '2026-03-26T23:30:00Z' }))
  const quick = await done('', complaint({ ...about, cause: 'claim', received_at: daysAgo(1) }))
  await done(`/${quick.id}/decisions`, { ...upheld, response: 'summary_resolution' })
  await done('', complaint({ cause: 'arrears', contact_id: ada }))
  await vi.waitUntil(async () => (await show(late.id)).overdue, patience)

  const rows = async (query: object) =>
    (await list({ contact_id: eve, ...query })).body.data.map((each) => [
      each.id,
      each.cause,
      each.received_at,
      each.summary_by,
      each.respond_by,
      each.refer_by === null,
      each.overdue_at,
      each.decision?.response,
    ])
  const rowOfLate = [
    late.id,
    'arrears',
    '2026-03-26T23:30:00.000Z',
    '2026-03-31',
    '2026-05-21',
    true,
    '2026-05-21T23:00:00.000Z',
    undefined,
  ]
  const { received_at, summary_by, respond_by } = quick
  const rowOfQuick = [quick.id, 'claim', received_at, summary_by, respond_by, false, null, 'summary_resolution']
  expect(await rows({})).toEqual([rowOfQuick, rowOfLate])
  expect(await rows({ cause: 'arrears' })).toEqual([rowOfLate])
  expect(await rows({ overdue: 'true' })).toEqual([rowOfLate])
  expect(await rows({ state: 'decided', since })).toEqual([rowOfQuick])
  expect(await rows({ until: since })).toEqual([])
  expect((await list({ policy_id, state: 'closed' })).body.data.map((each) => each.contact_id)).toEqual([ada])

  expect((await list({}, strangers)).status).toBe(404)
  expect((await list({}, strangers, stranger_id)).body.data).toEqual([])
})

test('an erasure waits until complaints are closed, and then nothing that was said is left', async () => {
  const { token } = await service.client(organisation_id, ['read', 'write'])
  const { contact_id } = await customerOf(token, 'Zenobia')
  const { id } = await done('', complaint({ contact_id, description: 'Zenobia waits for the fuchsia letter.' }))
  const erasure = `/admin/v1/organisations/${organisation_id}/people/${contact_id}/erasure`
  const refused = await service.send('POST', erasure, { body: {} })
  expect([refused.status, refused.body.error?.message]).toEqual([409, expect.stringContaining('complaint')])

  await done(`/${id}/notes`, { note: 'The fuchsia letter was found.' })
  await done(`/${id}/decisions`, { ...upheld, reason: 'The fuchsia letter was late.' })
  await done(`/${id}/redress`, { amount_pence: 2_500, action: 'A fuchsia apology.' })
  await done(`/${id}/referral`, { referred_on: daysAgo(0).slice(0, 10), reference: 'FUCHSIA-1' })
  await done(`/${id}/closing`, {})
  expect((await service.send('POST', erasure, { body: {} })).status).toBe(202)
  const progress = `/admin/v1/organisations/${organisation_id}/erasures/${contact_id}`
  await vi.waitUntil(
    async () => (await service.send<{ finished: boolean }>('GET', progress)).body.data.finished,
    patience,
  )

  expect(await show(id)).toMatchObject({
    state: 'closed',
    description: '',
    decision: { decision: 'upheld', reason: '' },
    redress: [{ amount_pence: 2_500, action: null }],
    referral: { reference: '' },
    notes: [{ note: '' }],
  })
  const history = await audit(`records/complaint/${id}/history?personal=opened`)
  expect([history.status, /fuchsia/i.test(JSON.stringify(history.body))]).toEqual([200, false])
  expect(await readableIn(service.parts.pool, /fuchsia|zenobia/i)).toEqual([])
  expect((await post(`/${id}/notes`, { note: 'x' })).status).toBe(404)
})
