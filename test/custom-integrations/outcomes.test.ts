import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MappedOutcome } from '#domain/custom-integrations/events.ts'
import { CustomIntegrationId, IntegrationConnectionId } from '#domain/custom-integrations/events.ts'
import { inboundEvent } from '#domain/custom-integrations/inbound-event.ts'
import type { Outcome } from '#domain/outcomes/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { organisation_id, website } from '../leads/builders.ts'
import { openLeads, type Fixture } from '../leads/fixture.ts'
import { nobody, said } from '../outcomes/builders.ts'

let fixture: Fixture
let contact_id: CustomerId
beforeAll(async () => {
  fixture = await openLeads()
  contact_id = await fixture.send(website)
  await fixture.know(contact_id, { email: 'anna@example.org' })
  await fixture.settled()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const anna = { ...nobody, email: 'anna@example.org', match_on_details: true }

/** Another system's event is accepted, and nothing more: as if the process died right after. */
const accept = async (changes: Partial<MappedOutcome>): Promise<string> => {
  const id = crypto.randomUUID()
  await commandHandler(fixture.writer, inboundEvent).handle(
    id,
    {
      type: 'AcceptInboundEvent',
      organisation_id,
      custom_integration_id: CustomIntegrationId.parse('1c000000-0000-4000-8000-000000000001'),
      integration_connection_id: IntegrationConnectionId.parse('1c000000-0000-4000-8000-000000000002'),
      event_type: 'sale',
      event_id: `E-${id}`,
      outcome: { ...said, lead: anna, ...changes },
      policy_id: null,
      body: null,
    },
    fixture.context(),
  )
  return id
}

const after = async (changes: Partial<MappedOutcome>): Promise<string> => {
  const id = await accept(changes)
  await fixture.settled()
  return id
}

type Held = {
  readonly id: string
  readonly reason: string
  readonly faults: Readonly<Record<string, string>>
  readonly sent: MappedOutcome | null
}
const admin = `/admin/v1/organisations/${organisation_id}`
const held = async (id: string) =>
  ((await fixture.get(`${admin}/held_outcomes?limit=200`)).body as { data: Held[] }).data.find((each) => each.id === id)
const recorded = async (id: string) =>
  ((await fixture.get(`/api/v1/crm/outcomes?limit=200`)).body as { data: Outcome[] }).data.filter(
    (each) => each.id === id,
  )

test('an outcome is recorded with its lead, under the id of its event, with amounts in pounds as pence', async () => {
  const id = await after({ values: { premium: '12.50' }, note: 'by post' })

  expect(await recorded(id)).toMatchObject([
    { contact_id, type: 'quoted', source: 'webhook', event_id: `E-${id}`, values: { premium: 1250 } },
  ])
})

test('what was accepted by a process that then died is recorded by the next one, and once however often it is tried', async () => {
  const id = await accept({})
  expect(await recorded(id)).toEqual([])

  await fixture.settled()
  await fixture.reactAgain()
  await fixture.settled()

  expect(await recorded(id)).toHaveLength(1)
  expect(await held(id)).toBeUndefined()
})

test.each([
  ['by an email that nobody has', { ...anna, email: 'nobody@example.org' }, 'no_match'],
  ['by an id that no lead has', { ...nobody, id: '0b7f3a52-6f39-4f0e-9c5b-0d2c65d1a0c1' }, 'no_match'],
])('an outcome that fits no lead is held: %s', async (_how, lead, reason) => {
  const id = await after({ lead })

  expect(await held(id)).toMatchObject({ reason, sent: null })
  expect(await recorded(id)).toEqual([])
})

test('an email that two leads can be reached under fits none', async () => {
  const [one, two] = [await fixture.send(website), await fixture.send(website)]
  for (const each of [one, two]) await fixture.know(each, { phone_number: '+442079460123' })
  await fixture.settled()

  const id = await after({ lead: { ...nobody, phone: '020 7946 0123', match_on_details: true } })

  expect(await held(id)).toMatchObject({ reason: 'several_matches' })
})

test.each([
  ['of an unknown type', { type: 'signed' }, 'type'],
  ['of no type', { type: null }, 'type'],
  ['of an unknown product', { type: 'sold', product: 'nothing' }, 'product'],
  ['without a time', { occurred_at: null }, 'occurred_at'],
  ['with a time that is none', { occurred_at: 'yesterday' }, 'occurred_at'],
  ['with a part of a penny', { values: { premium: '12.505' } }, 'values.premium'],
  ['with an amount below nothing', { values: { premium: '-1' } }, 'values.premium'],
  ['with an amount that is no number', { values: { premium: '£12' } }, 'values.premium'],
  ['with a lead id that is none', { lead: { ...nobody, id: 'L-1' } }, 'lead.id'],
  ['that names its lead by nothing', { lead: nobody }, 'lead'],
  ['with an object where text should be', { unreadable: ['note'] }, 'note'],
  ['with a note that is too long', { note: 'x'.repeat(501) }, 'note'],
])('an outcome %s is held with the reason', async (_kind, changes: Partial<MappedOutcome>, fault) => {
  const id = await after(changes)

  const found = await held(id)
  expect(found).toMatchObject({ reason: 'invalid' })
  expect(Object.keys(found?.faults ?? {})).toContain(fault)
  expect(found?.sent).toEqual({ ...said, lead: anna, ...changes })
})

test('an outcome that its lead cannot have a second time is held with the reason', async () => {
  const cancelled = { type: 'cancelled', deal_ref: 'D-77' }
  const first = await after(cancelled)
  const second = await after(cancelled)

  expect(await recorded(first)).toHaveLength(1)
  expect(await recorded(second)).toEqual([])
  expect(await held(second)).toMatchObject({ reason: 'invalid', faults: { type: expect.any(String) as unknown } })
})

test('the operator corrects a held outcome, which is then recorded; correcting it again changes nothing', async () => {
  const id = await after({ type: 'signed' })
  const correction = { contact_id, type: 'quoted', occurred_at: '2026-01-15T09:00:00Z', by: 'Uma' }
  const address = `${admin}/held_outcomes/${id}/correct`

  const refused = await fixture.post(`${admin}/held_outcomes/${id}/match`, { contact_id })
  const first = await fixture.post(address, correction)
  const again = await fixture.post(address, correction)

  expect([refused.status, first.status, again.status]).toEqual([409, 200, 200])
  expect(await recorded(id)).toHaveLength(1)
  expect(await held(id)).toBeUndefined()
})

test('the operator discards a held outcome', async () => {
  const id = await after({ type: 'signed' })
  const { status } = await fixture.post(`${admin}/held_outcomes/${id}/discard`, {})

  expect(status).toBe(200)
  expect(await held(id)).toBeUndefined()
})
