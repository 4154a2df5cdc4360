import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { LeadRecord } from '#domain/leads/record.ts'
import { startLeadReader } from '../../stand-ins/lead-reader.ts'
import { leadService, type LeadService } from './fixture.ts'

let model: Awaited<ReturnType<typeof startLeadReader>>
let service: LeadService
beforeAll(async () => {
  model = await startLeadReader()
  service = await leadService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  await service.setUp(`
organisations:
  - slug: firm
    name: A firm
    provider_accounts: [{ provider: lead_reader, base_url: '${model.url}', account: m, secret: key }]
    custom_fields: [{ key: cover, label: Cover, type: money }, { key: smoker, label: Smoker, type: boolean }]
    lead_reading: [{ calls_a_day: 9 }]
`)
  // So early that the day does not end during the tests.
  const now = service.parts.clock.now()
  const morning = new Date(now).setUTCHours(25, 0, 0, 0)
  await forward(Math.ceil((morning - now.getTime()) / 1_000))
}, 60_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await model.close()
})

const patience = { timeout: 60_000, interval: 20 }
const person = () => ({ email: `${crypto.randomUUID()}@example.com`, first_name: 'Ada' })
/** The lead is shown by a read model of its own, which may be behind that of the ingests. */
const expectFacts = (contact_id: string | undefined, facts: object) =>
  vi.waitFor(async () => {
    const { body } = await service.send<LeadRecord>('GET', `${service.admin}/leads/${contact_id}`)
    expect(body.data.facts).toEqual(facts)
  }, patience)

const stateOf = (id: string, wanted: (shown: Awaited<ReturnType<typeof service.get>>['body']['data']) => boolean) =>
  vi.waitFor(async () => {
    const { data } = (await service.get(id)).body
    if (!wanted(data)) throw new Error(JSON.stringify(data))
    return data
  }, patience)

const forward = (forward_seconds: number) => service.send('POST', '/admin/v1/clock', { body: { forward_seconds } })

test('what a model finds in a lead becomes facts of the person, and how much was asked is listed', async () => {
  const applied = await service.process({ identity: person(), text: 'My cover is £90,000. Smoker: no.' })

  expect(applied).toMatchObject({ status: 'applied', truncated: false })
  await expectFacts(applied.contact_id, { cover: 9_000_000, smoker: false })
  const { body } = await service.send<{ day: string; calls: number; tokens: number }[]>(
    'GET',
    `${service.admin}/reading_use`,
  )
  expect(body.data).toHaveLength(1)
  expect(body.data[0]?.calls).toBe(1)
  expect(body.data[0]?.tokens).toBeGreaterThan(0)
  expect(body).toMatchObject({ next_before: null })
  const full = await service.send('GET', `${service.admin}/reading_use?limit=1`)
  expect(full.body).toMatchObject({ next_before: body.data[0]?.day })
  const before = await service.send(`GET`, `${service.admin}/reading_use?before=${body.data[0]?.day}`)
  expect(before.body.data).toEqual([])
})

test('trouble while reading loses nothing: the lead is there at once, and after five tries the reading has failed with its reason', async () => {
  const { body } = await service.post({ identity: person(), declared: { colour: 'red' }, text: '[[unavailable]]' })
  const { id } = body.data

  const deferred = await stateOf(id, ({ status }) => status === 'deferred')
  expect(deferred).toMatchObject({ error: 'The reader answered with status 503.' })
  expect(Date.parse(deferred.retry_after ?? '')).toBeGreaterThan(Date.parse(deferred.received_at))
  expect(deferred.explanation).toContain('will try again by ourselves')
  await expectFacts(deferred.contact_id, { colour: 'red' })
  for (const seconds of [15, 60, 180, 900]) {
    const before = (await service.get(id)).body.data.retry_after
    await forward(seconds)
    await stateOf(
      id,
      ({ status, retry_after }) => status === 'failed' || (status === 'deferred' && retry_after !== before),
    )
  }

  const failed = await stateOf(id, ({ status }) => status === 'failed')
  expect(failed).toMatchObject({
    contact_id: deferred.contact_id,
    error: 'The reader answered with status 503.',
    explanation: expect.stringContaining('recorded with what was declared') as unknown,
  })
  expect(failed.processed_at).toBeDefined()
  expect(failed.retry_after).toBeUndefined()
}, 60_000)

test('over its budget a lead waits for the next day, and is read then', async () => {
  await forward(3_600)
  const texts = Array.from({ length: 4 }, (_, index) => `Cover is £${index + 1}0,000.`)
  const sent = []
  for (const text of texts) sent.push((await service.post({ identity: person(), text })).body.data.id)
  const waits = await Promise.all(
    sent.map((id) => stateOf(id, ({ status, error }) => status === 'applied' || (error ?? '').includes('budget'))),
  )

  expect(waits.map(({ status }) => status).toSorted()).toEqual(['applied', 'applied', 'applied', 'deferred'])
  const deferred = waits.find(({ status }) => status === 'deferred')
  expect(deferred?.error).toBe('The budget for reading is used up for today.')
  expect(Date.parse(deferred?.retry_after ?? '') % 1_800_000).toBe(0)
  await forward(24 * 3_600)
  expect(await stateOf(deferred?.id ?? '', ({ status }) => status === 'applied')).toMatchObject({ facts_written: 3 })
}, 60_000)

test('200: while somebody is asked what a lead says, it is extracting, and known whom it is about', async () => {
  const { id } = (await service.post({ identity: person(), text: '[[silence]]' })).body.data

  expect(await stateOf(id, ({ status }) => status === 'extracting')).toMatchObject({
    contact_id: expect.any(String) as unknown,
    explanation: expect.stringMatching(/reading/) as unknown,
  })
})
