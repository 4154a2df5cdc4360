import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LeadRecord } from '#domain/leads/record.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import type { z } from 'zod'
import type { Timeline } from '../../query-api/timeline.ts'
import { olive, organisation_id } from './builders.ts'
import { as, openLeads, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const address = `/admin/v1/organisations/${organisation_id}/leads`
const later = '2026-01-16T12:00:00.000Z'

type Body = {
  readonly data: LeadRecord
  readonly error: { readonly code: string; readonly fields?: Readonly<Record<string, string>> }
}
const work = async (contact_id: string, ...acts: readonly object[]) => {
  const { status, body } = await fixture.post(`${address}/${contact_id}/acts`, { acts, by: 'Olive Owner' })
  return { status, ...(body as Body) }
}

test('200: the team works a lead, several acts at once', async () => {
  const contact_id = await fixture.send()
  const task_id = crypto.randomUUID()

  const { status, data } = await work(
    contact_id,
    { act: 'move_to_stage', stage: 'contacted' },
    { act: 'assign_owner', owner_id: olive.id },
    { act: 'record_facts', facts: { smoker: 'no' } },
    { act: 'record_activity', kind: 'call', summary: 'Rang Anna', channel: 'phone', direction: 'outbound' },
    { act: 'flag_vulnerability', flagged: true, details: 'Recently bereaved' },
    { act: 'set_next_action', next_action: { type: 'call', summary: 'Ring again', due_at: later } },
    { act: 'add_task', task_id, title: 'Send the brochure' },
    { act: 'complete_task', task_id },
    { act: 'snooze', until: later },
    { act: 'end_snooze' },
    {
      act: 'mark',
      buying_signal: 'strong',
      follow_up: true,
      priority: 'high',
      archived: true,
      external_system_id: 'C-1',
    },
    { act: 'set_outcome_reason', reason: 'price', note: 'Liked it' },
    { act: 'change_status', status: 'not_interested', reason: 'price' },
  )

  expect(status).toBe(200)
  expect(data).toMatchObject({
    shown: { status: 'not_interested', stage: { key: 'contacted' }, owner_assigned: true },
    marks: { buying_signal: 'strong', follow_up: true, priority: 'high', archived: true, external_system_id: 'C-1' },
    owner_id: olive.id,
    outcome_reason: 'price',
    vulnerable: true,
    facts: { smoker: 'no' },
    next_action: { type: 'call', summary: 'Ring again', due_at: later },
    tasks: [{ id: task_id, completed_at: '2026-01-15T12:00:00.000Z' }],
    snoozed_until: null,
    first_contacted_at: '2026-01-15T12:00:00.000Z',
    activities: { call: 1 },
  })
})

test('every event of a lead is listed with who did it and when, those too that concern the team alone', async () => {
  const contact_id = await fixture.send()
  await work(
    contact_id,
    { act: 'add_task', title: 'Send the price' },
    { act: 'snooze', until: later },
    { act: 'mark', priority: 'high' },
  )
  const history = async (query: string) =>
    (await fixture.get(`${address}/${contact_id}/history?${query}`)).body as z.output<typeof Timeline>

  const { data, next_cursor } = await history('limit=3')
  const newest = await history('order=newest_first&limit=3')
  const before = await history(`order=newest_first&cursor=${newest.next_cursor}`)
  const rest = await history(`cursor=${next_cursor}`)

  const shown = [...data, ...rest.data]
  expect([...newest.data, ...before.data].map(({ event_id }) => event_id)).toEqual(
    shown.map(({ event_id }) => event_id).toReversed(),
  )
  expect(shown.map(({ type }) => type)).toEqual([
    'LeadCreated',
    'LeadTpsScreeningPlanned',
    'LeadTaskAdded',
    'LeadSnoozed',
    'LeadMarked',
  ])
  expect(shown[2]).toMatchObject({
    actor: { type: 'operator', id: 'tester' },
    occurred_at: expect.any(String) as string,
  })
  expect(rest.data[0]?.details).toMatchObject({ snoozed_until: later })
  expect(JSON.stringify(shown)).not.toContain('Send the price')
})

test('one act that is refused leaves the lead as it was', async () => {
  const contact_id = await fixture.send()

  const { status, error } = await work(
    contact_id,
    { act: 'move_to_stage', stage: 'contacted' },
    { act: 'move_to_stage', stage: 'limbo' },
  )

  expect([status, error.code]).toEqual([422, 'validation_failed'])
  const { body } = await fixture.get(`${address}/${contact_id}`)
  expect(body).toMatchObject({ data: { shown: { stage: { key: 'new' } } } })
})

test('an activity with an id of the caller’s making is recorded once', async () => {
  const contact_id = await fixture.send()
  const call = { act: 'record_activity', activity_id: crypto.randomUUID(), kind: 'note', summary: 'Looked' }

  await work(contact_id, call)
  const { data } = await work(contact_id, call)

  expect(data.activities).toEqual({ note: 1 })
})

test('by the id that the team gives a lead in the organisation’s own CRM it is found; another lead cannot have it', async () => {
  const [contact_id, other] = [await fixture.send(), await fixture.send()]
  const mark = { act: 'mark', external_system_id: 'CRM-4711' }

  const refused = await work(contact_id, mark, { act: 'move_to_stage', stage: 'limbo' })
  const [taken, again, twice] = [await work(other, mark), await work(other, mark), await work(contact_id, mark)]

  expect([refused, taken, again, twice].map(({ status }) => status)).toEqual([422, 200, 200, 409])
  expect(twice.error).toMatchObject({
    code: 'conflict',
    fields: { 'acts[0].external_system_id': 'is that of another person' },
  })
  const lead = { external_id: 'CRM-4711' }
  const outcome = { type: 'lost', occurred_at: '2026-01-15', lead }
  const { status, body } = await fixture.post('/api/v1/crm/outcomes', outcome, as('website', ['write', 'outcomes']))
  expect([status, body]).toMatchObject([201, { data: { contact_id: other } }])
})

test('our own contact_id is nobody’s id in another system: neither that of the lead nor of somebody else', async () => {
  const [contact_id, other] = [await fixture.send(), await fixture.send()]
  const note = { act: 'record_activity', kind: 'note', summary: 'Asked' }
  for (const id of [contact_id, other]) await fixture.know(id, { first_name: 'Ada' })

  for (const ours of [contact_id, other, other.toUpperCase()]) {
    const { status, error } = await work(contact_id, note, { act: 'mark', external_system_id: ours })
    expect([status, error.code, error.fields]).toEqual([
      422,
      'validation_failed',
      { 'acts[1].external_system_id': 'is our contact_id of a person, and not the id in another system' },
    ])
  }
  const theirs = crypto.randomUUID()
  const marked = await work(contact_id, { act: 'mark', external_system_id: theirs })
  expect([marked.status, marked.data.marks.external_system_id]).toEqual([200, theirs])
})

test('what is refused of several acts is named by its place, and says what there is to choose from', async () => {
  const contact_id = await fixture.send()
  const note = { act: 'record_activity', kind: 'note', summary: 'Asked' }
  const refusedOf = async (act: object) => (await work(contact_id, note, act)).error.fields

  expect(await refusedOf({ act: 'move_to_stage', stage: 'limbo' })).toEqual({
    'acts[1].stage': 'must be one of new, contacted, quoted, won, lost',
  })
  expect(await refusedOf({ act: 'assign_owner', owner_id: crypto.randomUUID() })).toEqual({
    'acts[1].owner_id': expect.stringMatching(/^is no active member of the team/) as string,
  })
  expect(await refusedOf({ act: 'snooze', until: '2020-01-01T00:00:00Z' })).toEqual({
    'acts[1].until': 'must lie ahead',
  })
})

test('200: how the organisation works its leads is shown, with the ids of its team', async () => {
  const { status, body } = await fixture.get(`/admin/v1/organisations/${organisation_id}/pipeline`)

  expect([status, body]).toMatchObject([200, { data: { stages: [{ key: 'new' }, {}, {}, {}, {}] } }])
  expect((body as { data: Pipeline }).data.team_members).toContainEqual(expect.objectContaining({ id: olive.id }))
})

/** Each act comes a moment after the one before it. */
let moments = 0
const workLater = async (contact_id: string, ...acts: readonly object[]) => {
  fixture.at(new Date(Date.parse('2026-01-15T12:00:00.000Z') + ++moments).toISOString())
  return work(contact_id, ...acts)
}

test('an id that the team takes away from a lead can be given to another, which is found by it from then on', async () => {
  const [wrong, right] = [await fixture.send(), await fixture.send()]
  const mark = (external_system_id: string | null) => ({ act: 'mark', external_system_id })
  const found = async () => {
    const outcome = { type: 'quoted', occurred_at: '2026-01-15', lead: { external_id: 'CRM-1' } }
    const { body } = await fixture.post('/api/v1/crm/outcomes', outcome, as('website', ['write', 'outcomes']))
    return (body as { data?: { contact_id: string } }).data?.contact_id
  }

  await workLater(wrong, mark('CRM-1'))
  expect(await found()).toBe(wrong)
  await workLater(wrong, mark('CRM-2'))
  const given = await workLater(right, mark('CRM-1'))

  expect([given.status, await found()]).toEqual([200, right])
  expect((await workLater(wrong, mark('CRM-1'))).status).toBe(409)
  await workLater(right, mark(null))
  expect([(await workLater(wrong, mark('CRM-1'))).status, await found()]).toEqual([200, wrong])
})

test('an id that two leads are given at once becomes that of one of them, also when it was taken away before', async () => {
  const [first, second, former] = [await fixture.send(), await fixture.send(), await fixture.send()]
  const mark = (external_system_id: string | null) => ({ act: 'mark', external_system_id })
  for (let time = 0; time < 10; time++) {
    const id = `TWO-${time}`
    if (time % 2 === 0) for (const each of [id, null]) await workLater(former, mark(each))
    // One of them had it as well.
    if (time % 4 === 0) for (const each of [id, null]) await workLater(first, mark(each))

    const given = await Promise.all([workLater(first, mark(id)), workLater(second, mark(id))])

    expect(new Set(given.map(({ status }) => status))).toEqual(new Set([200, 409]))
    for (const each of [first, second]) await workLater(each, mark(null))
  }
})

test.each([
  [{ act: 'dance' }, 'acts[0].act'],
  [{ act: 'record_activity', kind: 'dance', summary: 'x' }, 'acts[0].kind'],
  [{ act: 'record_facts', facts: { born: 'yesterday' } }, 'acts[0].facts.born'],
  [{ act: 'record_facts', facts: { cover: 1.5 } }, 'acts[0].facts.cover'],
  [{ act: 'record_facts', facts: { colour: 'green' } }, 'acts[0].facts.colour'],
  [{ act: 'assign_owner', owner_id: crypto.randomUUID() }, 'acts[0].owner_id'],
  [{ act: 'record_activity', kind: 'call', summary: 'x', happened_at: '2062-11-23T09:00:00Z' }, 'acts[0].happened_at'],
  [{ act: 'snooze', until: '2020-01-01T00:00:00Z' }, 'acts[0].until'],
])('422 validation_failed: %o', async (act, field) => {
  const contact_id = await fixture.send()

  const { status, error } = await work(contact_id, act)

  expect([status, error.code, Object.keys(error.fields ?? {})]).toEqual([422, 'validation_failed', [field]])
})

test('409 invalid_transition: an ended lead is opened again first', async () => {
  const contact_id = await fixture.send()
  await work(contact_id, { act: 'change_status', status: 'lost' })

  const { status, error } = await work(contact_id, { act: 'change_status', status: 'won' })

  expect([status, error.code]).toEqual([409, 'invalid_transition'])
})

test('404 not_found: a lead that there is not', async () => {
  expect((await work(crypto.randomUUID(), { act: 'end_snooze' })).status).toBe(404)
  expect((await fixture.get(`${address}/${crypto.randomUUID()}`)).status).toBe(404)
})

test('leads are listed with the newest change first, page by page, and a cursor of one order is none of the other', async () => {
  const sent = [await fixture.send(), await fixture.send(), await fixture.send()]
  await work(sent[0] ?? '', { act: 'mark', priority: 'high' })
  const list = async (query: string) => {
    const { status, body } = await fixture.get(`${address}?${query}`)
    return { status, ...(body as { data: LeadRecord[]; next_cursor: string }) }
  }

  const newest = await list('order=newest_change&limit=2')
  const next = await list(`order=newest_change&limit=1&cursor=${newest.next_cursor}`)

  expect([...newest.data, ...next.data].map(({ contact_id }) => contact_id)).toEqual([sent[0], sent[2], sent[1]])
  expect((await list(`order=oldest_change&cursor=${newest.next_cursor}`)).status).toBe(422)
})

test('leads are listed by what is to be done next, the most urgent first, without those for whom nothing is', async () => {
  const [calls, waits, task, ended] = [
    await fixture.send(),
    await fixture.send(),
    await fixture.send(),
    await fixture.send(),
  ]
  const at = (day: number) => `2031-02-0${day}T09:00:00.000Z`
  const call = (day: number) => ({
    act: 'set_next_action',
    next_action: { type: 'call', summary: null, due_at: at(day) },
  })
  const contacted = { act: 'record_activity', kind: 'call', summary: 'Hello', direction: 'outbound' }
  const own = { act: 'assign_owner', owner_id: olive.id }
  await work(calls, contacted, own, call(2))
  await work(waits, contacted, own, call(1), { act: 'snooze', until: at(3) })
  await work(task, contacted, own, { act: 'add_task', title: 'Write', due_at: at(1) })
  await work(ended, contacted, own, call(1), { act: 'change_status', status: 'lost' })
  const list = async (query: string) =>
    (await fixture.get(`${address}?order=next_due&owner_id=${olive.id}${query}`)).body as {
      data: LeadRecord[]
      next_cursor: string
    }

  const first = await list('&limit=1')
  const rest = await list(`&cursor=${first.next_cursor}`)

  const found = [...first.data, ...rest.data].map(({ contact_id }) => contact_id)
  expect(found.filter((id) => [calls, waits, task, ended].includes(id))).toEqual([task, calls, waits])
  expect(await fixture.get(`${address}?order=next_due&status=open`)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_parameter', fields: { status: 'must be left out with order=next_due' } } },
  })
})

test('leads are listed by when they came in, of a source and between two moments, a year at most', async () => {
  const sent = [await fixture.send(), await fixture.send(), await fixture.send()]
  await work(sent[0] ?? '', { act: 'mark', priority: 'high' })
  const one = (await fixture.get(`${address}/${sent[1]}`)).body as { data: LeadRecord }
  const { source, shown } = one.data
  const list = async (query: string) => {
    const { status, body } = await fixture.get(`${address}?order=newest&${query}`)
    const { data = [], ...rest } = body as { data?: LeadRecord[]; next_cursor?: string; error?: unknown }
    return { status, ...rest, data, found: data.map(({ contact_id }) => contact_id) }
  }
  const timesOf = (leads: readonly LeadRecord[]) => leads.map(({ shown: { created_at } }) => created_at)

  const first = await list(`source=${source}&limit=2`)
  const next = await list(`source=${source}&limit=200&cursor=${first.next_cursor}`)

  const times = timesOf([...first.data, ...next.data])
  expect(times).toEqual(times.toSorted().toReversed())
  expect([...first.found, ...next.found]).toEqual(expect.arrayContaining(sent))
  expect((await list(`until=${shown.created_at}`)).found).not.toContain(sent[1])
  expect((await list(`since=${shown.created_at}`)).found).toContain(sent[1])
  expect((await list('source=nowhere')).found).toEqual([])
  expect(await list('since=2020-01-01T00:00:00Z&until=2022-01-01T00:00:00Z')).toMatchObject({
    status: 422,
    error: { fields: { since: 'must be at most 366 days before until' } },
  })
  expect(await fixture.get(`${address}?source=${source}`)).toMatchObject({
    status: 422,
    body: { error: { fields: { source: 'must be left out with order=oldest_change' } } },
  })
})

test('leads are listed by status, stage and owner with cursors, and shown with the person and the timeline', async () => {
  const contact_id = await fixture.send()
  await fixture.know(contact_id, { first_name: 'Anna', email: 'anna@example.org' })
  await work(contact_id, { act: 'move_to_stage', stage: 'quoted' })

  expect(await fixture.get(`${address}?stage=qouted`)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_parameter', fields: { stage: expect.stringContaining('quoted') as unknown } } },
  })
  const list = await fixture.get(`${address}?stage=quoted&status=open&limit=1`)
  const { data, next_cursor } = list.body as { data: LeadRecord[]; next_cursor: string }
  const rest = await fixture.get(`${address}?stage=quoted&status=open&cursor=${next_cursor}`)
  const one = await fixture.get(`${address}/${contact_id}`)
  const timeline = await fixture.get(`${address}/${contact_id}/timeline`)

  expect(data.map((lead) => lead.contact_id)).toEqual([contact_id])
  expect(list.body).toMatchObject({ data: [{ person: { first_name: 'Anna', email: 'anna@example.org' } }] })
  expect(rest.body).toEqual({ data: [], next_cursor })
  expect(one.body).toMatchObject({ data: { contact_id, person: { first_name: 'Anna' }, consent: [] } })
  expect(timeline.body).toMatchObject({
    data: [
      { event_type: 'lead.created', actor: { type: 'api' } },
      { event_type: 'lead.stage_changed', actor: { type: 'user', name: 'Olive Owner' } },
    ],
  })
})
