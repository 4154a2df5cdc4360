import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '#domain/outcomes/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { organisation_id, partner, website } from '../leads/builders.ts'
import { as, openLeads, type Fixture } from '../leads/fixture.ts'
import { mayReportAny } from './reporting-any.ts'
import { address, occurred_at, type Body } from './reports.ts'

/** What applications that have sent the same person see of each other, with the scope `crm` alone. */

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

type Name = 'website' | 'partner'
const ids = { website, partner }
const onlyCrm = (name: Name) => as(name, ['read', 'write', 'crm'])
const any = (name: Name) => as(name, ['read', 'write', 'outcomes'])
const operator = `/admin/v1/organisations/${organisation_id}/outcomes`

const send = async (contact_id: CustomerId, by: Name | null, external_system_id: string | null = null) => {
  await fixture.send(ids[by ?? 'website'], {
    contact_id,
    external_system_id,
    activity_id: randomUUID(),
    ...(by === null && { api_application_id: null }),
  })
  await fixture.settled()
}
const sentBy = async (...senders: readonly Name[]) => {
  const contact_id = await fixture.send(ids[senders[0] ?? 'website'])
  for (const sender of senders.slice(1)) await send(contact_id, sender)
  await fixture.settled()
  return contact_id
}
const report = async (contact_id: CustomerId, headers: Record<string, string>, changes: object = {}) => {
  const outcome = {
    type: 'sold',
    product: 'TL1',
    occurred_at,
    contact_id,
    values: { premium: 1250, commission: 40_000 },
  }
  const { status, body } = await fixture.post(address, { ...outcome, ...changes }, headers)
  expect(status).toBe(201)
  return (body as Body).data.id
}
const reverse = async (path: string, body: object, headers: Record<string, string>) => {
  const { status, body: answered } = await fixture.post(path, body, headers)
  const { data, error } = answered as Partial<Body> & { readonly error?: { readonly message: string } }
  return { status, id: data?.id, code: error?.code, message: error?.message }
}
/** What the first outcome of the person says, once more, by somebody else. */
const recordedBy = async (api_application_id: string | null, contact_id: CustomerId) => {
  const [first] = await fixture.log.read(`outcomes-${contact_id}`, { limit: 1 })
  if (!first) throw new Error('Nothing is recorded of the person.')
  const { type, schema_version, metadata } = first
  const outcome_id = randomUUID()
  const data = { ...first.data, outcome_id, api_application_id }
  await fixture.log.append(first.stream, 'any', [{ id: randomUUID(), type, schema_version, data, metadata }])
  await fixture.settled()
  return outcome_id
}
/** What the cancellations of a person cancelled, in order. */
const cancelledBy = async (contact_id: CustomerId) =>
  (await fixture.log.read(`outcomes-${contact_id}`)).flatMap(({ data }) => {
    const { outcome_type, cancels } = data as { readonly outcome_type?: string; readonly cancels?: string | null }
    return outcome_type === 'cancelled' ? [cancels ?? null] : []
  })
const listed = async (contact_id: CustomerId, headers: Record<string, string>) => {
  const { body } = await fixture.get(`${address}?contact_id=${contact_id}`, headers)
  return (body as { readonly data: readonly Outcome[] }).data.map(({ id }) => id)
}

describe('with only crm', () => {
  test('nobody sees or reverses what another sender of the same person has reported', async () => {
    const contact_id = await sentBy('website')
    const theirs = await report(contact_id, onlyCrm('website'), { event_id: 'S-1' })
    await send(contact_id, 'partner')
    const later = await report(contact_id, onlyCrm('website'))
    const own = await report(contact_id, onlyCrm('partner'))

    expect(await listed(contact_id, onlyCrm('partner'))).toEqual([own])
    expect(await listed(contact_id, onlyCrm('website'))).toEqual([theirs, later])
    for (const id of [theirs, later])
      expect(await reverse(`${address}/${id}/reverse`, {}, onlyCrm('partner'))).toMatchObject({ code: 'not_found' })
    expect(await reverse(`${address}/reverse`, { event_id: 'S-1' }, onlyCrm('partner'))).toMatchObject({ status: 404 })

    expect((await reverse(`${address}/${own}/reverse`, {}, onlyCrm('partner'))).status).toBe(200)
    const { id: reversal } = await reverse(`${operator}/${theirs}/reverse`, {}, {})
    expect(await listed(contact_id, onlyCrm('website'))).toEqual([theirs, later, reversal])
    expect(await listed(contact_id, onlyCrm('partner'))).not.toContain(reversal)
    expect(await reverse(`${address}/${reversal}/reverse`, {}, onlyCrm('partner'))).toMatchObject({ status: 404 })
    expect(await reverse(`${address}/${reversal}/reverse`, {}, onlyCrm('website'))).toMatchObject({ status: 409 })
  })

  test('all that sent the person see what no application reported, and what one with outcomes did; nobody reverses it', async () => {
    const contact_id = await sentBy('website', 'partner')
    const byOffice = await report(contact_id, any('website'))
    const ofTeam = await recordedBy(null, contact_id)

    expect(await listed(contact_id, onlyCrm('partner'))).toEqual([ofTeam])
    mayReportAny(fixture, website)
    expect(await listed(contact_id, onlyCrm('partner'))).toEqual([byOffice, ofTeam])
    fixture.directory.applications.delete(website)
    for (const id of [byOffice, ofTeam])
      expect(await reverse(`${address}/${id}/reverse`, {}, onlyCrm('partner'))).toMatchObject({ status: 404 })
  })

  test('a cancellation cancels a sale of its own sender, and of several senders no other, by the deal or without one', async () => {
    const contact_id = await sentBy('website', 'partner')
    await report(contact_id, onlyCrm('website'), { deal_ref: 'W-1' })
    await report(contact_id, onlyCrm('partner'), { type: 'cancelled', deal_ref: 'W-1', values: {} })
    const own = await report(contact_id, onlyCrm('partner'), { deal_ref: 'P-1' })
    const theirs = await report(contact_id, onlyCrm('website'), { deal_ref: 'W-2' })
    await report(contact_id, onlyCrm('partner'), { type: 'cancelled', values: {} })
    await report(contact_id, any('partner'), { type: 'cancelled', deal_ref: 'W-2', values: {} })
    expect(await cancelledBy(contact_id)).toEqual([null, own, theirs])

    const another = await sentBy('website', 'partner')
    await report(another, onlyCrm('website'))
    await report(another, onlyCrm('partner'), { type: 'cancelled', values: {} })
    expect(await cancelledBy(another)).toEqual([null])
  })

  test('of a person whom no other application sent, all outcomes are listed and reversed', async () => {
    const contact_id = await sentBy('website')
    const byAnother = await report(contact_id, any('partner'))
    expect(await listed(contact_id, onlyCrm('website'))).toEqual([byAnother])
    expect((await reverse(`${address}/${byAnother}/reverse`, {}, onlyCrm('website'))).status).toBe(200)
  })
})

describe('by its event id', () => {
  const byEvent = async (event_id: string, headers: Record<string, string>) =>
    reverse(`${address}/reverse`, { event_id }, headers)

  test('with outcomes, the only outcome of the organisation that carries it is reversed, whoever sent it', async () => {
    await report(await sentBy('website'), onlyCrm('website'), { event_id: 'E-1' })
    expect((await byEvent('E-1', any('partner'))).status).toBe(200)
    expect(await byEvent('E-1', any('partner'))).toMatchObject({ status: 409, code: 'already_reversed' })
    expect(await byEvent('E-1 of nobody', any('partner'))).toMatchObject({ status: 404 })
  })

  test('one of its own counts alone, also when it is reversed already', async () => {
    const contact_id = await sentBy('website', 'partner')
    const theirs = await report(contact_id, onlyCrm('website'), { event_id: 'E-2' })
    const own = await report(contact_id, any('partner'), { event_id: 'E-2', deal_ref: 'own' })
    expect((await byEvent('E-2', any('partner'))).status).toBe(200)
    expect(await byEvent('E-2', any('partner'))).toMatchObject({ status: 409, code: 'already_reversed' })
    expect(await reverse(`${address}/${own}/reverse`, {}, any('partner'))).toMatchObject({ code: 'already_reversed' })
    expect((await reverse(`${address}/${theirs}/reverse`, {}, any('partner'))).status).toBe(200)
  })

  test('409 event_id_ambiguous: several of the organisation carry it', async () => {
    const contact_id = await sentBy('website')
    await report(contact_id, onlyCrm('website'), { event_id: 'E-3' })
    await recordedBy(partner, contact_id)
    const answered = await byEvent('E-3', any('partner'))
    expect(answered).toMatchObject({ status: 409, code: 'event_id_ambiguous' })
    expect(answered.message).toContain('POST /api/v1/crm/outcomes/{id}/reverse')
  })
})

test('external_system_id is shown to whoever gave it, and what the team or an import gave to all', async () => {
  const seenBy = async (contact_id: CustomerId, name: Name) => {
    const page = async (path: string) => (await fixture.get(`/api/v1/crm/${path}`, onlyCrm(name))).body as Listed
    type Listed = {
      readonly data: readonly { readonly contact_id: string; readonly external_system_id: string | null }[]
    }
    const [lead, event] = [
      (await page('leads?limit=200')).data.find((each) => each.contact_id === contact_id),
      (await page(`events?contact_id=${contact_id}`)).data[0],
    ]
    expect(event?.external_system_id).toBe(lead?.external_system_id)
    return lead?.external_system_id
  }
  const both = async (contact_id: CustomerId) => [
    await seenBy(contact_id, 'website'),
    await seenBy(contact_id, 'partner'),
  ]

  const ofWebsite = await fixture.send(website, { external_system_id: 'W-1' })
  await send(ofWebsite, 'partner', 'P-1')
  expect(await both(ofWebsite)).toEqual(['W-1', null])
  await send(ofWebsite, 'partner', 'W-1')
  expect(await both(ofWebsite)).toEqual(['W-1', 'W-1'])

  const late = await sentBy('website', 'partner')
  await send(late, 'partner', 'P-2')
  expect(await both(late)).toEqual([null, 'P-2'])
  await fixture.act(late, { type: 'Mark', marks: { external_system_id: 'T-2' } })
  await fixture.settled()
  expect(await both(late)).toEqual(['T-2', 'T-2'])
  await send(late, 'partner', 'P-2')
  expect(await both(late)).toEqual(['T-2', 'T-2'])

  const imported = await sentBy('website')
  await send(imported, null, 'I-3')
  await send(imported, 'partner')
  expect(await both(imported)).toEqual(['I-3', 'I-3'])
})

test('with only crm: whoever follows the list passes what it does not see once, and so much of it at a time', async () => {
  const contact_id = await sentBy('website', 'partner')
  const page = async (cursor: string | null) => {
    const query = `?contact_id=${contact_id}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`
    const { body } = await fixture.get(`${address}${query}`, onlyCrm('partner'))
    const { data, next_cursor } = body as { readonly data: readonly Outcome[]; readonly next_cursor: string | null }
    return { ids: data.map(({ id }) => id), next_cursor }
  }
  const hidden = await report(contact_id, onlyCrm('website'))
  const first = await page(null)
  expect(first).toEqual({ ids: [], next_cursor: expect.stringMatching(/./) as unknown })
  expect(await page(first.next_cursor)).toEqual(first)

  // As after 6,000 more that another has reported.
  await fixture.pool.query(
    `insert into outcomes select organisation_id, viewer_id, overlay(id::text placing lpad(number::text, 8, '0') from 1)::uuid,
       "position" || '!' || lpad(number::text, 4, '0'), contact_id, type, deal_ref, document, reporter_id, event_id
     from outcomes, generate_series(1, 6000) as number where id = $1`,
    [hidden],
  )
  await fixture.pool.query('analyze outcomes')
  const own = await report(contact_id, onlyCrm('partner'))
  const passed = await page(first.next_cursor)
  expect(passed.ids).toEqual([])
  const { ids, next_cursor } = await page(passed.next_cursor)
  expect(ids).toEqual([own])
  expect(await page(next_cursor)).toEqual({ ids: [], next_cursor })
})
