import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConsentEntry } from '#domain/customers/events.ts'
import type { ConsentHeld, ConsentSaid } from '#domain/customers/record.ts'
import { CustomerId } from '#domain/values.ts'
import { marketingPermissions, type MarketingPermission } from '#domain/leads/record.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { organisation_id } from './builders.ts'
import { as, openLeads, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const operator = `/admin/v1/organisations/${organisation_id}`

const lead = async () => {
  const contact_id = CustomerId.parse(crypto.randomUUID())
  await fixture.know(contact_id, { first_name: 'Ada', phone_number: '+447700900123' })
  return fixture.send(undefined, { contact_id })
}

const say = async (contact_id: string, entries: readonly object[], said: object = {}) => {
  const body = { entries, method: 'by phone', ...said }
  const answer = await fixture.post(`${operator}/people/${contact_id}/consent`, body)
  await fixture.settled()
  return answer as { status: number; body: { data: { consent: ConsentHeld[] }; error?: { fields?: object } } }
}

const history = async (query: string) => {
  const { body, status } = await fixture.get(`${operator}/consent_history${query}`)
  return { status, ...(body as { data: ConsentSaid[]; next_cursor: string | null }) }
}

const activities = async (contact_id: string) => {
  const { body } = await fixture.get(`/api/v1/crm/events?type=activity.*&contact_id=${contact_id}`, as('website'))
  return (body as { data: { event_type: string; actor: object; payload: { summary: string } }[] }).data
}

const email = { purpose: 'first_party_marketing', channel: 'email' } as const

test('the team records what a person says, and that they withdraw it; the lead is told, and all of it is listed', async () => {
  const contact_id = await lead()
  const granted = { ...email, state: 'granted' }
  expect((await say(contact_id, [granted], { wording: 'May we write?' })).body.data.consent).toMatchObject([
    {
      ...granted,
      basis: 'consent',
      method: 'by phone',
      wording: 'May we write?',
      source: { type: 'operator', id: null },
    },
  ])
  fixture.at('2026-01-15T12:01:00.000Z')
  const withdrawn = await say(contact_id, [{ ...email, state: 'withdrawn' }])

  expect(withdrawn.body.data.consent).toMatchObject([{ ...email, state: 'withdrawn' }])
  expect(await activities(contact_id)).toMatchObject([
    {
      event_type: 'activity.consent_changed',
      actor: { type: 'user' },
      payload: { summary: 'Consent (by phone): first party marketing by email: granted' },
    },
    { event_type: 'activity.consent_changed', payload: { summary: expect.stringMatching(/withdrawn$/) as unknown } },
  ])
  const first = await history(`?contact_id=${contact_id}&limit=1`)
  expect(first.data).toMatchObject([{ contact_id, entries: [granted], method: 'by phone' }])
  const second = await history(`?contact_id=${contact_id}&cursor=${first.next_cursor}`)
  expect(second.data).toMatchObject([{ entries: [{ state: 'withdrawn' }] }])
  expect(await history(`?contact_id=${contact_id}&cursor=${second.next_cursor}`)).toMatchObject({
    data: [],
    next_cursor: second.next_cursor,
  })
  expect((await history('')).data.length).toBeGreaterThan(1)
})

test('what was said earlier than what is held changes nothing, nor does the same again', async () => {
  const contact_id = await lead()
  await say(contact_id, [{ ...email, state: 'refused' }], { said_at: '2026-01-10T12:00:00Z' })
  await say(contact_id, [{ ...email, state: 'granted' }], { said_at: '2026-01-09T12:00:00Z' })
  await say(contact_id, [{ ...email, state: 'refused' }], { said_at: '2026-01-10T12:00:00Z' })

  expect((await history(`?contact_id=${contact_id}`)).data).toMatchObject([{ entries: [{ state: 'refused' }] }])
})

test('what is told to be said in the future does not outlast what the person says next', async () => {
  const contact_id = await lead()
  await say(contact_id, [{ ...email, state: 'granted' }], { said_at: '9999-12-31T00:00:00Z' })

  const { body } = await say(contact_id, [{ ...email, state: 'withdrawn' }])

  expect(body.data.consent).toMatchObject([{ ...email, state: 'withdrawn' }])
})

test('whoever withdraws by the link of a message is unsubscribed', async () => {
  const contact_id = await lead()
  const people = makePeople({ writer: fixture.writer, digest: async () => Buffer.alloc(32) })
  const said = {
    entries: [{ ...email, state: 'withdrawn', basis: 'consent' }] satisfies ConsentEntry[],
    method: 'unsubscribe link',
    wording: null,
    said_at: '2026-01-15T12:00:00.000Z',
    source: { type: 'link', id: null } as const,
  }
  await people.handle(contact_id, { type: 'RecordConsent', said }, fixture.context())
  await fixture.settled()

  expect(await activities(contact_id)).toMatchObject([
    { event_type: 'activity.unsubscribed', actor: { type: 'contact' } },
  ])
})

test('the lead shows what follows from it for marketing', async () => {
  const contact_id = await lead()
  await say(contact_id, [{ ...email, state: 'granted' }])

  const { body } = await fixture.get(`${operator}/leads/${contact_id}`)

  expect((body as { data: { consent: object[]; marketing: MarketingPermission[] } }).data).toMatchObject({
    consent: [{ ...email, state: 'granted' }],
    marketing: [
      { channel: 'email', allowed: true, reason: 'granted' },
      { channel: 'sms', allowed: false, reason: 'no_consent' },
      { channel: 'whatsapp', allowed: false, reason: 'no_consent' },
      { channel: 'phone', allowed: false, reason: 'not_screened' },
      { channel: 'post', allowed: true, reason: 'no_objection' },
    ],
  })
})

test.each([
  ['clear', undefined, true, 'not_on_tps'],
  ['not_applicable', undefined, true, 'not_on_tps'],
  ['registered', undefined, false, 'on_tps'],
  ['registered', 'granted', true, 'granted'],
  ['clear', 'refused', false, 'refused'],
  ['clear', 'withdrawn', false, 'withdrawn'],
  [null, 'granted', true, 'granted'],
] as const)('a call to a number that is %s, to which the person said %s: %s', (tps, state, allowed, reason) => {
  const said = state ? [{ purpose: 'first_party_marketing', channel: 'phone', state } as const] : []

  expect(marketingPermissions(said, tps)).toContainEqual({ channel: 'phone', allowed, reason })
})

test.each([
  ['nobody', 404, crypto.randomUUID(), [{ ...email, state: 'granted' }]],
  ['an unknown channel', 422, 'lead', [{ purpose: 'service', channel: 'fax', state: 'granted' }]],
  ['nothing said', 422, 'lead', []],
])('%s: %s', async (_what, status, id, entries) => {
  const contact_id = id === 'lead' ? await lead() : id

  expect((await say(contact_id, entries)).status).toBe(status)
})

describe('what is confirmed to be a person’s', () => {
  type Verification = { readonly email_verified: boolean; readonly phone_verified: boolean }
  type Answer = { readonly status: number; readonly body: { readonly data: Verification; readonly error?: object } }

  const verify = async (contact_id: string, body: object) => {
    const answer = await fixture.post(`${operator}/people/${contact_id}/verification`, body)
    await fixture.settled()
    return answer as Answer
  }
  const linkFor = async (contact_id: string, detail: string) => {
    const { status, body } = await fixture.post(`${operator}/people/${contact_id}/verification_links`, { detail })
    const { url, expires_at } = (body as { data: { url: string; expires_at: string } }).data
    return { status, expires_at, address: url.replace('https://cover.example', '') }
  }
  const page = async (method: string, address: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await fetch(fixture.origin + address, { method, ...(method === 'POST' && { headers, body: '' }) })).text()
  }
  const shown = async (contact_id: string) =>
    ((await fixture.get(`${operator}/leads/${contact_id}`)).body as Answer['body']).data

  test('the team confirms what the person has, and takes it back; all of it is listed', async () => {
    const contact_id = await lead()
    const number = { detail: 'phone_number', value: '+447700900123', method: 'called back' }

    expect(await verify(contact_id, number)).toMatchObject({
      status: 200,
      body: { data: { contact_id, email_verified: false, phone_verified: true } },
    })
    expect(await shown(contact_id)).toMatchObject({ email_verified: false, phone_verified: true })
    await verify(contact_id, number)
    expect(await verify(contact_id, { detail: 'phone_number', verified: false, method: 'a mistake' })).toMatchObject({
      body: { data: { phone_verified: false } },
    })

    const { body } = await fixture.get(`${operator}/verification_history?contact_id=${contact_id}`)
    const source = { type: 'operator', id: null }
    expect((body as { data: object[] }).data).toMatchObject([
      { contact_id, detail: 'phone_number', value: '+447700900123', verified: true, method: 'called back', source },
      { contact_id, detail: 'phone_number', value: null, verified: false, method: 'a mistake', source },
    ])
  })

  test.each([
    ['another number than the person has', { value: '+447700900999' }, { value: expect.any(String) as unknown }],
    ['no number', {}, { value: 'required' }],
    ['no way of knowing', { value: '+447700900123', method: ' ' }, { method: expect.any(String) as unknown }],
  ])('422: %s is confirmed', async (_what, changes, fields) => {
    const contact_id = await lead()
    const body = { detail: 'phone_number', method: 'called back', ...changes }

    expect(await verify(contact_id, body)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields } },
    })
    expect((await verify(crypto.randomUUID(), { ...body, value: 'x', method: 'x' })).status).toBe(404)
  })

  test('the person confirms it by a link; looking at its page confirms nothing', async () => {
    const contact_id = await lead()
    const { status, address } = await linkFor(contact_id, 'phone_number')
    expect(status).toBe(201)

    expect(await page('GET', address)).toContain('+447700900123')
    expect((await shown(contact_id)).phone_verified).toBe(false)
    expect(await page('POST', address)).toContain('Thank you')
    expect(await page('POST', address)).toContain('Thank you')
    await fixture.settled()

    expect((await shown(contact_id)).phone_verified).toBe(true)
    const { body } = await fixture.get(`${operator}/verification_history?contact_id=${contact_id}`)
    expect((body as { data: object[] }).data).toMatchObject([{ verified: true, source: { type: 'link' } }])
  })

  test('a link stops working when the number changes, and says nothing of it then', async () => {
    const contact_id = await lead()
    const { address } = await linkFor(contact_id, 'phone_number')
    await fixture.know(contact_id, { phone_number: '+447700900456' })
    await fixture.settled()
    const { address: another } = await linkFor(contact_id, 'phone_number')
    const changed = `${another.slice(0, -1)}${another.endsWith('A') ? 'Q' : 'A'}`

    for (const dead of [address, changed, '/people/verification', '/people/verification?t=x'])
      for (const method of ['GET', 'POST']) {
        const text = await page(method, dead)
        expect(text).toContain('This link does not work')
        expect(text).not.toContain('+4477')
      }
    expect((await shown(contact_id)).phone_verified).toBe(false)
  })
})
