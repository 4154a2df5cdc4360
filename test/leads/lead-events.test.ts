import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LeadFeedEvent } from '#domain/lead-feed/record.ts'
import { CampaignId, CustomerId } from '#domain/values.ts'
import { eventPage } from '../../query-api/leads/routes.ts'
import { activity, olive, organisation_id, partner, website } from './builders.ts'
import { as, openLeads, type CallerName, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

type Page = { readonly data: readonly LeadFeedEvent[]; readonly next_cursor: string | null }

const page = async (query: string, caller: CallerName = 'website') => {
  const { status, body } = await fixture.get(`/api/v1/crm/events${query}`, as(caller))
  return { status, ...(body as Page) }
}
const of = (contact_id: string, rest = '', caller: CallerName = 'website') =>
  page(`?contact_id=${contact_id}${rest}`, caller)
const typesOf = ({ data }: Page) => data.map(({ event_type }) => event_type)
const payloadsOf = ({ data }: Page) => data.map(({ event_type, payload }) => [event_type, payload])

const now = '2026-01-15T12:00:00.000Z'
const later = '2026-01-16T12:00:00.000Z'

test('200: an event with every field of an event', async () => {
  const campaign = { id: CampaignId.parse('ca000000-0000-4000-8000-000000000007'), key: 'summer' }
  const ingest_id = crypto.randomUUID()
  const sent = { ingest_id, external_system_id: 'CRM-1', source_reference: 'form 17' }
  const contact_id = await fixture.send(website, sent, campaign)

  const { data } = await of(contact_id)

  expect(data).toEqual([
    {
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      event_type: 'lead.created',
      occurred_at: now,
      recorded_at: expect.stringMatching(/Z$/) as unknown,
      contact_id,
      external_system_id: 'CRM-1',
      campaign_id: campaign.id,
      campaign_key: 'summer',
      payload: { source: 'website', source_reference: 'form 17', ingest_id },
      actor: { type: 'api', name: 'Website' },
    },
  ])
})

test('every act on a lead is told with the payload of its type, and what concerns only the team is not', async () => {
  const contact_id = await fixture.send()
  const task_id = crypto.randomUUID()
  await fixture.act(
    contact_id,
    { type: 'RecordFacts', facts: { smoker: 'no' }, ingest_id: null, mode: 'store' },
    { type: 'RecordFacts', facts: { smoker: 'yes' }, ingest_id: null, mode: 'propose' },
    { type: 'MoveToStage', stage: 'contacted' },
    { type: 'AssignOwner', owner_id: olive.id },
    { type: 'FlagVulnerability', flagged: true, details: 'Recently bereaved' },
    { type: 'AddTask', task_id, title: 'Send the brochure', due_at: null },
    { type: 'CompleteTask', task_id },
    { type: 'Snooze', until: later },
    { type: 'EndSnooze' },
    { type: 'Mark', marks: { priority: 'high' } },
    { type: 'RecordDetailsChange', changed: ['phone_number'] },
    {
      type: 'RecordTps',
      status: 'clear',
      phone_number: '+447700900123',
      screened_at: now,
      expires_at: later,
      planned_at: now,
    },
    {
      type: 'RecordActivity',
      activity_id: activity(1),
      kind: 'booking',
      summary: 'Booked a call',
      channel: 'phone',
      direction: 'inbound',
      happened_at: now,
    },
    { type: 'ChangeStatus', status: 'lost', reason: 'price' },
    { type: 'SetOutcomeReason', reason: 'price', note: 'Too dear' },
  )

  expect(payloadsOf(await of(contact_id)).slice(1)).toEqual([
    ['lead.facts_recorded', { keys: ['smoker'], ingest_id: null }],
    ['lead.stage_changed', { from: 'new', to: 'contacted', from_kind: 'open', to_kind: 'open' }],
    ['lead.owner_assigned', { from: null, to: { id: olive.id, name: olive.full_name } }],
    ['lead.vulnerability_flagged', { flagged: true }],
    ['lead.task_completed', { task_id, title: 'Send the brochure' }],
    ['lead.snooze_ended', { snoozed_until: later }],
    ['contact.details_changed', { changes: { phone_number: true } }],
    ['lead.tps_screened', { status: 'clear', screened_at: now, expires_at: later }],
    [
      'activity.booking',
      {
        activity_id: activity(1),
        kind: 'booking',
        summary: 'Booked a call',
        channel: 'phone',
        direction: 'inbound',
        related: null,
      },
    ],
    ['lead.status_changed', { from: 'open', to: 'lost', reason: 'price' }],
    ['lead.stage_changed', { from: 'contacted', to: 'lost', from_kind: 'open', to_kind: 'lost' }],
    ['lead.outcome_reason_set', { reason: 'price', note: 'Too dear' }],
    ['lead.grade_changed', { from: 'E', to: 'D', score: 30 }],
  ])
})

test('events of some types are listed, all activities by activity.*, and none of a type that there is not yet', async () => {
  const contact_id = await fixture.send()
  const call = { type: 'RecordActivity', kind: 'call', summary: 'Rang', happened_at: now } as const
  await fixture.act(
    contact_id,
    { ...call, activity_id: activity(2) },
    { ...call, kind: 'note', activity_id: activity(3) },
  )

  expect(typesOf(await of(contact_id, '&type=lead.created,activity.call'))).toEqual(['lead.created', 'activity.call'])
  expect(typesOf(await of(contact_id, '&type=activity.*,activity.call'))).toEqual(['activity.call', 'activity.note'])
  expect(typesOf(await page('?type=activity.*&limit=200'))).toContain('activity.note')
  expect(await page('?type=lead.teleported')).toEqual({ status: 200, data: [], next_cursor: null })
})

test('the feed is append-only: pages follow each other by cursor, oldest first, and an empty page returns the cursor sent', async () => {
  const one = await page('?limit=2')
  const two = await page(`?limit=200&cursor=${one.next_cursor}`)
  const three = await page(`?cursor=${two.next_cursor}`)

  expect(one.data).toHaveLength(2)
  const all = await page('?limit=200')
  expect([...one.data, ...two.data]).toEqual(all.data)
  expect(three).toEqual({ status: 200, data: [], next_cursor: two.next_cursor })
})

test('an application is told of a lead from the moment at which it sent it', async () => {
  const contact_id = await fixture.send(website)
  expect(await of(contact_id, '', 'partner')).toMatchObject({ data: [] })

  await fixture.act(contact_id, {
    type: 'ReceiveLead',
    organisation_id,
    contact_id: CustomerId.parse(contact_id),
    api_application_id: partner,
    source: 'partner',
    source_reference: null,
    ingest_id: crypto.randomUUID(),
    external_system_id: null,
    activity_id: activity(4),
    summary: 'Sent a form',
    happened_at: now,
  })

  expect(typesOf(await of(contact_id, '', 'partner'))).toEqual(['activity.form'])
  expect(typesOf(await of(contact_id))).toEqual(['lead.created', 'activity.form'])
  expect(typesOf(await of(contact_id, '', 'stranger'))).toEqual([])
})

test('since begins with what was recorded at or after that time, and is ignored with a cursor', async () => {
  expect((await page('?since=2020-01-01T00:00:00Z')).data.length).toBeGreaterThan(0)
  expect((await page('?since=2100-01-01T00:00:00Z')).data).toEqual([])
  const { next_cursor } = await page('?limit=1')
  expect((await page(`?cursor=${next_cursor}&since=2100-01-01T00:00:00Z`)).data.length).toBeGreaterThan(0)
})

test.each([
  ['cursor=nonsense', 'cursor'],
  ['since=yesterday', 'since'],
  ['type=Lead%20created', 'type'],
  ['contact_id=1', 'contact_id'],
  ['limit=0', 'limit'],
])('422 invalid_parameter: %s', async (query, field) => {
  const { status, body } = await fixture.get(`/api/v1/crm/events?${query}`, as('website'))

  expect(status).toBe(422)
  expect(body).toMatchObject({ error: { code: 'invalid_parameter' } })
  const { fields } = (body as { error: { fields: Record<string, string> } }).error
  expect(Object.keys(fields)[0]).toMatch(new RegExp(`^${field}`))
})

test('a page among 50,000 events is read through an index, whatever it is filtered by', async () => {
  await fixture.pool.query(`
    insert into lead_events
    select '${organisation_id}', '${partner}', gen_random_uuid(), lpad(n::text, 20, '9'), gen_random_uuid(), null,
      case when n % 1000 = 0 then 'activity.call' else 'lead.created' end,
      case when n % 1000 = 0 then 'activity' else 'lead' end, timestamptz '2026-02-01' + n * interval '1 second', '{}'
    from generate_series(1, 50000) as n`)
  await fixture.pool.query('analyze lead_events')
  const base = { organisation_id, viewer_id: partner, place: '', limit: 50 }
  const pages = [
    eventPage(base),
    eventPage({ ...base, type: ['activity.call', 'lead.teleported'] }),
    eventPage({ ...base, type: ['activity.*'] }),
    eventPage({ ...base, contact_id: website }),
    eventPage({ ...base, campaign_id: website }),
    eventPage({ ...base, since: '2026-02-01T13:50:00Z' }),
    eventPage({ ...base, since: '2026-02-01T07:00:00Z' }),
    eventPage({ ...base, since: '2026-02-01T07:00:00Z', type: ['activity.call'] }),
  ]
  for (const { text, values } of pages) {
    const { rows } = await fixture.pool.query<{ 'QUERY PLAN': string }>(`explain (analyze) ${text}`, values)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).not.toMatch(/Seq Scan on (public\.)?lead_events/)
    const read = [...plan.matchAll(/actual [^)]*rows=([\d.]+)/g)].map(([, count]) => Number(count))
    expect(Math.max(...read)).toBeLessThanOrEqual(1_000)
    expect(plan).not.toMatch(/Rows Removed by Filter: \d{4}/)
  }
})
