import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerId } from '#domain/values.ts'
import { organisation_id, website } from '../leads/builders.ts'
import { openLeads, type Fixture } from '../leads/fixture.ts'
import { address, quoted, report } from './reports.ts'

let fixture: Fixture
let contact_id: CustomerId
beforeAll(async () => {
  fixture = await openLeads()
  contact_id = await fixture.send(website)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const post = (body: object) => report(fixture, body)
const fresh = () => crypto.randomUUID()
const admin = `/admin/v1/organisations/${organisation_id}/held_outcomes`

test('200: what was sent is answered with the outcome, also after a person has corrected what was held', async () => {
  const event_id = fresh()
  const sent = { ...quoted, event_id, lead: { email: `${fresh()}@example.org`, match_on_details: true } }
  const held = await post(sent)
  await fixture.post(`${admin}/${held.body.data.id}/correct`, { ...quoted, contact_id, deal_ref: 'D-9' })

  const again = await post(sent)

  expect([held.status, again.status, again.headers.get('Idempotent-Replay')]).toEqual([202, 200, 'true'])
  expect(again.body.data).toMatchObject({ id: held.body.data.id, contact_id, deal_ref: 'D-9', event_id })
})

test('a held outcome is listed for the team, answered again with 202, and recorded when it is matched', async () => {
  const lead = await fixture.send(website)
  const event_id = fresh()
  const sent = { ...quoted, event_id, lead: { email: 'carol@example.org', match_on_details: true } }
  const held = await post(sent)
  const again = await post(sent)
  expect([again.status, again.body, again.headers.get('Idempotent-Replay')]).toEqual([202, held.body, 'true'])
  const listed = async () => {
    const { body } = await fixture.get(`${admin}?limit=200`)
    return (body as { data: { id: string; lead: { email: string } }[] }).data.filter(
      ({ id }) => id === held.body.data.id,
    )
  }
  expect(await listed()).toMatchObject([{ reason: 'no_match', event_id, lead: { email: 'carol@example.org' } }])

  const matched = await fixture.post(`${admin}/${held.body.data.id}/match`, { contact_id: lead, by: 'Olive' })

  expect(matched).toMatchObject({ status: 200, body: { data: { id: held.body.data.id, contact_id: lead, event_id } } })
  expect(await listed()).toEqual([])
  expect((await post(sent)).status).toBe(200)
  const { body } = await fixture.get(`${address}?contact_id=${lead}`)
  expect(body).toMatchObject({ data: [{ id: held.body.data.id }] })
  const discarded = await fixture.post(`${admin}/${held.body.data.id}/discard`, {})
  expect(discarded).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
})

test('a held outcome that is about no lead is discarded', async () => {
  const { body } = await post({ ...quoted, lead: { email: 'dora@example.org', match_on_details: true } })

  expect((await fixture.post(`${admin}/${body.data.id}/discard`, {})).status).toBe(200)
  expect((await fixture.post(`${admin}/${body.data.id}/discard`, {})).status).toBe(200)
  expect((await fixture.post(`${admin}/${body.data.id}/match`, { contact_id })).status).toBe(409)
  expect((await fixture.post(`${admin}/${crypto.randomUUID()}/match`, { contact_id })).status).toBe(404)
})

test('a held outcome that was matched is recorded, although the process ended before it was', async () => {
  const lead = await fixture.send(website)
  const unknown = { email: `${fresh()}@example.org`, match_on_details: true }
  const held = await post({ ...quoted, lead: unknown })
  await fixture.settled()
  const { id } = held.body.data
  const by = { type: 'user', name: 'Olive' }
  await fixture.append(`outcome_report-${id}`, { type: 'HeldOutcomeMatched', data: { contact_id: lead, by } })

  await fixture.settled()
  await fixture.reactAgain()

  const { body } = await fixture.get(`${address}?contact_id=${lead}`)
  expect(body).toMatchObject({ data: [{ id, type: 'quoted' }], next_cursor: expect.any(String) as unknown })
})
