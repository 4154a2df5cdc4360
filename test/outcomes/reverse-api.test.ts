import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LeadStatus } from '#domain/leads/events.ts'
import type { Outcome } from '#domain/outcomes/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { organisation_id, partner, website } from '../leads/builders.ts'
import { as, openLeads, type Fixture } from '../leads/fixture.ts'
import { mayReportAny } from './reporting-any.ts'
import { address, occurred_at, type Body } from './reports.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const crm = ['read', 'write', 'crm'] as const

type Page = { readonly data: readonly Outcome[]; readonly next_cursor: string | null }

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answered = await fixture.post(`${address}${path}`, body, headers)
  return { ...answered, body: answered.body as Body }
}
const report = async (contact_id: CustomerId, changes: object = {}) => {
  const { body } = await post('', { type: 'quoted', occurred_at, contact_id, values: { premium: 100 }, ...changes })
  return body.data
}
const sale = (contact_id: CustomerId, deal_ref: string) =>
  report(contact_id, { type: 'sold', product: 'TL1', deal_ref, values: { premium: 1250 } })
const cancel = (contact_id: CustomerId, deal_ref: string | undefined) =>
  report(contact_id, { type: 'cancelled', deal_ref, reason: 'cooling_off', values: {} })
const page = async (query: string, headers: Record<string, string> = {}) => {
  const { status, body } = await fixture.get(`${address}${query}`, headers)
  return { status, ...(body as Page) }
}
const lead = async (contact_id: CustomerId) => {
  await fixture.settled()
  return (await fixture.leads.find(organisation_id, contact_id))?.record
}

test('200: an outcome is reversed by its id; both are kept, and the reversal points at the original', async () => {
  const contact_id = await fixture.send()
  const outcome = await report(contact_id, { event_id: 'R-1', deal_ref: 'D-1' })

  const { status, body } = await post(`/${outcome.id}/reverse`, { note: 'entered twice' })

  expect(status).toBe(200)
  expect(body.data).toEqual({
    ...outcome,
    id: body.data.id,
    event_id: null,
    occurred_at: '2026-01-15T12:00:00.000Z',
    reversal_of: outcome.id,
  })
  expect((await page(`?contact_id=${contact_id}`)).data).toEqual([{ ...outcome, reversed: true }, body.data])
})

test('an outcome is reversed by the event id that it was sent with', async () => {
  const outcome = await report(await fixture.send(), { event_id: 'R-2' })

  expect((await post('/reverse', { event_id: 'R-2' }, as('partner', crm))).status).toBe(404)
  const { status, body } = await post('/reverse', { event_id: 'R-2' })

  expect([status, body.data.reversal_of]).toEqual([200, outcome.id])
})

test('a cancelled sale makes a won lead lost, and leaves one alone that somebody works again or has ruled out', async () => {
  const after = async (...acts: Parameters<Fixture['act']>[1][]) => {
    const contact_id = await fixture.send()
    await sale(contact_id, 'D-1')
    expect((await lead(contact_id))?.shown.status).toBe('won')
    await fixture.act(contact_id, ...acts)
    await cancel(contact_id, 'D-1')
    const { shown, activities } = (await lead(contact_id)) ?? {}
    expect(activities).toMatchObject({ outcome: 2 })
    return [shown?.status, shown?.stage.key]
  }
  const become = (status: LeadStatus) => ({ type: 'ChangeStatus', status, reason: null }) as const

  expect(await after()).toEqual(['lost', 'lost'])
  expect(await after(become('open'), { type: 'MoveToStage', stage: 'quoted' })).toEqual(['open', 'quoted'])
  expect(await after(become('open'), become('duplicate'))).toEqual(['duplicate', 'new'])
})

test('409 already_reversed: one that is reversed, and one that is a reversal', async () => {
  const outcome = await report(await fixture.send())
  const { body } = await post(`/${outcome.id}/reverse`, {})

  const again = await post(`/${outcome.id}/reverse`, {})
  const ofReversal = await post(`/${body.data.id}/reverse`, {})

  expect([again.status, again.body.error.code]).toEqual([409, 'already_reversed'])
  expect([ofReversal.status, ofReversal.body.error.code]).toEqual([409, 'already_reversed'])
})

test('two reversals at once: one 200, one 409', async () => {
  const outcome = await report(await fixture.send(), { event_id: 'R-3' })

  const answers = await Promise.all([post(`/${outcome.id}/reverse`, {}), post('/reverse', { event_id: 'R-3' })])

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
})

test('404 not_found: an unknown outcome, an unknown event id, and with only crm one of a lead that another sent', async () => {
  const outcome = await report(await fixture.send(website))

  expect((await post(`/${crypto.randomUUID()}/reverse`, {})).status).toBe(404)
  expect(await post('/reverse', { event_id: 'R-0' })).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found', fields: { event_id: 'no outcome is recorded under it' } } },
  })
  expect((await post(`/${outcome.id}/reverse`, {}, as('partner', crm))).status).toBe(404)
  expect((await post(`/${outcome.id}/reverse`, {}, as('stranger'))).status).toBe(404)
  expect((await post(`/${outcome.id}/reverse`, {}, as('website', crm))).status).toBe(200)
})

test('422 validation_failed: a missing event id, a note of more than 500 characters', async () => {
  const outcome = await report(await fixture.send())

  const missing = await post('/reverse', {})
  const long = await post(`/${outcome.id}/reverse`, { note: 'x'.repeat(501) })

  expect([missing.status, Object.keys(missing.body.error.fields ?? {})]).toEqual([422, ['event_id']])
  expect([long.status, Object.keys(long.body.error.fields ?? {})]).toEqual([422, ['note']])
})

test('200: outcomes in the order of recording, page by page; an empty page returns the cursor sent', async () => {
  const contact_id = await fixture.send()
  const [one, two] = [await report(contact_id), await report(contact_id, { deal_ref: 'D-7' })]
  const first = await page(`?contact_id=${contact_id}&limit=1`)
  const second = await page(`?contact_id=${contact_id}&cursor=${first.next_cursor}`)
  const third = await page(`?contact_id=${contact_id}&cursor=${second.next_cursor}`)

  expect([first.data, second.data]).toEqual([[one], [two]])
  expect(third).toEqual({ status: 200, data: [], next_cursor: second.next_cursor })
  expect((await page('?deal_ref=D-7')).data).toEqual([two])
  expect((await page('?type=lost')).data).toEqual([])
})

test('with only crm, only outcomes of leads that this application sent are listed', async () => {
  const [ours, theirs] = [await fixture.send(partner), await fixture.send(website)]
  const [own] = [await report(ours), await report(theirs)]

  expect((await page('?limit=200', as('partner', crm))).data).toEqual([own])
  expect((await page('?limit=200', as('partner'))).data.length).toBeGreaterThan(2)
  expect((await page('?limit=200', as('stranger'))).data).toEqual([])
})

test('an application that sends a lead later reads on to what was recorded before, reversals included, each once', async () => {
  mayReportAny(fixture, website)
  const contact_id = await fixture.send(website)
  const first = await report(contact_id)
  const { body: reversal } = await post(`/${first.id}/reverse`, {})
  await report(await fixture.send(partner))
  const partnerPage = async (query: string) => page(query, as('partner', crm))
  const { next_cursor } = await partnerPage('?limit=200')

  await fixture.send(partner, { contact_id })
  const { data: shown } = await post(`/${(await report(contact_id)).id}/reverse`, {}).then(({ body }) => body)
  await fixture.settled()
  await fixture.reactAgain()
  await fixture.settled()

  const { data } = await partnerPage(`?cursor=${next_cursor}&contact_id=${contact_id}`)
  expect(data.map(({ id }) => id)).toEqual([first.id, reversal.data.id, shown.reversal_of, shown.id])
  expect(data.map(({ reversed }) => reversed)).toEqual([true, false, true, false])
  expect((await partnerPage(`?limit=200&contact_id=${contact_id}`)).data).toEqual(data)
})

test('what was recorded while another application sent the lead is shown to it', async () => {
  mayReportAny(fixture, website)
  const contact_id = await fixture.send(website)
  const recorded = await report(contact_id)
  await fixture.settled()

  // As a process writes that does not know of the sending yet.
  await fixture.send(partner, { contact_id })
  await fixture.happened('OutcomeRecorded.v1', `outcomes-${contact_id}`)
  await fixture.settled()

  const { data } = await page(`?contact_id=${contact_id}`, as('partner', crm))
  expect(data.map(({ id }) => id)).toEqual([recorded.id, '0c000000-0000-4000-8000-000000000001'])
})

test.each([
  ['type=teleported', 'type'],
  ['cursor=nonsense', 'cursor'],
  ['contact_id=1', 'contact_id'],
  ['limit=201', 'limit'],
])('422 invalid_parameter: %s', async (query, field) => {
  for (const list of [address, `/admin/v1/organisations/${organisation_id}/outcomes`]) {
    const { status, body } = await fixture.get(`${list}?${query}`)

    expect(status).toBe(422)
    const { code, fields } = (body as Body).error
    expect([code, Object.keys(fields ?? {})]).toEqual(['invalid_parameter', [field]])
  }
})

test('200: the outcome model shows types, measures and products', async () => {
  const { status, body } = await fixture.get(`${address}/model`, as('partner', crm))

  expect(status).toBe(200)
  expect(body).toMatchObject({
    data: {
      types: [{ key: 'quoted' }, { key: 'sold' }, { key: 'cancelled' }, { key: 'commission_paid' }, { key: 'lost' }],
      products: [{ key: 'term-life', name: 'Term life', aliases: ['TL1'] }],
    },
  })
  const { types, measures } = (body as { data: { types: { key: string; values: unknown }[]; measures: unknown[] } })
    .data
  expect(types.find(({ key }) => key === 'sold')?.values).toContainEqual({
    key: 'annual_premium',
    required: false,
    calculated: true,
  })
  expect(measures).toContainEqual({ key: 'premium', label: 'Monthly premium', unit: 'money' })
})

test('quoted moves the lead to the stage quoted, sold makes it won, and both stand on its timeline', async () => {
  const contact_id = await fixture.send()
  await report(contact_id)
  expect(await lead(contact_id)).toMatchObject({ shown: { status: 'open', stage: { key: 'quoted' } } })

  await sale(contact_id, 'D-1')

  expect(await lead(contact_id)).toMatchObject({
    shown: { status: 'won', stage: { key: 'won' } },
    activities: { outcome: 2 },
  })
})

test('a lead stays won while a sale stands; cancelling the only one makes it lost with the reason', async () => {
  const contact_id = await fixture.send()
  await sale(contact_id, 'D-1')
  await sale(contact_id, 'D-2')

  await cancel(contact_id, 'D-1')
  expect(await lead(contact_id)).toMatchObject({ shown: { status: 'won' } })
  await cancel(contact_id, 'D-2')

  expect(await lead(contact_id)).toMatchObject({
    shown: { status: 'lost', stage: { kind: 'lost' } },
    outcome_reason: 'cooling_off',
  })
})

test('cancelling a deal that was never sold changes nothing about the lead, nor does a commission', async () => {
  const contact_id = await fixture.send()
  await sale(contact_id, 'D-1')

  await cancel(contact_id, 'D-99')
  await report(contact_id, { type: 'commission_paid', values: { commission: 100 } })

  expect(await lead(contact_id)).toMatchObject({ shown: { status: 'won' }, activities: { outcome: 3 } })
})

test('lost makes the lead lost; reversing it leaves it so and asks somebody to look', async () => {
  const contact_id = await fixture.send()
  const outcome = await report(contact_id, { type: 'lost', reason: 'price', values: {} })
  expect(await lead(contact_id)).toMatchObject({ shown: { status: 'lost' }, outcome_reason: 'price' })

  await post(`/${outcome.id}/reverse`, {})

  const record = await lead(contact_id)
  expect(record).toMatchObject({ shown: { status: 'lost' }, activities: { outcome_reversed: 1 } })
  expect(record?.tasks).toHaveLength(1)
})

test('the team reverses an outcome, whoever reported it', async () => {
  const outcome = await report(await fixture.send())
  const admin = `/admin/v1/organisations/${organisation_id}/outcomes/${outcome.id}/reverse`

  const { status, body } = await fixture.post(admin, { note: 'mistaken', by: 'Olive' })

  expect([status, (body as Body).data.reversal_of, (body as Body).data.source]).toEqual([200, outcome.id, 'manual'])
})
