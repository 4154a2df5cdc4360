import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { memberOf, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { firm } from './firm.ts'

type Access = {
  readonly id: string
  readonly actor: { readonly type: string; readonly id: string }
  readonly method: string
  readonly route: string
  readonly record_type: string
  readonly record_ids: readonly string[]
  readonly rows: number
  readonly personal: string | null
  readonly filters: readonly string[]
  readonly request_id: string
}
type Page = {
  readonly data: readonly Access[]
  readonly next_cursor: string | null
  readonly previous_cursor: string | null
}

let service: Awaited<ReturnType<typeof wholeService>>
let own: string
let others: string
let auditor: Member
let stranger: Member
let reader: Member
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('read'))
  await service.setUp(firm('strangers'))
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => body.data.find((each) => each.slug === slug)?.id ?? ''
  own = idOf('read')
  others = idOf('strangers')
  // Neither needs the right to see personal values: there are none in what is asked here.
  auditor = await memberOf(service, own, ['auditor'])
  stranger = await memberOf(service, others, ['auditor'])
  reader = await memberOf(service, own, ['underwriting'])
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const read = (path: string, token: string, request_id: string = randomUUID()) =>
  service.send('GET', path, { token, headers: { 'x-request-id': request_id } })

const accesses = async (query: Readonly<Record<string, string>>, { key } = auditor, of = own): Promise<Page> => {
  const asked = new URLSearchParams(query).toString()
  const { status, body } = await service.send('GET', `/audit/v1/organisations/${of}/accesses?${asked}`, { token: key })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as unknown as Page
}

const application = async (organisation = own) => {
  const { token } = await service.client(organisation, ['read', 'write'])
  const start = { product_slug: 'simple-life', journey_slug: 'standard' }
  const started = await service.send<{ id: string }>('POST', '/api/v1/applications', { token, body: start })
  const { id } = started.body.data
  const customer = { first_name: 'Ada', last_name: 'Okafor', email: `${id}@example.com`, dob: '1990-05-01' }
  await service.send('PATCH', `/api/v1/applications/${id}/customer`, { token, body: { customer } })
  await service.send('GET', `/api/v1/applications/${id}`, { token })
  const personOf = async () => {
    const path = `/audit/v1/organisations/${organisation}/events?record=application-${id}&kind=CustomerSaved`
    const { body } = await service.send<{ person_ids: readonly string[] }[]>('GET', path)
    return body.data[0]?.person_ids[0]
  }
  const person_id = await vi.waitUntil(personOf, { timeout: 20_000, interval: 50 })
  return { id, person_id }
}

const routeOf = { application: '/admin/v1/team_applications/:id', list: '/admin/v1/team_applications' }

test('question 14: who read this person’s data, by which request, and nobody who read another’s', async () => {
  const [{ id, person_id }, another] = [await application(), await application()]
  const [one, many, otherOne] = [randomUUID(), randomUUID(), randomUUID()]
  const record = (of: string) => `${routeOf.list}/${of}?organisation_id=${own}`
  expect((await read(record(id), reader.key, one)).status).toBe(200)
  expect((await read(record(another.id), reader.key, otherOne)).status).toBe(200)
  expect((await read(`${routeOf.list}?organisation_id=${own}&status=in_capture`, reader.key, many)).status).toBe(200)

  const { data } = await accesses({ person_id, actor_id: reader.id })

  const shown = {
    actor: { type: 'user', id: reader.id },
    method: 'GET',
    record_type: 'team_applications',
    personal: null,
  }
  expect(data).toMatchObject([
    { ...shown, route: routeOf.list, request_id: many, rows: 2, filters: ['status'] },
    { ...shown, route: routeOf.application, request_id: one, rows: 1, filters: [] },
  ])
  expect(data[0]?.record_ids).toEqual(expect.arrayContaining([id, another.id]))
  expect(JSON.stringify(data)).not.toMatch(/Ada|Okafor|example\.com|in_capture/)
  // The API application that read it, too, is a server of the firm's own.
  expect((await accesses({ person_id })).data.map(({ actor }) => actor.type)).not.toContain('api')
  expect((await accesses({ person_id }, stranger, others)).data).toEqual([])
  expect((await read(`/audit/v1/organisations/${own}/accesses?person_id=${person_id}`, stranger.key)).status).toBe(404)
  expect((await read(`/audit/v1/organisations/${own}/accesses`, reader.key)).status).toBe(403)
})

test('an owner who exports the set-up, which names people: whom', async () => {
  const owner = await memberOf(service, own, ['owner'])
  const path = `/admin/v1/organisations/${own}/setup?format=json`
  const { status, body } = await service.send<{ setup: unknown }>('GET', path, { token: owner.key })
  expect({ status, text: JSON.stringify(body) }).toMatchObject({ status: 200 })

  const { data } = await accesses({ actor_id: owner.id })

  expect(data).toMatchObject([{ route: '/admin/v1/organisations/:organisation_id/setup', record_type: 'setup' }])
  expect(data[0]?.record_ids).toContain(reader.id)
  expect((await read(path, reader.key)).status).toBe(403)
  expect((await read(`/admin/v1/organisations/${others}/setup`, owner.key)).status).toBe(404)
})

test('by record, actor, address and time, alone and together, with cursors both ways', async () => {
  const { id } = await application()
  const path = `${routeOf.list}/${id}`
  for (const part of ['', '/timeline', '', '/timeline', ''])
    expect((await read(`${path}${part}?organisation_id=${own}`, reader.key)).status).toBe(200)
  const routesOf = (page: Page) => page.data.map(({ route }) => route.split('/').at(-1))

  const asked = { record_id: id, limit: '2' }
  const first = await accesses(asked)
  const second = await accesses({ ...asked, cursor: first.next_cursor ?? '' })
  const back = await accesses({ ...asked, cursor: second.previous_cursor ?? '' })

  expect([routesOf(first), routesOf(second)]).toEqual([
    [':id', 'timeline'],
    [':id', 'timeline'],
  ])
  expect(back.data).toEqual(first.data)
  expect(routesOf(await accesses({ ...asked, cursor: second.next_cursor ?? '' }))[0]).toBe(':id')
  const route = `${routeOf.application}/timeline`
  expect(routesOf(await accesses({ record_id: id, route }))).toEqual(['timeline', 'timeline'])
  expect(routesOf(await accesses({ actor_id: reader.id, route, limit: '1' }))).toEqual(['timeline'])
  expect((await accesses({ record_id: id, actor_id: auditor.id })).data).toEqual([])
  expect((await accesses({ record_id: id, until: '2020-01-01T00:00:00.000Z' })).data).toEqual([])
  expect((await accesses({ route: '/admin/v1/claims' })).data).toEqual([])
})

test('an act that answers a person’s record, and masked history, are recorded as well', async () => {
  const { id } = await application()
  const history = `/audit/v1/organisations/${own}/records/application/${id}/history`
  await service.send('GET', history)
  await service.send('GET', `${history}?personal=opened`)

  const { data } = await accesses({ record_id: id, actor_id: 'OPERATOR_KEY' })

  expect(data.filter(({ record_type }) => record_type === 'application').map(({ personal }) => personal)).toEqual([
    'opened',
    'masked',
  ])
  const owner = await memberOf(service, own, ['owner'], { name: 'Shown when added' })
  expect((await accesses({ record_id: owner.id })).data.map(({ method }) => method)).toContain('POST')
})

test('what a record was, and how it differs, is recorded with the record that the address names', async () => {
  const { id } = await application()
  const address = `/api/v1/applications/${id}`
  const past = `/audit/v1/organisations/${own}`
  await service.send('GET', `${past}/as_of?address=${address}&known_at=2100-01-01T00:00:00Z`)
  await service.send('GET', `${past}/difference?address=${address}&from_known_at=2020-01-01T00:00:00Z`)

  const { data } = await accesses({ record_id: id, actor_id: 'OPERATOR_KEY' })

  const routes = data.map(({ route }) => route.split('/').at(-1))
  expect(routes).toEqual(expect.arrayContaining(['as_of', 'difference']))
})

test('who asks who looked is recorded, too, and what belongs to no firm is the operator’s to read', async () => {
  await accesses({ record_id: randomUUID() })
  const { data } = await accesses({ actor_id: auditor.id, limit: '1' })
  expect(data).toMatchObject([{ route: '/audit/v1/organisations/:organisation_id/accesses', filters: ['record_id'] }])

  await service.send('GET', '/admin/v1/users')
  const { body } = await service.send<Access[]>('GET', '/audit/v1/accesses?route=/admin/v1/users')

  expect(body.data[0]).toMatchObject({ actor: { type: 'operator', id: 'OPERATOR_KEY' }, method: 'GET' })
  expect((await read('/audit/v1/accesses', auditor.key)).status).toBe(403)
})

test('what cannot be recorded is not shown, and set-up that tells of nobody still is', async () => {
  const { id } = await application()
  const path = `${routeOf.list}/${id}?organisation_id=${own}`
  await service.database.pool.query('alter table access_record rename to access_record_away')
  try {
    const refused = await read(path, reader.key)

    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ error: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(JSON.stringify(refused.body)).not.toContain('Okafor')
    expect((await read(`/admin/v1/organisations/${own}`, reader.key)).status).toBe(200)
    const before = await service.parts.storedLog.head()
    const users = `/admin/v1/organisations/${own}/users`
    const added = await service.send('POST', users, { body: { name: 'Eve', email: 'eve@firm.test', roles: ['leads'] } })
    expect(added.status).toBe(503)
    expect(await service.parts.storedLog.head()).toBe(before)
  } finally {
    await service.database.pool.query('alter table access_record_away rename to access_record')
  }
  expect((await read(path, reader.key)).status).toBe(200)
})
