import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerId } from '#domain/values.ts'
import { organisation_id, partner, website } from '../leads/builders.ts'
import { as, openLeads, type Fixture } from '../leads/fixture.ts'
import { address, occurred_at, quoted, report, sold, type Body } from './reports.ts'

let fixture: Fixture
let contact_id: CustomerId
beforeAll(async () => {
  fixture = await openLeads()
  contact_id = await fixture.send(website)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const post = (body: object, headers: Record<string, string> = {}) => report(fixture, body, headers)
const fresh = () => crypto.randomUUID()
const onlyCrm = (name: 'website' | 'partner') => as(name, ['read', 'write', 'crm'])

test('201: an outcome with every field, its product by an alias, its calculated value worked out', async () => {
  const sent = { ...sold, contact_id, event_id: 'E-1', deal_ref: 'D-1', note: 'by phone' }

  const { status, body } = await post(sent)

  expect(status).toBe(201)
  expect(body.data).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    event_id: 'E-1',
    type: 'sold',
    contact_id,
    occurred_at,
    source: 'api',
    deal_ref: 'D-1',
    product: 'term-life',
    values: { premium: 1250, commission: 30_000, annual_premium: 15_000 },
    missing_values: [],
    currency: 'GBP',
    reversed: false,
    reversal_of: null,
  })
})

test('200: a repeated event_id with the same content is answered with the first outcome and records nothing', async () => {
  const event_id = fresh()
  const first = await post({ ...quoted, contact_id, event_id })

  const again = await post({ ...quoted, contact_id, event_id })

  expect(again.status).toBe(200)
  expect(again.headers.get('Idempotent-Replay')).toBe('true')
  expect(again.body).toEqual(first.body)
})

test('the same event_id sent five times at once records one outcome', async () => {
  const lead = await fixture.send(website)
  const event_id = fresh()

  const answers = await Promise.all(Array.from({ length: 5 }, () => post({ ...quoted, contact_id: lead, event_id })))

  expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1)
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 201])
  const { body } = await fixture.get(`${address}?contact_id=${lead}`)
  expect((body as { data: unknown[] }).data).toHaveLength(1)
})

test('an Idempotency-Key stands for the event_id where none is sent', async () => {
  const key = { 'Idempotency-Key': fresh() }
  const first = await post({ ...quoted, contact_id }, key)
  const again = await post({ ...quoted, contact_id }, key)

  expect([first.status, again.status]).toEqual([201, 200])
  expect(first.body.data.event_id).toBe(key['Idempotency-Key'])
  const longest = await post({ ...quoted, contact_id }, { 'Idempotency-Key': 'x'.repeat(200) })
  expect(longest).toMatchObject({ status: 201, body: { data: { event_id: 'x'.repeat(200) } } })
  const fields = { 'Idempotency-Key': 'must be at most 200 characters, none of them control characters' }
  for (const wrong of ['x'.repeat(201), 'one\u0085two'])
    expect(await post({ ...quoted, contact_id }, { 'Idempotency-Key': wrong })).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields } },
    })
})

test('409 event_id_conflict: an event_id was used for other content', async () => {
  const event_id = fresh()
  await post({ ...quoted, contact_id, event_id })

  const { status, body } = await post({ ...quoted, contact_id, event_id, values: { premium: 1251 } })

  expect(status).toBe(409)
  expect(body.error.code).toBe('event_id_conflict')
})

test('event ids belong to the API application that sends them', async () => {
  const event_id = fresh()
  await post({ ...quoted, contact_id, event_id })

  const { status } = await post({ ...quoted, contact_id, event_id, note: 'ours' }, as('partner'))

  expect(status).toBe(201)
})

test('409 not_repeatable: a deal is cancelled once, and again when that was reversed; a refused request uses no event_id up', async () => {
  const cancelled = { type: 'cancelled', occurred_at, contact_id, deal_ref: 'D-9' }
  const first = await post(cancelled)
  const event_id = fresh()
  const second = await post({ ...cancelled, event_id })
  expect([first.status, second.status, second.body.error.code]).toEqual([201, 409, 'not_repeatable'])
  expect((await post({ ...cancelled, deal_ref: 'D-10' })).status).toBe(201)

  await fixture.post(`${address}/${first.body.data.id}/reverse`, {})

  expect((await post({ ...cancelled, event_id, note: 'other content' })).status).toBe(201)
})

test('two cancellations of one deal at once: one 201, one 409', async () => {
  const cancelled = { type: 'cancelled', occurred_at, contact_id, deal_ref: 'D-11' }

  const answers = await Promise.all([post(cancelled), post(cancelled)])

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
})

test('required values that are not sent are named in missing_values, with what is worked out of them', async () => {
  const { status, body } = await post({ ...sold, contact_id, values: { commission: 100, annual_premium: 7 } })

  expect(status).toBe(201)
  expect(body.data).toMatchObject({ values: { commission: 100 }, missing_values: ['premium'] })
})

test('a date will do for occurred_at', async () => {
  const { body } = await post({ ...quoted, contact_id, occurred_at: '2026-01-14' })

  expect(body.data.occurred_at).toBe('2026-01-14T00:00:00.000Z')
})

test.each([
  [{ type: 'teleported' }, 'type'],
  [{ occurred_at: 'yesterday' }, 'occurred_at'],
  [{ occurred_at: '2026-01-16T12:00:00.001Z' }, 'occurred_at'],
  [{ type: 'sold', product: undefined }, 'product'],
  [{ product: 'boat' }, 'product'],
  [{ type: 'lost', product: 'TL1', values: {} }, 'product'],
  [{ values: { premium: 12.5 } }, 'values.premium'],
  [{ values: { premium: -1 } }, 'values.premium'],
  [{ values: { premium: '12' } }, 'values.premium'],
  [{ values: { clawback: 1 } }, 'values.clawback'],
  [{ currency: 'pounds' }, 'currency'],
  [{ currency: 'ZZZ' }, 'currency'],
  [{ event_id: 'x'.repeat(201) }, 'event_id'],
  [{ note: 'x'.repeat(501) }, 'note'],
  [{ contact_id: undefined }, 'lead'],
  [{ contact_id: undefined, lead: {} }, 'lead'],
  [{ contact_id: undefined, lead: { email: 'anna@example.org' } }, 'lead'],
  [{ lead: { external_id: 'CRM-1' } }, 'lead'],
  [{ contact_id: undefined, lead: { email: 'anna', match_on_details: true } }, 'lead.email'],
])('422 validation_failed: %o names %s', async (changes, field) => {
  const { status, body } = await post({ ...quoted, contact_id, ...changes })

  expect(status).toBe(422)
  expect(body.error.code).toBe('validation_failed')
  expect(Object.keys(body.error.fields ?? {})).toEqual([field])
})

test('an outcome at most 24 hours ahead is taken', async () => {
  expect((await post({ ...quoted, contact_id, occurred_at: '2026-01-16T12:00:00.000Z' })).status).toBe(201)
})

test.each([
  ['contact_id', { contact_id: crypto.randomUUID() }],
  ['lead.id', { lead: { id: crypto.randomUUID() } }],
  ['lead.external_id', { lead: { external_id: 'CRM-0' } }],
])('404 not_found: there is no lead with this %s', async (_name, named) => {
  const { status, body } = await post({ ...quoted, ...named })

  expect([status, body.error.code]).toEqual([404, 'not_found'])
})

test('404 not_found: with only crm, a lead that another application sent', async () => {
  expect((await post({ ...quoted, contact_id }, onlyCrm('partner'))).status).toBe(404)
  expect((await post({ ...quoted, contact_id }, onlyCrm('website'))).status).toBe(201)
  expect((await post({ ...quoted, contact_id }, as('partner'))).status).toBe(201)
})

test('404 not_found: the lead of another organisation', async () => {
  expect((await post({ ...quoted, contact_id }, as('stranger'))).status).toBe(404)
})

test('a lead is found by its external id, and by details when they belong to exactly one lead', async () => {
  const [anna, bert] = [await fixture.send(partner), await fixture.send(partner)]
  await fixture.claimExternalId(anna, 'CRM-77')
  await fixture.know(anna, { email: 'anna@example.org', phone_number: '+447911123401' })
  await fixture.know(bert, { email: 'bert@example.org', phone_number: '+447911123401' })
  const by = (lead: object) => post({ ...quoted, lead }, as('partner'))

  const found = [
    await by({ external_id: 'CRM-77' }),
    await by({ id: anna }),
    // As the lead was sent in, where its sender keeps our id as its own.
    await by({ external_id: anna.toUpperCase() }),
    await by({ email: ' Anna@Example.org ', match_on_details: true }),
  ]
  expect(found.map(({ status, body }) => [status, body.data.contact_id])).toEqual(Array(4).fill([201, anna]))

  const unmatched = await by({ email: 'nobody@example.org', match_on_details: true })
  expect(unmatched.status).toBe(202)
  expect(unmatched.body.data).toEqual({
    id: unmatched.body.data.id,
    status: 'held',
    reason: 'no_match',
    event_id: null,
  })
  const shared = await by({ phone: '07911 123401', match_on_details: true })
  expect([shared.status, shared.body.data.reason]).toEqual([202, 'several_matches'])
  // What another application sent is as if it were not there.
  const hidden = await post(
    { ...quoted, lead: { email: 'anna@example.org', match_on_details: true } },
    onlyCrm('website'),
  )
  expect([hidden.status, hidden.body.data.reason]).toEqual([202, 'no_match'])
})

test('422 validation_failed: a lead has 2,000 outcomes, the most there can be, and the input that named it is told', async () => {
  const many = await fixture.send(website, { external_system_id: 'CRM-many' })
  await fixture.claimExternalId(many, 'CRM-many')
  await post({ ...quoted, contact_id: many })
  const stream = `outcomes-${many}`
  const [first] = await fixture.log.read(stream)
  if (!first) throw new Error('Nothing was recorded.')
  const { type, schema_version, data, metadata } = first
  const others = Array.from({ length: 1_999 }, () => ({
    id: fresh(),
    type,
    schema_version,
    metadata,
    data: { ...data, outcome_id: fresh() },
  }))
  await fixture.log.append(stream, 'any', others)

  for (const [lead, field] of [
    [{ contact_id: many }, 'contact_id'],
    [{ lead: { id: many } }, 'lead'],
    [{ lead: { external_id: 'CRM-many' } }, 'lead'],
  ] as const) {
    const { status, body } = await post({ ...quoted, ...lead })
    expect([status, body.error.code, body.error.fields]).toEqual([
      422,
      'validation_failed',
      { [field]: 'has as many outcomes as a lead can have' },
    ])
  }
  const held = await post({ ...quoted, lead: { email: 'nobody.many@example.com', match_on_details: true } })
  const matched = await fixture.post(
    `/admin/v1/organisations/${organisation_id}/held_outcomes/${held.body.data.id}/match`,
    {
      contact_id: many,
    },
  )
  expect([matched.status, (matched.body as Body).error.fields]).toEqual([
    422,
    { contact_id: 'has as many outcomes as a lead can have' },
  ])
  const fields = { external_id: 'CRM-many', type: 'quoted', occurred_at: '2026-01-10' }
  const uploaded = await fixture.post(`/admin/v1/organisations/${organisation_id}/uploaded_outcomes`, {
    upload: 'many',
    rows: [{ line: 2, fields }],
  })
  expect(uploaded.body).toMatchObject({ data: { taken: 0, faults: [{ line: 2, field: 'external_id' }] } })
})

test.each(['deal_ref', 'note', 'event_id', 'reason', 'product', 'type', 'lead.external_id'])(
  '422 validation_failed: a %s that cannot be stored as it was sent records nothing',
  async (input) => {
    const lead = await fixture.send(website)
    const bodyWith = (text: string) => {
      const [first = '', within] = input.split('.')
      const named = { ...quoted, event_id: fresh(), ...(within === undefined && { contact_id: lead }) }
      return { ...named, [first]: within === undefined ? text : { [within]: text } }
    }
    for (const [text, reason] of [
      ['a\0b', 'must not hold the character U+0000'],
      ['a\ud83d', 'must be valid Unicode: it holds half of a surrogate pair'],
    ] as const) {
      const { status, body } = await post(bodyWith(text))
      expect([status, body.error]).toMatchObject([422, { code: 'validation_failed', fields: { [input]: reason } }])
    }
    const { body } = await fixture.get(`${address}?contact_id=${lead}`, as('website', ['read', 'outcomes']))
    expect(body).toMatchObject({ data: [] })
  },
)
