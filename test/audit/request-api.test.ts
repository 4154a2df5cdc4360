import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { systemClock } from '#infra/clock.ts'
import { makeLog } from '#infra/log.ts'
import { partitionsFor } from '../../delivery-worker/recovery/partitions.ts'
import { keepUp } from '../../delivery-worker/recovery/upkeep.ts'
import { wholeService, type Client } from '../whole-service.ts'
import { firm } from './firm.ts'

type Node = {
  readonly event: {
    readonly event_id: string
    readonly type: string
    readonly actor: { readonly type: string; readonly id: string | null }
    readonly record: { readonly type: string; readonly id: string }
    readonly recorded_at: string
    readonly request_id: string
  }
  readonly timers: readonly { readonly kind: string; readonly due_at: string }[]
  readonly deliveries: readonly {
    readonly state: string
    readonly attempts: readonly { readonly status: number | null; readonly outcome: string | null }[]
  }[]
  readonly leads_to: readonly Node[]
}
type Caused = { readonly request_id: string; readonly events: readonly Node[]; readonly is_cut: boolean }

let service: Awaited<ReturnType<typeof wholeService>>
let organisation_id: string
let stranger_id: string
let client: Client
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('audited'))
  organisation_id = (await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')).body.data[0]?.id ?? ''
  stranger_id = await service.organisation('strangers')
  client = await service.client(organisation_id, ['read', 'write'])
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const call = async (method: string, path: string, body: object = {}, request_id: string = randomUUID()) => {
  const headers = { 'x-request-id': request_id }
  const answer = await service.send<{ id: string }>(method, `/api/v1${path}`, { token: client.token, headers, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return { id: answer.body.data.id, request_id }
}
const ask = (request_id: string, organisation = organisation_id) =>
  service.send<Caused>('GET', `/audit/v1/organisations/${organisation}/requests/${request_id}`)

/** What a request has caused, once it is as expected. */
const causedOnce = async (request_id: string, isThere: (all: readonly Node[]) => boolean): Promise<Caused> => {
  let found: Caused | undefined
  await vi.waitUntil(
    async () => {
      const { status, body } = await ask(request_id)
      if (status !== 200) return false
      found = body.data
      return isThere(allOf(found.events))
    },
    { timeout: 30_000, interval: 50 },
  )
  if (!found) throw new Error('Nothing was caused.')
  return found
}
const allOf = (nodes: readonly Node[]): readonly Node[] => nodes.flatMap((node) => [node, ...allOf(node.leads_to)])
const has =
  (type: string) =>
  (nodes: readonly Node[]): boolean =>
    nodes.some(({ event }) => event.type === type)

const sold = { product_slug: 'simple-life', journey_slug: 'standard' }
const customer = (id: string) => ({
  first_name: 'Ada',
  last_name: 'Okafor',
  email: `${id}@example.com`,
  dob: '1990-05-01',
})

test('question 13: all that one request caused, with what followed by itself, and nothing of another request', async () => {
  const started = await call('POST', '/applications', sold)
  const saved = await call('PATCH', `/applications/${started.id}/customer`, { customer: customer(started.id) })

  const { events, is_cut } = await causedOnce(saved.request_id, has('CustomerCreated'))

  expect(events.map(({ event }) => event.type)).toEqual(['IdentityClaimed', 'CustomerSaved'])
  expect(events[1]?.event).toMatchObject({ actor: { type: 'api', id: client.client_id }, record: { id: started.id } })
  const all = allOf(events)
  expect(new Set(all.map(({ event }) => event.request_id))).toEqual(new Set([saved.request_id]))
  expect(all.find(({ event }) => event.type === 'CustomerCreated')?.event.actor).toMatchObject({ type: 'system' })
  expect(is_cut).toBe(false)
  expect((await ask(saved.request_id, stranger_id)).status).toBe(404)
  expect((await ask(randomUUID())).status).toBe(404)
})

test('what a request has set is told while it waits, and when its time has come as what followed', async () => {
  const { id } = await call('POST', '/applications', sold)
  await call('PATCH', `/applications/${id}/customer`, { customer: customer(id) })
  await call('PATCH', `/applications/${id}`, { cover_amount_pence: 10_000_000, term_years: 20 })
  const quoted = await call('POST', `/applications/${id}/quotes`)

  const waits = ({ timers }: Node) => timers.some(({ kind }) => kind === 'quote_expiry')
  const before = await causedOnce(quoted.request_id, (all) => all.some(waits))
  expect(before.events.map(({ event }) => event.type)).toEqual(['QuoteIssued'])

  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 31 * 86_400 } })

  const after = await causedOnce(quoted.request_id, has('QuoteExpired'))
  const expired = after.events[0]?.leads_to.find(({ event }) => event.type === 'QuoteExpired')
  expect(expired?.event.actor).toEqual({ type: 'system', id: 'timer quote_expiry' })
  await causedOnce(quoted.request_id, (all) => !all.some(waits))
})

type Attempt = { readonly outcome: string; readonly status: number | null; readonly exchange?: object }

/** A webhook of an event that has ended, with its attempts. */
const delivered = async (event: { event_id: string; recorded_at: string }, attempts: readonly Attempt[]) => {
  const [id, connection_id] = [randomUUID(), randomUUID()]
  const { event_id, recorded_at } = event
  const { pool } = service.parts
  await partitionsFor(pool)([recorded_at])
  await pool.query(sql`
    insert into delivery (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
      sequence, subject_type, subject_id, message, state, planned_at, finished_at)
    values (${recorded_at}, ${id}, ${organisation_id}, ${event_id}, ${connection_id}, ${connection_id},
      'application.started', ${`application-${id}`}, '1', 0, 'application', ${id}, '{}', 'delivered', ${recorded_at}, ${recorded_at})`)
  for (const [index, { outcome, status, exchange = null }] of attempts.entries())
    await pool.query(sql`
      insert into delivery_attempt (recorded_at, delivery_id, number, started_at, finished_at, outcome, status, exchange)
      values (${recorded_at}, ${id}, ${index + 1}, ${recorded_at}, ${recorded_at}, ${outcome}, ${status},
        ${JSON.stringify(exchange)}::json)`)
  return id
}

const answered = (status: number): Attempt => ({ outcome: 'answered', status })

test('who was told is told, with every attempt and what was answered', async () => {
  const started = await call('POST', '/applications', sold)
  const [told] = (await causedOnce(started.request_id, has('ApplicationStarted'))).events
  if (!told) throw new Error('The application was not started.')
  const id = await delivered(told.event, [answered(503), answered(200)])

  const [event] = (await ask(started.request_id)).body.data.events

  expect(event?.deliveries).toMatchObject([
    { id, state: 'delivered', attempts: [{ status: 503 }, { status: 200, outcome: 'answered' }] },
  ])
})

test('question 17: was this event delivered, two years ago, with the digest of what was sent and without its headers', async () => {
  const recorded_at = new Date(Date.now() - 2 * 365 * 86_400_000).toISOString()
  const event = { event_id: randomUUID(), recorded_at }
  const url = 'https://firm.example/hooks'
  const request = { method: 'POST', url, headers: { 'x-service-signature': 'v1=…' }, body_sha256: 'a'.repeat(64) }
  const id = await delivered(event, [
    answered(503),
    { ...answered(200), exchange: { request, response: { status: 200 } } },
  ])
  await delivered({ ...event, event_id: randomUUID() }, [answered(200)])
  const { pool } = service.parts
  await keepUp({
    pool,
    log: makeLog('silent', 'test'),
    clock: systemClock,
    retentionDays: 30,
    accessDays: 2557,
  })
  expect((await pool.query(sql`select from delivery where id = ${id}`)).rowCount).toBe(0)

  const askTold = (organisation: string) =>
    service.send('GET', `/audit/v1/organisations/${organisation}/events/${event.event_id}/deliveries`)
  const attempt = {
    started_at: recorded_at,
    finished_at: recorded_at,
    outcome: 'answered',
    reason: null,
    response: null,
  }
  expect((await askTold(organisation_id)).body.data).toMatchObject([
    {
      id,
      event_id: event.event_id,
      state: 'delivered',
      recorded_at,
      attempts: [
        { ...attempt, number: 1, status: 503, request: null },
        {
          ...attempt,
          number: 2,
          status: 200,
          request: { method: 'POST', url, headers: {}, body_sha256: 'a'.repeat(64) },
        },
      ],
    },
  ])
  expect((await askTold(stranger_id)).status).toBe(404)
  // Of an event that nobody was told of, that is the answer.
  const { request_id } = await call('POST', '/applications', sold)
  const [untold] = (await causedOnce(request_id, has('ApplicationStarted'))).events
  const path = `/audit/v1/organisations/${organisation_id}/events/${untold?.event.event_id}/deliveries`
  await vi.waitFor(async () =>
    expect(await service.send('GET', path)).toMatchObject({ status: 200, body: { data: [] } }),
  )
})
