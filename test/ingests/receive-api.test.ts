import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leadService, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[457][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const ada = { identity: { email: 'ada@example.com' } }
let keys = 0
const fresh = () => ({ 'Idempotency-Key': `key-${++keys}` })

describe('POST /crm/ingests', () => {
  test('202: the lead is received, and its address stands in Location', async () => {
    const { status, headers, body } = await service.post({ ...ada, source_reference: 'form-7', campaign: 'plain' })

    expect(status).toBe(202)
    const { id, received_at } = body.data
    expect(body.data).toEqual({
      id: expect.stringMatching(uuid) as unknown,
      status: 'received',
      source: 'website',
      source_reference: 'form-7',
      received_at,
      facts_written: 0,
      fields_proposed: 0,
      activities_written: 0,
      truncated: false,
      explanation: 'We have the lead and will look at it in a moment.',
      duplicate: false,
    })
    expect(headers.get('location')).toBe(`${service.baseUrl}/api/v1/crm/ingests/${id}`)
    expect(headers.get('idempotent-replay')).toBeNull()
    expect(Math.abs(Date.parse(received_at) - Date.now())).toBeLessThan(60_000)
  })

  test.each([
    [{ source: undefined }, 'source', 'required'],
    [{ source: '' }, 'source', 'required'],
    [{ source: 'Web' }, 'source', 'lower-case'],
    [{ source: 'a'.repeat(65) }, 'source', '64'],
    [{ source: 7 }, 'source', 'text'],
    [{ source: 'leadform' }, 'source', 'reserved'],
    [{ declared: { home: { town: 'Leeds' } } }, 'declared.home', 'plain value'],
    [{ declared: { 'Home Town': 'Leeds' } }, 'declared.Home Town', 'no field key'],
    [{ declared: { constructor: 'x' } }, 'declared.constructor', 'no field key'],
    [{ declared: { homes: [{ town: 'Leeds' }] } }, 'declared.homes[0]', 'text'],
    [{ identity: 'Ada' }, 'identity', 'object'],
    [{ occurred_at: 'yesterday' }, 'occurred_at', 'date and time'],
    [{ consent: { service: { phone: 'yes' } } }, 'consent.service.phone', 'true or false'],
    [{ text: 5 }, 'text', 'text'],
  ])('422 validation_failed: %j names the input', async (changes, field, reason) => {
    const { status, body } = await service.post({ ...ada, ...changes })

    expect(status).toBe(422)
    expect(body.error?.code).toBe('validation_failed')
    expect(body.error?.fields?.[field]).toContain(reason)
  })

  test.each([{}, { identity: {} }, { data: {}, text: '  ', declared: {} }, { identity: { email: '' } }])(
    '422 validation_failed: %j is nothing to go on',
    async (content) => {
      const { status, body } = await service.post(content)

      expect(status).toBe(422)
      expect(body.error).toEqual({
        code: 'validation_failed',
        message: 'There is nothing to go on. Send identity, data, text or declared.',
      })
    },
  )

  test.each([
    ['identity', { identity: { phone: '07700 900001' } }],
    ['data', { data: { anything: [1, { at: 'all' }] } }],
    ['text', { text: 'Please call Ada.' }],
    ['declared', { declared: { newsletter: true, tags: ['a', 'b'], note: null, age: 4 } }],
  ])('202: %s alone is enough', async (_name, content) => {
    expect((await service.post(content)).status).toBe(202)
  })

  test('202: a body of 262,144 bytes is taken, and 422 one byte more, counted as they came', async () => {
    // Two bytes each in UTF-8.
    const bodyOf = (bytes: number) => {
      const [start, end] = ['{"source":"website","text":"é', '"}']
      return start + 'x'.repeat(bytes - Buffer.byteLength(start) - Buffer.byteLength(end)) + end
    }

    const taken = await service.post(bodyOf(262_144))
    const refused = await service.post(bodyOf(262_145))

    expect(taken.status).toBe(202)
    expect(refused.status).toBe(422)
    expect(refused.body.error).toMatchObject({ code: 'validation_failed', message: /256 KB/ })
  })

  test('422 validation_failed: what is no JSON object', async () => {
    for (const body of ['[]', '{', '"text"']) expect((await service.post(body)).status).toBe(422)
  })

  test.each([
    ['unheard', 422, 'unknown_campaign'],
    ['paused', 409, 'campaign_paused'],
    ['archived', 409, 'campaign_archived'],
  ])('a lead on campaign %s is answered %i %s, and its key is not used up', async (campaign, status, code) => {
    const headers = fresh()

    const refused = await service.post({ ...ada, campaign }, headers)
    const sentAgain = await service.post({ ...ada, campaign: 'plain' }, headers)

    expect(refused.status).toBe(status)
    expect(refused.body.error?.code).toBe(code)
    expect(sentAgain.body.data.duplicate).toBe(false)
  })

  test('202: a paused campaign takes leads again once it is active', async () => {
    const created = await service.send<{ id: string }>('POST', `${service.admin}/campaigns`, {
      body: { key: 'turn', name: 'Turn', state: 'paused' },
    })
    expect((await service.post({ ...ada, campaign: 'turn' })).status).toBe(409)

    const path = `${service.admin}/campaigns/${created.body.data.id}`
    const changed = await service.send('PATCH', path, { body: { state: 'active' } })

    expect(changed).toMatchObject({ status: 200, body: { data: { key: 'turn', state: 'active' } } })
    expect((await service.post({ ...ada, campaign: 'turn' })).status).toBe(202)
  })

  test('202: the same content within 5 minutes is a retry, also when its campaign was paused or archived since', async () => {
    const created = await service.send<{ id: string }>('POST', `${service.admin}/campaigns`, {
      body: { key: 'closing', name: 'Closing', state: 'active' },
    })
    const lead = { ...ada, campaign: 'closing', source_reference: 'once' }
    const { body: first } = await service.post(lead)
    const path = `${service.admin}/campaigns/${created.body.data.id}`

    for (const state of ['paused', 'archived']) {
      await service.send('PATCH', path, { body: { state } })
      const headers = fresh()
      const retries = [await service.post(lead), await service.post(lead, headers), await service.post(lead, headers)]
      for (const { status, body, headers: answered } of retries) {
        expect([status, body.data]).toEqual([202, { ...first.data, duplicate: true }])
        expect(answered.get('idempotent-replay')).toBe('true')
      }
      const other = await service.post({ ...lead, source_reference: 'another' })
      expect([other.status, other.body.error?.code]).toEqual([409, `campaign_${state}`])
    }
  })

  test('401 without a token, 403 without the scopes crm and write, and for a browser application', async () => {
    const [reader, writer, browser] = await Promise.all([
      service.client(service.organisation_id, ['read', 'crm']),
      service.client(service.organisation_id, ['read', 'write']),
      service.client(service.organisation_id, ['read', 'write'], ['https://example.com']),
    ])

    expect((await service.post(ada, {}, { client_id: '', token: 'none' })).body.error?.code).toBe('invalid_token')
    expect((await service.post(ada, {}, reader)).body.error?.message).toContain('write')
    expect((await service.post(ada, {}, writer)).body.error?.message).toContain('crm')
    expect((await service.post(ada, { origin: 'https://example.com' }, browser)).status).toBe(403)
  })
})

describe('GET /crm/ingests/{id}', () => {
  test('200: fields with nothing to say are left out', async () => {
    const { body } = await service.post({ ...ada, source_reference: undefined })
    const { status, body: shown } = await service.get(body.data.id)

    expect(status).toBe(200)
    expect(shown.data).not.toHaveProperty('source_reference')
    expect(shown.data).not.toHaveProperty('duplicate')
    expect(shown.data).not.toHaveProperty('validation_failures')
  })

  test('404: only the application that sent it sees it', async () => {
    const { body } = await service.post(ada)
    const stranger = await service.client(await service.organisation('stranger'), ['read', 'write', 'crm'])

    expect((await service.get(body.data.id)).status).toBe(200)
    expect((await service.get(body.data.id, service.another)).status).toBe(404)
    expect((await service.get(body.data.id, stranger)).status).toBe(404)
    expect((await service.get('00000000-0000-4000-8000-000000000000')).status).toBe(404)
    expect((await service.get('no-uuid')).status).toBe(404)
  })

  test('200: provenance is shown as we understand it, and what looks personal is dropped', async () => {
    const { body } = await service.post({
      ...ada,
      context: { source_url: 'https://example.com/life?email=a%40b.c&utm_source=search#top', user_agent: 'A browser' },
      provenance: { locale: 'en-gb', timezone: 'Europe/London', page_title: 'Life cover' },
    })

    expect((await service.get(body.data.id)).body.data.provenance).toEqual({
      page_url: 'https://example.com/life?utm_source=search',
      locale: 'en-GB',
      timezone: 'Europe/London',
      page_title: 'Life cover',
      utm: { source: 'search' },
    })
  })
})
