import { describe, expect, test } from 'vitest'
import { notEncrypted } from '#domain/web-address.ts'
import { operatorApi } from './operator-api.ts'

type Created = { data: { id: string; signing_secret: string } }

const base_url = 'https://crm.example.com/hooks'
const given = 'a-secret-of-the-firm-itself'

describe('creating an endpoint connection', () => {
  test('201: without a secret one is made, and shown this once', async () => {
    await using api = await operatorApi()

    const { status, body } = await api.post(api.connections, { name: 'CRM', base_url })

    const { data } = body as Created
    expect(status).toBe(201)
    expect(data).toMatchObject({ name: 'CRM', base_url, organisation_id: api.organisation_id })
    expect(data.signing_secret).toMatch(/^[\w-]{43}$/)
    expect(await api.secretOf(data.id)).toBe(data.signing_secret)
    const shown = await api.get(`${api.connections}/${data.id}`)
    expect(JSON.stringify(shown.body)).not.toContain(data.signing_secret)
  })

  test('201: a blank secret is made too, a given one is taken', async () => {
    await using api = await operatorApi()

    const blank = await api.post(api.connections, { name: 'CRM', base_url, signing_secret: '' })
    const own = await api.post(api.connections, { name: 'ERP', base_url, signing_secret: given })

    expect((blank.body as Created).data.signing_secret).toMatch(/^[\w-]{43}$/)
    expect(await api.secretOf((own.body as Created).data.id)).toBe(given)
  })

  test('201: only the sealed secret is stored', async () => {
    await using api = await operatorApi()

    await api.post(api.connections, { name: 'CRM', base_url, signing_secret: given })

    const stored = await api.everything()
    expect(stored).toContain('EndpointConnectionCreated')
    expect(stored).not.toContain(given)
    expect(stored).not.toContain(Buffer.from(given).toString('base64url').slice(0, 20))
  })

  test('201: http:// to a host that the operator permits', async () => {
    await using api = await operatorApi()

    const { status } = await api.post(api.connections, { name: 'Local', base_url: 'http://127.0.0.1:4010/hooks' })

    expect(status).toBe(201)
  })

  test.each([
    [{ base_url: 'http://crm.example.com' }, 'base_url'],
    [{ base_url: 'not an address' }, 'base_url'],
    [{ name: '  ' }, 'name'],
    [{ signing_secret: 'short' }, 'signing_secret'],
  ])('422: %j', async (changes, field) => {
    await using api = await operatorApi()

    const { status, body } = await api.post(api.connections, { name: 'CRM', base_url, ...changes })

    expect(status).toBe(422)
    expect(body).toMatchObject({
      error: { code: 'validation_failed', fields: { [field]: expect.any(String) as unknown } },
    })
  })

  test('409: the name is taken', async () => {
    await using api = await operatorApi()
    await api.post(api.connections, { name: 'CRM', base_url })

    const { status, body } = await api.post(api.connections, { name: 'CRM', base_url })

    expect(status).toBe(409)
    expect(body).toMatchObject({ error: { code: 'conflict', fields: { name: 'is taken' } } })
  })
})

describe('an endpoint connection', () => {
  test('200: is listed among those of its organisation, by name', async () => {
    await using api = await operatorApi()
    const stranger = await api.register('stranger')
    for (const name of ['ERP', 'CRM']) await api.post(api.connections, { name, base_url })
    await api.post(`/admin/v1/organisations/${stranger}/endpoint_connections`, { name: 'Theirs', base_url })

    const { body } = await api.get(api.connections)

    expect((body as { data: { name: string }[] }).data.map(({ name }) => name)).toEqual(['CRM', 'ERP'])
  })

  test('200: is moved', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created
    const elsewhere = 'https://new.example.com/'

    const { status, body } = await api.patch(`${api.connections}/${data.id}`, { base_url: elsewhere })

    expect(status).toBe(200)
    expect(body).toMatchObject({ data: { base_url: elsewhere } })
    expect((await api.get(`${api.connections}/${data.id}`)).body).toEqual(body)
  })

  test('422: is not moved to an address that cannot be used', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created

    const answer = await api.patch(`${api.connections}/${data.id}`, { base_url: 'http://new.example.com' })

    expect(answer).toMatchObject({ status: 422, body: { error: { fields: { base_url: notEncrypted } } } })
  })

  test('200: gets a new secret, made or given', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created
    const regenerate = `${api.connections}/${data.id}/regenerate_secret`

    const made = (await api.post(regenerate)).body as Created
    expect(made.data.signing_secret).not.toBe(data.signing_secret)
    expect(await api.secretOf(data.id)).toBe(made.data.signing_secret)

    expect(await api.post(regenerate, { signing_secret: given })).toMatchObject({ status: 200 })
    expect(await api.secretOf(data.id)).toBe(given)
  })

  test('200: lets what signs now go on for as long as is asked', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created
    const regenerate = `${api.connections}/${data.id}/regenerate_secret`
    const untilOf = (answer: { body: unknown }) =>
      (answer.body as { data: { former_secret_signs_until: string | null } }).data.former_secret_signs_until

    const before = Date.now()
    const until = untilOf(await api.post(regenerate, { overlap_seconds: 3_600 }))

    expect(Date.parse(until ?? '')).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(Date.parse(until ?? '')).toBeLessThanOrEqual(Date.now() + 3_600_000)
    expect(untilOf(await api.get(`${api.connections}/${data.id}`))).toBe(until)
    expect(untilOf(await api.post(regenerate))).toBeNull()
    expect(await api.post(regenerate, { overlap_seconds: 30 * 86_400 + 1 })).toMatchObject({
      status: 422,
      body: { error: { fields: { overlap_seconds: expect.any(String) as unknown } } },
    })
  })

  test('200: are listed by name, page by page, and a cursor of another list is refused', async () => {
    await using api = await operatorApi()
    for (const name of ['b', 'c', 'a']) await api.post(api.connections, { name, base_url })
    type Page = { data: readonly { name: string }[]; next_cursor: string | null }
    const page = async (query: string) => (await api.get(`${api.connections}?${query}`)).body as Page

    const first = await page('limit=2')
    const second = await page(`limit=2&cursor=${first.next_cursor}`)

    expect([first, second].map(({ data }) => data.map(({ name }) => name))).toEqual([['a', 'b'], ['c']])
    expect(second.next_cursor).toBeNull()
    for (const wrong of [`${api.actions}?cursor=${first.next_cursor}`, `${api.connections}?cursor=nonsense`])
      expect(await api.get(wrong)).toMatchObject({ status: 422, body: { error: { code: 'invalid_parameter' } } })
  })

  test('200: is removed; its name can be used again', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created

    const removed = await api.delete(`${api.connections}/${data.id}`)

    expect(removed).toMatchObject({ status: 200, body: { data: { id: data.id, removed: true } } })
    expect(await api.get(`${api.connections}/${data.id}`)).toMatchObject({ status: 404 })
    expect(await api.delete(`${api.connections}/${data.id}`)).toMatchObject({ status: 404 })
    expect(await api.post(api.connections, { name: 'CRM', base_url })).toMatchObject({ status: 201 })
  })

  test('404: is unknown to another organisation', async () => {
    await using api = await operatorApi()
    const { data } = (await api.post(api.connections, { name: 'CRM', base_url })).body as Created
    const theirs = `/admin/v1/organisations/${await api.register('stranger')}/endpoint_connections/${data.id}`

    expect(await api.get(theirs)).toMatchObject({ status: 404 })
    expect(await api.patch(theirs, { base_url })).toMatchObject({ status: 404 })
    expect(await api.post(`${theirs}/regenerate_secret`)).toMatchObject({ status: 404 })
    expect(await api.delete(theirs)).toMatchObject({ status: 404 })
  })
})
