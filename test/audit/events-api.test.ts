import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { wholeService, type Client } from '../whole-service.ts'
import { firm } from './firm.ts'

type Event = {
  readonly event_id: string
  readonly record: { readonly type: string; readonly id: string }
  readonly type: string
  readonly actor: { readonly type: string; readonly id: string | null }
  readonly request_id: string
  readonly recorded_at: string
  readonly occurred_at: string
  readonly person_ids: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  readonly personal: string
  readonly personal_fields: readonly string[]
}
type Page = {
  readonly data: readonly Event[]
  readonly next_cursor: string | null
  readonly previous_cursor: string | null
  readonly as_of_position: string | null
}

let service: Awaited<ReturnType<typeof wholeService>>
let organisation_id: string
let stranger_id: string
let client: Client

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('audited'))
  await service.setUp(firm('strangers'))
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => body.data.find((each) => each.slug === slug)?.id ?? ''
  organisation_id = idOf('audited')
  stranger_id = idOf('strangers')
  client = await service.client(organisation_id, ['read', 'write'])
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const search = async (query: Readonly<Record<string, string>>, organisation = organisation_id): Promise<Page> => {
  const asked = new URLSearchParams(query).toString()
  const { status, body } = await service.send('GET', `/audit/v1/organisations/${organisation}/events?${asked}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as unknown as Page
}
const typesOf = ({ data }: Page) => data.map(({ type }) => type)

/** What the list shows once it shows as many events as there are. */
const found = async (query: Readonly<Record<string, string>>, count: number): Promise<Page> => {
  await vi.waitFor(async () => expect((await search(query)).data.length).toBeGreaterThanOrEqual(count), {
    timeout: 20_000,
    interval: 50,
  })
  return search(query)
}

const call = async (method: string, path: string, body: object = {}, request_id: string = randomUUID()) => {
  const { token } = client
  const headers = { 'x-request-id': request_id }
  const answer = await service.send<{ id: string }>(method, `/api/v1${path}`, { token, headers, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return { id: answer.body.data.id, request_id }
}

const application = async () => {
  const started = await call('POST', '/applications', { product_slug: 'simple-life', journey_slug: 'standard' })
  const customer = { first_name: 'Ada', last_name: 'Okafor', email: `${started.id}@example.com`, dob: '1990-05-01' }
  const saved = await call('PATCH', `/applications/${started.id}/customer`, { customer })
  const covered = await call('PATCH', `/applications/${started.id}`, { cover_amount_pence: 10_000_000, term_years: 20 })
  return { id: started.id, started, saved, covered }
}

test('question 5: who changed this record, when and by which request, and nothing of another record', async () => {
  const { id, started, saved, covered } = await application()
  await application()

  const page = await found({ record: `application-${id}` }, 3)

  expect(page.data.map(({ type, record, actor, request_id }) => ({ type, record, actor, request_id }))).toEqual(
    [
      ['CoverSaved', covered.request_id],
      ['CustomerSaved', saved.request_id],
      ['ApplicationStarted', started.request_id],
    ].map(([type, request_id]) => ({
      type,
      record: { type: 'application', id },
      actor: { type: 'api', id: client.client_id },
      request_id,
    })),
  )
  expect(page.as_of_position).toMatch(/^\d/)
  expect(await search({ record: `application-${id}` }, stranger_id)).toMatchObject({ data: [], next_cursor: null })
})

test('question 6: everything that one person did in a time, and nothing that others did or that was before', async () => {
  const key = { name: `anna-${randomUUID().slice(0, 8)}`, scope: 'all' }
  const made = await service.send<{ key: string }>('POST', '/admin/v1/operator_keys', { body: key })
  const token = made.body.data.key
  const change = (slug: string, as: string) =>
    service.send('PATCH', `/admin/v1/organisations/${organisation_id}`, { body: { name: slug }, token: as })
  await vi.waitFor(async () => expect((await change('First', token)).status).toBe(200), { timeout: 20_000 })
  const first = await found({ actor_id: key.name }, 1)
  const before = first.data[0]?.recorded_at ?? ''
  await change('Of another key', 'the operator key of the tests')
  await change('Second', token)
  await change('Third', token)

  const recorded_since = new Date(Date.parse(before) + 1).toISOString()
  const page = await found({ actor_id: key.name, recorded_since }, 2)

  expect(page.data.map(({ type, data }) => [type, data['name']])).toEqual([
    ['OrganisationChanged', 'Third'],
    ['OrganisationChanged', 'Second'],
  ])
  expect(typesOf(await search({ actor_id: key.name, recorded_until: recorded_since }))).toEqual(['OrganisationChanged'])
  expect(typesOf(await search({ actor_id: key.name }, stranger_id))).toEqual([])
})

test('what may identify a person is empty, and named, until it is asked for', async () => {
  const { id } = await application()
  const query = { record: `application-${id}`, kind: 'application.customer_saved' }

  const [masked] = (await found(query, 1)).data
  expect(masked).toMatchObject({ type: 'CustomerSaved', personal: 'masked' })
  expect(masked?.personal_fields).toContain('customer')
  expect(JSON.stringify(masked)).not.toContain('Okafor')

  const [opened] = (await search({ ...query, personal: 'opened' })).data
  expect(opened).toMatchObject({ personal: 'opened', data: { customer: { last_name: 'Okafor' } } })

  const [started] = (await search({ record: `application-${id}`, kind: 'CoverSaved' })).data
  expect(started).toMatchObject({ personal: 'none', data: { term_years: 20 } })
})

test('all that is about one person is found by the person, also what was said before they were known', async () => {
  const { id } = await application()
  await application()
  const [saved] = (await found({ record: `application-${id}`, kind: 'CustomerSaved' }, 1)).data
  const person_id = saved?.person_ids[0] ?? ''

  const page = await found({ person_id }, 6)

  const recordsOf = (category: string) =>
    new Set(page.data.flatMap(({ record }) => (record.type === category ? [record.id] : [])))
  expect(recordsOf('application')).toEqual(new Set([id]))
  expect(recordsOf('customer')).toEqual(new Set([person_id]))
  expect(typesOf(page)).toEqual(expect.arrayContaining(['ApplicationStarted', 'CoverSaved', 'CustomerCreated']))
  expect((await search({ person_id }, stranger_id)).data).toEqual([])
})

test('pages lead to older events and back again, each event once', async () => {
  const { id } = await application()
  const query = { record: `application-${id}`, limit: '2' }
  await found({ record: `application-${id}` }, 3)

  const first = await search(query)
  expect(first).toMatchObject({ data: [{ type: 'CoverSaved' }, { type: 'CustomerSaved' }], previous_cursor: null })
  const second = await search({ ...query, cursor: first.next_cursor ?? '' })
  expect(second).toMatchObject({ data: [{ type: 'ApplicationStarted' }], next_cursor: null })
  const back = await search({ ...query, cursor: second.previous_cursor ?? '' })
  expect(back.data).toEqual(first.data)
  expect((await search({ ...query, cursor: back.next_cursor ?? '' })).data).toEqual(second.data)
})

test.each(['recorded', 'occurred'] as const)('pages by the time when it was %s show each event once', async (time) => {
  const { covered, started } = await application()
  const { data } = await found({ request_id: covered.request_id }, 1)
  const [begun] = (await search({ request_id: started.request_id })).data
  const query = {
    [`${time}_since`]: begun?.[`${time}_at`] ?? '',
    [`${time}_until`]: new Date(Date.parse(data[0]?.recorded_at ?? '') + 1).toISOString(),
    limit: '1',
    actor_id: client.client_id,
  }

  const shown: string[] = []
  let cursor: string | null | undefined
  do {
    const page = await search({ ...query, ...(cursor ? { cursor } : {}) })
    shown.push(...typesOf(page))
    cursor = page.next_cursor
  } while (cursor !== null)

  expect(shown).toEqual(['CoverSaved', 'CustomerSaved', 'IdentityClaimed', 'ApplicationStarted'])
})

test('what belongs to no organisation is searched apart', async () => {
  const { body } = await service.send('GET', '/audit/v1/events?kind=OperatorKeyMade')
  const { data } = body as unknown as Page

  expect(data.length).toBeGreaterThan(0)
  expect(data[0]).toMatchObject({ type: 'OperatorKeyMade', data: { key_digest: 'not shown' } })
  expect((await search({ kind: 'OperatorKeyMade' })).data).toEqual([])
})

test.each([
  [{ kind: 'PolicySold' }, 'kind'],
  [{ record: 'policy' }, 'record'],
  [{ person_id: 'Ada' }, 'person_id'],
  [{ recorded_since: 'yesterday' }, 'recorded_since'],
  [{ cursor: 'x' }, 'cursor'],
  [{ limit: '201' }, 'limit'],
])('422 invalid_parameter: %j', async (query, field) => {
  const asked = new URLSearchParams(query).toString()
  const { status, body } = await service.send('GET', `/audit/v1/organisations/${organisation_id}/events?${asked}`)

  expect({ status, code: body.error?.code }).toEqual({ status: 422, code: 'invalid_parameter' })
  expect(Object.keys(body.error?.fields ?? {})).toEqual([field])
})

test('401: nobody looks into the past without a key', async () => {
  const { status } = await service.send('GET', `/audit/v1/organisations/${organisation_id}/events`, { token: 'x' })

  expect(status).toBe(401)
})
