import { afterAll, beforeAll, expect, test } from 'vitest'
import { LeadStatus } from '#domain/leads/events.ts'
import { CampaignId, type CustomerId } from '#domain/values.ts'
import { placesBehind } from '../../projections/place.ts'
import { activity, organisation_id, partner, website } from './builders.ts'
import { as, openLeads, type CallerName, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

type Lead = {
  readonly contact_id: string
  readonly status: LeadStatus
  readonly terminal: boolean
  readonly updated_at: string
}
type Page = { readonly data: readonly Lead[]; readonly next_cursor: string | null }

const page = async (query = '', caller: CallerName = 'partner') => {
  const { status, body } = await fixture.get(`/api/v1/crm/leads${query}`, as(caller))
  return { status, ...(body as Page) }
}
const eventsSince = async (since: string): Promise<Page> =>
  (await fixture.get(`/api/v1/crm/events?since=${since}`, as('partner'))).body as Page
const idsOf = ({ data }: Page) => data.map(({ contact_id }) => contact_id)

/** The cursor after all that the partner's feed holds now. */
const end = async (): Promise<string> => {
  let cursor = ''
  for (;;) {
    const { data, next_cursor } = await page(cursor === '' ? '' : `?cursor=${cursor}`)
    if (data.length === 0) return next_cursor ?? ''
    cursor = next_cursor ?? ''
  }
}
const after = (cursor: string, rest = '') => `?${cursor === '' ? '' : `cursor=${cursor}`}${rest}`

const note = (contact_id: CustomerId) =>
  fixture.act(contact_id, {
    type: 'RecordActivity',
    activity_id: crypto.randomUUID(),
    kind: 'note',
    summary: 'Looked at it',
    happened_at: '2026-01-15T12:00:00.000Z',
  })

test('a feed that holds nothing has no cursor', async () => {
  expect(await page()).toEqual({ status: 200, data: [], next_cursor: null })
})

test('200: a lead that this application sent, with every field of a lead', async () => {
  const contact_id = await fixture.send(website)

  const { data } = await page('', 'website')

  expect(data).toEqual([
    {
      contact_id,
      external_system_id: null,
      status: 'open',
      terminal: false,
      stage: { key: 'new', name: 'New', kind: 'open', probability: 10 },
      stage_entered_at: '2026-01-15T12:00:00.000Z',
      owner_assigned: false,
      score: 0,
      campaign_id: null,
      first_touched_at: null,
      last_touched_at: null,
      created_at: '2026-01-15T12:00:00.000Z',
      updated_at: expect.any(String) as string,
    },
  ])
})

test('a lead that changes comes round again, after those that changed before', async () => {
  const cursor = await end()
  const [one, two] = [await fixture.send(partner), await fixture.send(partner)]
  expect(idsOf(await page(after(cursor)))).toEqual([one, two])

  await note(one)

  expect(idsOf(await page(after(cursor)))).toEqual([two, one])
})

test('a page ends where limit says, its cursor leads to the next, and an empty page returns the cursor sent', async () => {
  const cursor = await end()
  const [one, two] = [await fixture.send(partner), await fixture.send(partner)]

  const first = await page(after(cursor, '&limit=1'))
  const second = await page(`?limit=1&cursor=${first.next_cursor}`)
  const third = await page(`?cursor=${second.next_cursor}`)

  expect([idsOf(first), idsOf(second), idsOf(third)]).toEqual([[one], [two], []])
  expect(third.next_cursor).toBe(second.next_cursor)
})

test('an application sees only the leads that it sent, and one sent by two stands in the feed of both', async () => {
  const cursor = await end()
  const contact_id = await fixture.send(website)
  expect(idsOf(await page(after(cursor)))).toEqual([])

  await fixture.act(contact_id, {
    type: 'ReceiveLead',
    organisation_id,
    contact_id,
    api_application_id: partner,
    source: 'partner',
    source_reference: null,
    ingest_id: crypto.randomUUID(),
    external_system_id: 'CRM-1',
    activity_id: activity(1),
    summary: 'Sent a form',
    happened_at: '2026-01-15T12:00:00.000Z',
  })

  expect(await page(after(cursor))).toMatchObject({
    data: [{ contact_id, external_system_id: 'CRM-1', status: 'open' }],
  })
  expect(idsOf(await page('?limit=200', 'website'))).toContain(contact_id)
  expect(idsOf(await page('?limit=200', 'stranger'))).toEqual([])
})

test('leads of some statuses are listed, and of one campaign', async () => {
  const cursor = await end()
  const campaign = { id: CampaignId.parse('ca000000-0000-4000-8000-000000000007'), key: 'summer' }
  const [open, won] = [await fixture.send(partner), await fixture.send(partner, {}, campaign)]
  await fixture.act(won, { type: 'ChangeStatus', status: 'won', reason: null })

  expect(idsOf(await page(after(cursor, '&status=won')))).toEqual([won])
  expect(idsOf(await page(after(cursor, '&status=won,open')))).toEqual([open, won])
  expect(idsOf(await page(after(cursor, `&campaign_id=${campaign.id}`)))).toEqual([won])
  expect(idsOf(await page(after(cursor, `&campaign_id=${campaign.id}&status=open`)))).toEqual([])
})

test('every status is listed, with whether it is final, and by every status leads are found', async () => {
  const cursor = await end()
  const address = `/admin/v1/organisations/${organisation_id}/leads`
  const ended: readonly LeadStatus[] = LeadStatus.options.filter((status) => status !== 'open' && status !== 'dormant')
  for (const status of ended) {
    const contact_id = await fixture.send(partner)
    const acted = await fixture.post(`${address}/${contact_id}/acts`, { acts: [{ act: 'change_status', status }] })
    expect(acted.status).toBe(200)
  }
  const asleep = await fixture.send(partner)
  fixture.at('2026-06-01T12:00:00.000Z')
  await fixture.act(asleep, { type: 'GoDormant' })
  fixture.at('2026-01-15T12:00:00.000Z')
  await fixture.send(partner)

  const found = await Promise.all(
    LeadStatus.options.map(async (status) => (await page(after(cursor, `&status=${status}`))).data),
  )

  expect(found.map((leads) => leads.map(({ status, terminal }) => [status, terminal]))).toEqual(
    LeadStatus.options.map((status) => [[status, ended.includes(status)]]),
  )
})

test('what happened long ago and is recorded now, by a timer that is late, has changed now', async () => {
  await fixture.send(partner)
  const asked = new Date().toISOString()
  const late = await fixture.send(partner)

  const { data } = await page(`?updated_since=${asked}`)

  expect(data.at(-1)?.contact_id).toBe(late)
  expect(data.every(({ updated_at }) => updated_at >= asked)).toBe(true)
})

test('what was shown late, after trouble with its record, has changed when it was shown, for who asks by time alone', async () => {
  const [late, later] = [await fixture.send(partner), await fixture.send(partner)]
  const asked = new Date().toISOString()
  const nothing = await Promise.all([page(`?updated_since=${asked}`), eventsSince(asked)])
  expect(nothing.flatMap(({ data }) => data)).toEqual([])

  const upTo = (await fixture.log.readAll()).at(-1)?.position ?? expect.fail()
  for (const name of ['leads', 'lead_events']) {
    const behind = await placesBehind(fixture.pool, { name }, upTo)
    await fixture.pool.query(`update ${name} set position = $1 || position where contact_id = $2`, [behind(''), late])
  }

  expect(idsOf(await page(`?updated_since=${asked}`))).toEqual([late])
  expect((await eventsSince(asked)).data).toMatchObject([{ contact_id: late, event_type: 'lead.created' }])
  const after_that = new Date(Date.now() + 1_000).toISOString()
  expect((await page(`?updated_since=${after_that}`)).data).toEqual([])
  expect(idsOf(await page(`?updated_since=2026-01-15T00:00:00Z&limit=200`)).slice(-2)).toEqual([later, late])
})

test('updated_since begins with what changed at or after that time, and is ignored with a cursor', async () => {
  const early = await fixture.send(partner)
  fixture.at('2199-01-20T12:00:00.000Z')
  const cursor = await end()
  const late = await fixture.send(partner)

  expect(idsOf(await page('?updated_since=2199-01-20T12:00:00Z'))).toEqual([late])
  expect(idsOf(await page('?updated_since=2199-01-20T13:00:00%2B01:00'))).toEqual([late])
  expect(idsOf(await page('?updated_since=2199-01-21T00:00:00Z'))).toEqual([])
  expect(idsOf(await page(after(cursor, '&updated_since=2200-01-01T00:00:00Z')))).toEqual([late])
  expect(idsOf(await page('?updated_since=2026-01-15T00:00:00Z&limit=200'))).toContain(early)
  fixture.at('2026-01-15T12:00:00.000Z')
})

test.each([
  ['cursor=nonsense', 'cursor'],
  [`cursor=${Buffer.from('["events","1"]').toString('base64url')}`, 'cursor'],
  ['updated_since=yesterday', 'updated_since'],
  ['status=open,asleep', 'status'],
  ['status=', 'status'],
  ['campaign_id=summer', 'campaign_id'],
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=1e2', 'limit'],
  ['limit=0x10', 'limit'],
  ['limit=%2010', 'limit'],
  ['limit=%2B5', 'limit'],
  ['limit=1&limit=2', 'limit'],
])('422 invalid_parameter: %s', async (query, field) => {
  const { status, body } = await fixture.get(`/api/v1/crm/leads?${query}`, as('partner'))

  expect(status).toBe(422)
  expect(body).toMatchObject({ error: { code: 'invalid_parameter' } })
  const { fields } = (body as { error: { fields: Record<string, string> } }).error
  expect(Object.keys(fields)[0]).toMatch(new RegExp(`^${field}`))
})
