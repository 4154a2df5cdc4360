import { afterAll, describe, expect, test } from 'vitest'
import { accessApi, asOperator, errorOf } from './access-api.ts'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())

const organisations = '/admin/v1/organisations'
const send = async (method: string, path: string, body?: unknown) => api.send(method, path, body, asOperator)

const unknownId = '7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11'

describe('the operator key', () => {
  test.each([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer the operator of those tests' }],
    ['a shorter key', { authorization: 'Bearer the' }],
    ['another scheme', { authorization: asOperator.authorization.replace('Bearer', 'Basic') }],
  ])('401: %s', async (_what, headers: Record<string, string>) => {
    const answer = await api.get(organisations, headers)

    expect(answer.status).toBe(401)
    expect(errorOf(answer)).toMatchObject({
      code: 'invalid_token',
      message: expect.stringMatching(/operator key/) as unknown,
    })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  test('401: an access token is no operator key', async () => {
    const token = await api.tokenOf(await api.apiApplication(['read', 'write', 'crm', 'outcomes']))
    expect((await api.call(token, organisations)).status).toBe(401)
  })

  test('401: the operator key is no access token', async () => {
    expect((await api.get('/api/v1/read', asOperator)).status).toBe(401)
  })

  test('404: without a configured key there are no operator’s routes', async () => {
    await using closed = await accessApi({ operatorKey: undefined })
    expect((await closed.get(organisations, { authorization: 'Bearer undefined' })).status).toBe(404)
    expect((await closed.get(organisations)).status).toBe(404)
  })
})

describe('organisations', () => {
  test('201: an organisation is registered, with an id that follows from its slug', async () => {
    const answer = await send('POST', organisations, { slug: 'acme', name: ' Acme Cover ' })

    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        slug: 'acme',
        name: 'Acme Cover',
        currency_code: 'GBP',
        time_zone: 'Europe/London',
        stripe_test_mode: false,
        active: true,
      },
    })
    expect((await send('POST', organisations, { slug: 'acme', name: 'Acme Cover' })).body).toEqual(answer.body)
  })

  test('201: an organisation is registered with an id of its own, inactive', async () => {
    const id = '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'
    const given = {
      id,
      slug: 'euro',
      name: 'Euro',
      currency_code: 'EUR',
      time_zone: 'Europe/Dublin',
      stripe_test_mode: true,
    }
    const answer = await send('POST', organisations, { ...given, active: false })

    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ data: { ...given, active: false } })
    expect((await send('GET', `${organisations}/${id}`)).body).toEqual(answer.body)
  })

  test('200: only the fields sent change', async () => {
    const id = await api.organisation()
    const before = (await send('GET', `${organisations}/${id}`)).body as { data: object } // checked against its schema
    const answer = await send('PATCH', `${organisations}/${id}`, { name: 'Another', stripe_test_mode: true })

    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: { ...before.data, name: 'Another', stripe_test_mode: true } })
    expect((await send('GET', `${organisations}/${id}`)).body).toEqual(answer.body)
  })

  test('200: organisations are listed by slug', async () => {
    await api.organisation()
    const { body } = await send('GET', organisations)
    const slugs = (body as { data: { slug: string }[] }).data.map(({ slug }) => slug) // checked against its schema

    expect(slugs.length).toBeGreaterThan(0)
    expect(slugs).toEqual(slugs.toSorted((one, other) => one.localeCompare(other)))
  })

  test('200: deactivating twice is the same as once', async () => {
    const id = await api.organisation()
    for (const active of [false, false]) {
      const answer = await send('POST', `${organisations}/${id}/deactivate`)
      expect(answer).toMatchObject({ status: 200, body: { data: { active } } })
    }
    expect(await send('POST', `${organisations}/${id}/activate`)).toMatchObject({ body: { data: { active: true } } })
  })

  test('409: a slug is of one organisation', async () => {
    const slug = 'unique'
    await send('POST', organisations, { slug, name: 'First' })
    const answer = await send('POST', organisations, { id: unknownId, slug, name: 'Second' })
    expect(answer.status).toBe(409)
    expect(errorOf(answer)).toMatchObject({ code: 'conflict' })
  })

  test('422: what cannot be used is named', async () => {
    const answer = await send('POST', organisations, { slug: 'Not A Slug', currency_code: 'pounds' })
    expect(answer.status).toBe(422)
    expect(Object.keys(errorOf(answer).fields ?? {}).toSorted()).toEqual(['currency_code', 'name', 'slug'])

    const zone = await send('POST', organisations, { slug: 'zone', name: 'Zone', time_zone: 'Nowhere' })
    expect(zone.status).toBe(422)
    expect(Object.keys(errorOf(zone).fields ?? {})).toEqual(['time_zone'])
  })

  test.each(['GET', 'PATCH', 'POST'])('404: %s of an organisation that nobody registered', async (method) => {
    const path = `${organisations}/${unknownId}${method === 'POST' ? '/activate' : ''}`
    expect((await send(method, path, method === 'PATCH' ? { name: 'x' } : undefined)).status).toBe(404)
  })
})

describe('API applications', () => {
  test('201: the client secret is shown once at creation', async () => {
    const organisation_id = await api.organisation()
    const path = `${organisations}/${organisation_id}/api_applications`
    const given = { name: 'Web site', scopes: ['read', 'write'], allowed_origins: ['https://WWW.example.com'] }
    const created = await send('POST', path, given)

    expect(created.status).toBe(201)
    const { client_secret, ...shown } = (created.body as { data: Record<string, unknown> }).data // checked against its schema
    expect(client_secret).toMatch(/^[\w-]{43}$/)
    expect(shown).toEqual({
      ...given,
      client_id: expect.any(String) as unknown,
      former_secret_ends_at: null,
      organisation_id,
      kind: 'browser',
      allowed_origins: ['https://www.example.com'],
    })

    const one = await send('GET', `${path}/${String(shown['client_id'])}`)
    expect(one.body).toEqual({ data: shown })
    expect((await send('GET', path)).body).toEqual({ data: [shown] })
  })

  test('the secret stands nowhere in the log of events', async () => {
    const { client_id, client_secret } = await api.apiApplication(['read'])
    const events = await api.writer.log.read(`api_application-${client_id}`)

    expect(events).toHaveLength(1)
    expect(events[0]?.metadata.actor).toEqual({ type: 'operator', id: 'OPERATOR_KEY' })
    expect(JSON.stringify(events)).not.toContain(client_secret)
  })

  test('200: only the fields sent change', async () => {
    const { path, organisation_id, client_id } = await api.apiApplication(['read', 'write'])
    const answer = await send('PATCH', `/admin/v1${path}`, { scopes: ['read'] })

    expect(answer.status).toBe(200)
    const data = {
      client_id,
      organisation_id,
      former_secret_ends_at: null,
      name: 'A client',
      kind: 'server',
      scopes: ['read'],
      allowed_origins: [],
    }
    expect(answer.body).toEqual({ data })
  })

  test('200: a rotated secret is shown once, and is another', async () => {
    const { path, client_secret } = await api.apiApplication(['read'])
    const answer = await send('POST', `/admin/v1${path}/rotate_secret`)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ data: { client_secret: expect.stringMatching(/^[\w-]{43}$/) as unknown } })
    expect(JSON.stringify(answer.body)).not.toContain(client_secret)
  })

  test('200: a deleted application is gone, and deleting it again changes nothing', async () => {
    const { path, client_id, organisation_id } = await api.apiApplication(['read'])
    for (const _time of [1, 2]) {
      const answer = await send('DELETE', `/admin/v1${path}`)
      expect(answer).toMatchObject({ status: 200, body: { data: { client_id, deleted: true } } })
    }

    expect((await send('GET', `/admin/v1${path}`)).status).toBe(404)
    expect((await send('PATCH', `/admin/v1${path}`, { name: 'x' })).status).toBe(404)
    expect((await send('POST', `/admin/v1${path}/rotate_secret`)).status).toBe(404)
    expect((await send('GET', `${organisations}/${organisation_id}/api_applications`)).body).toEqual({ data: [] })
  })

  test('422: a browser application cannot have the crm scope', async () => {
    const path = `${organisations}/${await api.organisation()}/api_applications`
    const answer = await send('POST', path, { name: 'x', scopes: ['crm'], allowed_origins: ['https://a.example'] })
    expect(answer.status).toBe(422)
    expect(Object.keys(errorOf(answer).fields ?? {})).toEqual(['scopes'])
  })

  test.each([
    [{ scopes: ['read', 'admin'] }, 'scopes[1]'],
    [{ scopes: [] }, 'scopes'],
    [{ name: '' }, 'name'],
    [{ allowed_origins: ['https://a.example', 'https://b.example/path'] }, 'allowed_origins[1]'],
  ])('422: what cannot be used is named: %j', async (changes, field) => {
    const path = `${organisations}/${await api.organisation()}/api_applications`
    const answer = await send('POST', path, { name: 'x', scopes: ['read'], ...changes })
    expect(answer.status).toBe(422)
    expect(Object.keys(errorOf(answer).fields ?? {})).toEqual([field])
  })

  test('404: an application behaves as unknown under another organisation', async () => {
    const { client_id } = await api.apiApplication(['read'])
    const path = `${organisations}/${await api.organisation()}/api_applications/${client_id}`

    const statuses = [
      await send('GET', path),
      await send('PATCH', path, { name: 'Mine' }),
      await send('POST', `${path}/rotate_secret`),
      await send('DELETE', path),
    ].map(({ status }) => status)
    expect(statuses).toEqual([404, 404, 404, 404])
  })

  test('404: an organisation that nobody registered has no API applications', async () => {
    const path = `${organisations}/${unknownId}/api_applications`
    expect((await send('GET', path)).status).toBe(404)
    expect((await send('POST', path, { name: 'x', scopes: ['read'] })).status).toBe(404)
    expect((await send('GET', `${organisations}/x/api_applications`)).status).toBe(404)
  })
})
