import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { routesByApi } from '../../scripts/openapi.ts'
import { asOfAddresses } from '../../query-api/audit/as-of/addresses.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { memberOf } from '../users/team.ts'
import { wholeService, type Client } from '../whole-service.ts'
import { firm } from './firm.ts'

type Event = { readonly position: string; readonly type: string; readonly recorded_at: string }
type AsOf = { readonly answer: unknown; readonly events: number; readonly last_position: string | null }
type Difference = {
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[]
}

let service: Awaited<ReturnType<typeof wholeService>>
let organisation_id: string
let stranger_id: string
let client: Client
let auditor: string
let strangers: string
const call = async <Data = { id: string }>(method: string, path: string, body?: object): Promise<Data> => {
  const answer = await service.send<Data>(method, `/api/v1${path}`, { token: client.token, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
const ask = <Data>(what: string, query: Readonly<Record<string, string>>, token = auditor, of = organisation_id) =>
  service.send<Data>('GET', `/audit/v1/organisations/${of}/${what}?${new URLSearchParams(query).toString()}`, { token })

/** The newest event of a record, once the search shows so many. */
const newestOf = async (record: string, count: number): Promise<Event> => {
  let newest: Event | undefined
  await vi.waitUntil(
    async () => {
      const { body } = await ask<Event[]>('events', { record, limit: '200' })
      newest = body.data[0]
      return body.data.length >= count
    },
    { timeout: 30_000, interval: 50 },
  )
  return newest ?? expect.fail('Nothing has happened.')
}

const customer = (id: string, first_name: string) => ({
  first_name,
  last_name: 'Okafor',
  email: `${id}@example.com`,
  dob: '1990-05-01',
})

const later = () => ({ known_at: '2100-01-01T00:00:00Z' })

/** An application as it stood after each of its acts, with the position of the last event of each. */
const acted = async () => {
  const { id } = await call('POST', '/applications', { product_slug: 'simple-life', journey_slug: 'standard' })
  const address = `/api/v1/applications/${id}`
  const moments: { readonly position: string; readonly known_at: string; readonly body: unknown }[] = []
  const keep = async () => {
    const { body } = await service.send('GET', address, { token: client.token })
    const events = await service.parts.storedLog.read(`application-${id}`)
    const { position, recorded_at } = await newestOf(`application-${id}`, events.length)
    const { share_token, ...data } = body.data as Readonly<Record<string, unknown>>
    expect(share_token).toEqual(expect.any(String))
    moments.push({ position, known_at: recorded_at, body: { data } })
  }
  await keep()
  await call('PATCH', `/applications/${id}/customer`, { customer: customer(id, 'Ada') })
  await keep()
  await call('PATCH', `/applications/${id}/customer`, { customer: customer(id, 'Eve') })
  await keep()
  const [first, second, third] = moments
  if (!first || !second || !third) throw new Error('Three acts were kept.')
  return { id, address, moments: [first, second, third] as const }
}

describe.each(['PostgreSQL', 'EventStoreDB'])('on the log of %s', (log) => {
  let eventStoreDb: Awaited<ReturnType<typeof startEventStoreDb>> | undefined
  beforeAll(async () => {
    if (log === 'EventStoreDB') eventStoreDb = await startEventStoreDb()
    service = await wholeService(
      eventStoreDb ? { EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: eventStoreDb.url } : { EVENT_LOG: 'postgres' },
    )
    await service.setUp(firm('audited'))
    organisation_id = (await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')).body.data[0]?.id ?? ''
    stranger_id = await service.organisation('strangers')
    client = await service.client(organisation_id, ['read', 'write'])
    auditor = (await memberOf(service, organisation_id, ['auditor'], { sees_personal_data: true })).key
    strangers = (await memberOf(service, stranger_id, ['auditor'], { sees_personal_data: true })).key
  }, 120_000)
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    await eventStoreDb?.[Symbol.asyncDispose]()
  })

  test('question 11: what stood in an application at each moment, in the shape that it has now', async () => {
    const { address, moments } = await acted()
    for (const { position, body } of moments) {
      const { status, body: shown } = await ask<AsOf>('as_of', { address, position })
      expect([status, shown.data.answer]).toEqual([200, body])
      expect(shown.data.last_position).toBe(position)
    }
  })

  test('question 11, by the time at which it was known', async () => {
    const { address, moments } = await acted()
    const [, { known_at, body }] = moments
    expect((await ask<AsOf>('as_of', { address, known_at })).body.data.answer).toEqual(body)
    const before = await ask<AsOf>('as_of', { address, known_at: '2020-01-01T00:00:00.000Z' })
    expect([before.status, before.body.error?.code]).toEqual([404, 'not_found'])
  })

  test('question 12: what differs between two moments, personal values included', async () => {
    const { address, moments } = await acted()
    const [first, second, third] = moments
    const between = async (from: string, to?: string) => {
      const query = { address, from_position: from, ...(to !== undefined && { to_position: to }) }
      return (await ask<Difference>('difference', query)).body.data.changes
    }
    expect(await between(second.position, third.position)).toContainEqual({
      path: 'data.customer.first_name',
      before: 'Ada',
      after: 'Eve',
    })
    expect(await between(third.position)).toEqual([])
    const fromNothing = await ask<Difference>('difference', { address, from_known_at: '2020-01-01T00:00:00Z' })
    expect(fromNothing.body.data.changes.map(({ path, before }) => ({ path, before }))).toEqual([
      { path: 'data', before: null },
    ])
    expect((await between(first.position, second.position)).map(({ path }) => path)).not.toContain('data.id')
  })

  describe('nobody sees the past of another organisation', () => {
    test('not its auditor, and not below the address of another', async () => {
      const { address, moments } = await acted()
      const { position } = moments[2]
      expect((await ask('as_of', { address, position }, strangers)).status).toBe(404)
      expect((await ask('as_of', { address, position }, strangers, stranger_id)).status).toBe(404)
      expect((await ask('difference', { address, from_position: position }, strangers, stranger_id)).status).toBe(404)
      const named = `/admin/v1/organisations/${organisation_id}/leads/${randomUUID()}`
      expect((await ask('as_of', { address: named, position }, strangers, stranger_id)).status).toBe(404)
    })

    test('nor do those who may not see personal values, or who are no auditors', async () => {
      const { address, moments } = await acted()
      const { position } = moments[2]
      const masked = await memberOf(service, organisation_id, ['auditor'], { name: 'Masked' })
      const leads = await memberOf(service, organisation_id, ['leads'])
      for (const { key } of [masked, leads]) expect((await ask('as_of', { address, position }, key)).status).toBe(403)
    })
  })

  test('each parameter that does not fit is named', async () => {
    const { address, moments } = await acted()
    const [{ position, known_at }] = moments
    const refused = async (query: Readonly<Record<string, string>>) => {
      const { status, body } = await ask('as_of', query)
      return [status, Object.keys(body.error?.fields ?? {})]
    }
    expect(await refused({ address })).toEqual([422, ['position']])
    expect(await refused({ address, position, known_at })).toEqual([422, ['position']])
    expect(await refused({ address, position: '5' })).toEqual([422, ['position']])
    expect(await refused({ address: '/admin/v1/rate_tables/%00/versions/1', position })).toEqual([422, ['address']])
    expect(await refused({ address: '/admin/v1/policies', position })).toEqual([422, ['address']])
    expect(await refused({ address: '/api/v1/nothing', position })).toEqual([422, ['address']])
    expect(await refused({ address: 'https://elsewhere.test/', position })).toEqual([422, ['address']])
    expect(await refused({ address: '/admin/v1/team_applications/1', position })).toEqual([404, []])
  })

  test('what had not happened by then is left out, and 409 names the event that cannot be followed without it', async () => {
    const { id, address, moments } = await acted()
    const { position, body } = moments[2]
    const all = await ask<AsOf>('as_of', { address, position, happened_at: '2100-01-01T00:00:00Z' })
    expect(all.body.data.answer).toEqual(body)
    expect((await ask('as_of', { address, position, happened_at: '2020-01-01T00:00:00Z' })).status).toBe(404)

    const stream = `application-${id}`
    const saved = (await service.parts.eventLog.read(stream)).findLast(({ type }) => type === 'CustomerSaved')
    if (!saved) throw new Error('Nothing was saved.')
    const { type, schema_version, data, metadata } = saved
    const earlier = { ...metadata, occurred_at: '2021-01-01T00:00:00.000Z' }
    const event = { id: randomUUID(), type, schema_version, data, metadata: earlier }
    await service.parts.eventLog.append(stream, 'any', [event])
    const { status, body: refused } = await ask('as_of', { address, ...later(), happened_at: '2021-06-01T00:00:00Z' })
    expect([status, refused.error?.code, refused.error?.message.includes(event.id)]).toEqual([409, 'conflict', true])
  })
})

test('every address that can be read is shown as of a moment, or says why not', () => {
  const read = routesByApi().query.flatMap(({ spec }) => (spec.method === 'get' ? [spec.address] : []))
  expect(Object.keys(asOfAddresses).toSorted()).toEqual(read.toSorted())
})
