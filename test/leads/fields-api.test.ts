import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { LeadRecord } from '#domain/leads/record.ts'
import { leadService, stranger, type LeadService } from '../ingests/fixture.ts'

/** Fields of answers about leads that no other test looks at over HTTP. */

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const read = async <Data>(path: string): Promise<Data> =>
  (await service.send<Data>('GET', `${service.admin}${path}`)).body.data
const later = (instant: string, minutes: number) => new Date(Date.parse(instant) + minutes * 60_000).toISOString()
const anInstant = expect.stringMatching(/^20\d\d-/) as string

test('a lead shows who sent it, by when it is to be contacted and when it goes dormant', async () => {
  const identity = stranger()
  const { contact_id } = await service.process({ identity })
  await service.process({ identity }, service.another)

  const lead = await read<LeadRecord>(`/leads/${contact_id}`)
  const { created_at } = lead.shown
  expect(lead).toMatchObject({
    senders: [service.sender.client_id, service.another.client_id],
    first_contact_due_at: later(created_at, 60),
    first_contacted_at: null,
    first_contact_overdue: false,
    next_action_overdue: false,
  })
  expect(lead.dormant_at).toMatch(/^20/)
  expect(Date.parse(lead.dormant_at ?? '')).toBeGreaterThanOrEqual(Date.parse(later(created_at, 30 * 24 * 60)))

  const acts = [{ act: 'record_activity', kind: 'call', summary: 'Rang', direction: 'outbound' }]
  await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
  expect(await read(`/leads/${contact_id}`)).toMatchObject({
    first_contacted_at: anInstant,
    first_contact_due_at: null,
  })
})

test('the team sees by what a person was known, and whether they are a lead for the first time', async () => {
  const identity = stranger()
  const first = await service.process({ identity })
  const again = await service.process({ identity: { email: identity.email } })

  expect(await read(`/ingests/${first.id}`)).toMatchObject({ matched_by: 'nothing', is_new_lead: true })
  expect(await read(`/ingests/${again.id}`)).toMatchObject({ matched_by: 'email', is_new_lead: false })
})

test('what was sent is shown with its consent, and its provenance with the ids of clicks', async () => {
  const consent = { method: 'checkbox', service: { phone: true }, first_party_marketing: { email: false } }
  const click_ids = { gclid: 'Cj0' }
  const { id, provenance } = await service.process({ identity: stranger(), consent, provenance: { click_ids } })

  expect(provenance).toEqual({ click_ids })
  expect(await read(`/ingest_contents/${id}`)).toMatchObject({
    provenance: { click_ids },
    consent: { purposes: { service: { phone: true }, first_party_marketing: { email: false } } },
  })
})

test('values that differ and outcomes that are held are listed with the time since when', async () => {
  const identity = stranger()
  const { contact_id } = await service.process({ identity })
  const { id } = await service.process({ identity: { ...identity, first_name: 'Adele' } })
  const lead = { email: 'unheard@example.com', match_on_details: true }
  await service.send('POST', '/api/v1/crm/outcomes', {
    token: service.sender.token,
    body: { lead, type: 'lost', occurred_at: '2026-01-15' },
  })

  await vi.waitFor(
    async () => {
      const proposed = { [id]: { first_name: 'Adele' } }
      expect(await read('/proposed_details')).toMatchObject([{ contact_id, proposed, proposed_at: anInstant }])
      expect(await read('/held_outcomes')).toMatchObject([{ reason: 'no_match', held_at: anInstant }])
    },
    { timeout: 60_000, interval: 20 },
  )
})

test('a campaign shows the pattern of a rule, and the model which outcomes can be repeated', async () => {
  const rules = [{ rule: 'format', field: 'reference', format: 'pattern', pattern: '^[A-Z]{3}$' }]
  const body = { key: 'by-reference', name: 'By reference', rules }
  const made = await service.send<{ id: string }>('POST', `${service.admin}/campaigns`, { body })
  expect(made).toMatchObject({ status: 201, body: { data: { rules } } })
  expect(await read(`/campaigns/${made.body.data.id}`)).toMatchObject({ rules })

  const model = await service.send<{ types: { key: string; repeatable: boolean }[] }>(
    'GET',
    '/api/v1/crm/outcomes/model',
    {
      token: service.sender.token,
    },
  )
  const repeatable = Object.fromEntries(model.body.data.types.map((type) => [type.key, type.repeatable]))
  expect(repeatable).toMatchObject({ quoted: true, cancelled: false })
})
