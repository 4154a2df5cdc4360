import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeService, type Client } from '../whole-service.ts'

const text = { subject: 'Hello', body: 'Hello {{first_name}}' }
const mailshot = { kind: 'mailshot', name: 'A letter', purpose: 'first_party_marketing', texts: [text] }

const file = (slug: string, on: boolean) => `
organisations:
  - slug: ${slug}
    name: A firm
    outreach: [{ on: ${on}, exchange_rates: [{ day: 2026-01-01, usd_rate: '0.8' }] }]
    outreach_streams:
      - slug: letter
        kind: mailshot
        name: A letter
        purpose: first_party_marketing
        started: true
        texts: [{ subject: Hello, body: 'Hello {{first_name}}' }]
`

type Service = Awaited<ReturnType<typeof wholeService>>
type Shown = Readonly<Record<string, unknown>> & { readonly id: string }
let service: Service
let firm: { readonly id: string; readonly client: Client }
let other: { readonly id: string; readonly client: Client }

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file('firm', true))
  await service.setUp(file('other', false))
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const organisation = async (slug: string) => {
    const id = String(body.data.find((each) => each.slug === slug)?.id)
    return { id, client: await service.client(id, ['read']) }
  }
  firm = await organisation('firm')
  other = await organisation('other')
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const streams = (id = firm.id) => `/admin/v1/organisations/${id}/outreach_streams`
let made = 0
const create = (changes: object = {}, slug = `stream-${++made}`) =>
  service.send<Shown>('POST', streams(), { body: { slug, ...mailshot, ...changes } })
const created = async (changes: object = {}): Promise<string> => (await create(changes)).body.data.id
const act = (id: string, name: string) =>
  service.send<Shown>('POST', `${streams()}/${id}/acts`, { body: { act: name } })
const read = (id: string, by = firm.client) =>
  service.send<Shown>('GET', `/api/v1/outreach/streams/${id}`, { token: by.token })
const declared = async (id: string) => (await service.send<readonly Shown[]>('GET', streams(id))).body.data[0]?.id ?? ''

describe('GET /outreach/streams/{id}', () => {
  test('answers every field of a stream, null where it is not of this kind', async () => {
    const id = await declared(firm.id)

    const { status, body } = await read(id)

    expect(status).toBe(200)
    expect(body.data).toEqual({
      id,
      name: 'A letter',
      status: 'active',
      archived_at: null,
      kind: 'mailshot',
      purpose: 'first_party_marketing',
      goal: 'other',
      channels: ['email'],
      all_channels: false,
      follow_up_after_days: 0,
      auto_send: false,
      pace_per_hour: null,
      message_mode: 'fixed',
      from_name: null,
      reply_email_template_key: null,
      reply_email_template_id: null,
      date_column: null,
      date_field: null,
      offset_days: null,
      send_at_local_time: null,
      schedule: null,
      next_issue_at: null,
      skip_if_unchanged: null,
      issues_sent_count: null,
      subscribed_count: null,
      survey: null,
      survey_answered_count: null,
      awaiting_approval_count: 0,
      rows_count: 0,
      analysed_count: 0,
      skipped_count: 0,
      sent_count: 0,
      errored_count: 0,
      outcomes: { replied: 0, booked: 0, applications: 0, bound: 0 },
      total_cost_pence: 0,
      cost_ceiling_pence: 0,
      budget_exceeded: false,
      created_at: expect.any(String) as string,
    })
  })

  test('404: another organisation’s stream, an unknown one, and every one where outreach is not switched on', async () => {
    const unknown = '0e000000-0000-4000-8000-0000000000ff'
    const own = await declared(other.id)

    const answers = [
      await read(own),
      await read(unknown),
      await read('no-uuid'),
      await read(own, other.client),
      await read(await declared(firm.id), other.client),
    ]

    expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual(answers.map(() => [404, 'not_found']))
  })

  test('an organisation that is switched on reads its streams at once, and no more when it is switched off', async () => {
    const settings = `/admin/v1/organisations/${other.id}/outreach`
    const own = await declared(other.id)

    await service.send('PATCH', settings, { body: { is_on: true } })
    const whileOn = await read(own, other.client)
    await service.send('PATCH', settings, { body: { is_on: false } })
    const afterwards = await read(own, other.client)

    expect([whileOn.status, afterwards.status]).toEqual([200, 404])
  })

  test('401 without a token, 403 for a browser application', async () => {
    const id = await declared(firm.id)
    const browser = await service.client(firm.id, ['read'], ['https://firm.example'])

    const anonymous = await service.send('GET', `/api/v1/outreach/streams/${id}`, { token: 'none' })
    const page = await service.send('GET', `/api/v1/outreach/streams/${id}`, {
      token: browser.token,
      headers: { origin: 'https://firm.example' },
    })

    expect([anonymous.status, page.status]).toEqual([401, 403])
  })
})

describe('the operator', () => {
  test('creates a stream, which nobody joins before it is started', async () => {
    const id = await created()
    expect((await read(id)).body.data['status']).toBe('closed')
    await act(id, 'start')
    expect((await read(id)).body.data['status']).toBe('active')
  })

  test('409: a slug is one stream’s', async () => {
    await create({}, 'taken')
    const again = await create({}, 'taken')
    expect([again.status, again.body.error?.code, again.body.error?.fields]).toEqual([
      409,
      'conflict',
      { slug: 'is taken' },
    ])
  })

  test.each([
    ['channels', { channels: [] }],
    ['texts[0].subject', { texts: [{ body: 'No subject' }] }],
    ['texts', { texts: [text, text] }],
    ['schedule', { kind: 'newsletter', send_at_local_time: '09:00' }],
    ['send_at_local_time', { send_at_local_time: '09:00' }],
    ['offset_days', { kind: 'reminder', date_field: 'renewal_on', send_at_local_time: '09:00' }],
    ['date_field', { kind: 'reminder', offset_days: -7, send_at_local_time: '09:00' }],
    ['survey', { kind: 'survey' }],
    ['follow_up', { follow_up_after_days: 3 }],
    ['landing_url', { landing_url: 'northlight' }],
    ['pace_per_hour', { pace_per_hour: 0 }],
    ['purpose', { purpose: 'fun' }],
  ])('422: a stream that cannot work names the field: %s', async (field, changes) => {
    const { status, body } = await create(changes)
    expect([status, body.error?.code]).toEqual([422, 'validation_failed'])
    expect(Object.keys(body.error?.fields ?? {})).toContain(field)
  })

  test('stops, reopens and archives a stream; an archived one changes no more', async () => {
    const id = await created()
    await act(id, 'start')

    const refused = await act(id, 'archive')
    const stopped = await act(id, 'stop')
    const reopened = await act(id, 'reopen')
    await act(id, 'stop')
    const archived = await act(id, 'archive')
    const late = await act(id, 'reopen')

    expect([refused.status, refused.body.error?.code]).toEqual([409, 'invalid_transition'])
    expect([stopped, reopened, archived].map(({ body }) => body.data['status'])).toEqual(['closed', 'active', 'closed'])
    expect(archived.body.data['archived_at']).not.toBeNull()
    expect(late.status).toBe(409)
  })

  test('changes only what is sent, and not the purpose that people have joined for', async () => {
    const id = await created()
    await act(id, 'start')

    await service.send('PATCH', `${streams()}/${id}`, { body: { pace_per_hour: 30 } })
    const refused = await service.send('PATCH', `${streams()}/${id}`, { body: { purpose: 'service' } })

    expect((await read(id)).body.data).toMatchObject({ pace_per_hour: 30, name: 'A letter' })
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
  })

  test('a set-up file that is applied again changes nothing', async () => {
    const planned = await service.send<{ steps: { change: string }[] }>('POST', '/admin/v1/setup', {
      body: file('firm', true),
    })
    expect(planned.body.data.steps.map(({ change }) => change)).toEqual(['none', 'none', 'none'])
  })

  test('lists streams with cursors, newest first', async () => {
    await created()
    const first = await service.send<readonly Shown[]>('GET', `${streams()}?limit=1`)
    const second = await service.send<readonly Shown[]>('GET', `${streams()}?limit=1&cursor=${first.body.next_cursor}`)
    expect(first.body.data).toHaveLength(1)
    expect(second.body.data[0]?.id).not.toBe(first.body.data[0]?.id)
  })

  test('404: another organisation’s stream can be neither seen nor steered', async () => {
    const own = await declared(other.id)
    const answers = [
      await service.send('GET', `${streams()}/${own}`),
      await service.send('PATCH', `${streams()}/${own}`, { body: { name: 'Mine' } }),
      await act(own, 'pause'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  })
})
