import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Outcome } from '#domain/outcomes/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { organisation_id, partner, website } from '../leads/builders.ts'
import { as, openLeads, type Fixture } from '../leads/fixture.ts'

let fixture: Fixture
let contact_id: CustomerId
beforeAll(async () => {
  fixture = await openLeads()
  contact_id = await fixture.send(website)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const address = '/api/v1/crm/outcomes'
const occurred_at = '2026-01-15T09:00:00.000Z'
const quoted = { type: 'quoted', occurred_at, values: { premium: 1250 } }
const sold = { type: 'sold', occurred_at, product: 'TL1', values: { premium: 1250, commission: 30_000 } }

type Body = {
  readonly data: Outcome & { readonly status: string; readonly reason: string }
  readonly error: { readonly code: string; readonly fields?: Readonly<Record<string, string>> }
}
const post = async (body: object, headers: Record<string, string> = {}) => {
  const answered = await fixture.post(address, body, headers)
  return { ...answered, body: answered.body as Body }
}
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

test('200: what was sent is answered with the outcome, also after a person has corrected what was held', async () => {
  const event_id = fresh()
  const sent = { ...quoted, event_id, lead: { email: `${fresh()}@example.org`, match_on_details: true } }
  const held = await post(sent)
  const admin = `/admin/v1/organisations/${organisation_id}/held_outcomes/${held.body.data.id}`
  await fixture.post(`${admin}/correct`, { ...quoted, contact_id, deal_ref: 'D-9' })

  const again = await post(sent)

  expect([held.status, again.status, again.headers.get('Idempotent-Replay')]).toEqual([202, 200, 'true'])
  expect(again.body.data).toMatchObject({ id: held.body.data.id, contact_id, deal_ref: 'D-9', event_id })
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
  const long = await post({ ...quoted, contact_id }, { 'Idempotency-Key': 'x'.repeat(201) })
  const fields = { 'Idempotency-Key': 'must be at most 200 characters' }
  expect(long).toMatchObject({ status: 422, body: { error: { code: 'validation_failed', fields } } })
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

test('a held outcome is listed for the team, answered again with 202, and recorded when it is matched', async () => {
  const lead = await fixture.send(website)
  const event_id = fresh()
  const sent = { ...quoted, event_id, lead: { email: 'carol@example.org', match_on_details: true } }
  const held = await post(sent)
  const again = await post(sent)
  expect([again.status, again.body, again.headers.get('Idempotent-Replay')]).toEqual([202, held.body, 'true'])
  const admin = `/admin/v1/organisations/${organisation_id}/held_outcomes`
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
  const admin = `/admin/v1/organisations/${organisation_id}/held_outcomes`

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

test('amounts of a file are in the currency of their row, or else of the organisation', async () => {
  const contact_id = await fixture.send()
  const row = (line: number, premium: string, currency?: string) => ({
    line,
    fields: { type: 'quoted', occurred_at: '2026-01-15', contact_id, premium, ...(currency && { currency }) },
  })
  const rows = [
    row(2, '£1,250.5'),
    row(3, '1,250', 'JPY'),
    row(4, '1.25', 'KWD'),
    row(5, '12.50', 'JPY'),
    // Elsewhere that is a thousand, and something.
    row(6, '1.250', 'EUR'),
  ]
  const uploaded = await fixture.post(`/admin/v1/organisations/${organisation_id}/uploaded_outcomes`, {
    upload: 'currencies',
    rows,
  })
  expect(uploaded.body).toMatchObject({
    data: {
      taken: 3,
      faults: [
        { line: 5, field: 'premium', reason: 'must be an amount in JPY, as 1250' },
        { line: 6, field: 'premium', reason: 'must be an amount in EUR, as 12.50' },
      ],
    },
  })
  await fixture.settled()

  const { body } = await fixture.get(`/api/v1/crm/outcomes?contact_id=${contact_id}`)
  expect(body).toMatchObject({
    data: [
      { currency: 'GBP', values: { premium: 125_050 } },
      { currency: 'JPY', values: { premium: 1_250 } },
      { currency: 'KWD', values: { premium: 1_250 } },
    ],
  })
})

test('a dry run of a file names the rows that the file itself will, by their columns', async () => {
  const contact_id = await fixture.send()
  const rows = [
    { line: 2, fields: { type: 'lost', occurred_at: '2026-01-15', external_id: 'nobody' } },
    { line: 3, fields: { type: 'quoted', occurred_at: '2026-01-15', contact_id, premium: '12.505' } },
    { line: 4, fields: { type: 'lost', occurred_at: 'soon', contact_id } },
  ]
  const send = async (dry_run: boolean) =>
    (
      await fixture.post(`/admin/v1/organisations/${organisation_id}/uploaded_outcomes`, {
        upload: 'dry',
        dry_run,
        rows,
      })
    ).body

  const dry = await send(true)

  expect(dry).toMatchObject({
    data: {
      taken: 0,
      held: 0,
      faults: [
        { line: 2, field: 'external_id', reason: 'is the id of no lead' },
        { line: 3, field: 'premium', reason: 'must be an amount in pounds, as 12.50' },
        { line: 4, field: 'occurred_at', reason: expect.stringContaining('a date and time') as string },
      ],
    },
  })
  expect(await send(false)).toEqual(dry)
})
