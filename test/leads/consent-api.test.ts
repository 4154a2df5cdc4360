import { afterAll, beforeAll, expect, test } from 'vitest'
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
