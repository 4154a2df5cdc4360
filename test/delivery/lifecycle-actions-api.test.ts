import { describe, expect, test } from 'vitest'
import { operatorApi } from './operator-api.ts'

type Created = { data: { id: string; endpoint_connection_id: string; product_id: string | null } }

const base_url = 'https://crm.example.com/hooks'
const action = { name: 'Tell', event_types: ['quote.issued'], endpoint_connection: 'CRM' }

const withConnection = async () => {
  const api = await operatorApi()
  const { body } = await api.post(api.connections, { name: 'CRM', base_url })
  return { ...api, connection_id: (body as { data: { id: string } }).data.id }
}

describe('creating a lifecycle action', () => {
  test('201: it sends the events of every product, unless one is named', async () => {
    await using api = await withConnection()

    const all = await api.post(api.actions, action)
    const one = await api.post(api.actions, { ...action, name: 'Tell of one', product: 'term-life', active: false })

    expect(all).toMatchObject({
      status: 201,
      body: { data: { product_id: null, active: true, endpoint_connection_id: api.connection_id } },
    })
    expect(one).toMatchObject({
      status: 201,
      body: { data: { product_id: expect.any(String) as unknown, active: false } },
    })
  })

  test.each([
    [{ event_types: ['quote.forgotten'] }, 'event_types[0]'],
    [{ event_types: [] }, 'event_types'],
    [{ product: 'no-such-product' }, 'product'],
    [{ endpoint_connection: 'ERP' }, 'endpoint_connection'],
    [{ name: '' }, 'name'],
  ])('422: %j', async (changes, field) => {
    await using api = await withConnection()

    const { status, body } = await api.post(api.actions, { ...action, ...changes })

    expect(status).toBe(422)
    expect(body).toMatchObject({ error: { fields: { [field]: expect.any(String) as unknown } } })
  })

  test('422: the connection was removed', async () => {
    await using api = await withConnection()
    await api.delete(`${api.connections}/${api.connection_id}`)

    expect(await api.post(api.actions, action)).toMatchObject({ status: 422 })
  })

  test('409: the name is taken', async () => {
    await using api = await withConnection()
    await api.post(api.actions, action)

    expect(await api.post(api.actions, action)).toMatchObject({ status: 409 })
  })
})

describe('a lifecycle action', () => {
  test('200: is listed, and changed in what is sent', async () => {
    await using api = await withConnection()
    const { data } = (await api.post(api.actions, action)).body as Created

    const changed = await api.patch(`${api.actions}/${data.id}`, { active: false, product: 'term-life' })

    expect(changed).toMatchObject({
      status: 200,
      body: { data: { id: data.id, active: false, event_types: ['quote.issued'] } },
    })
    expect((await api.get(api.actions)).body).toEqual({ data: [(changed.body as Created).data], next_cursor: null })
    expect((await api.get(`${api.actions}/${data.id}`)).body).toEqual(changed.body)
  })

  test('200: is removed', async () => {
    await using api = await withConnection()
    const { data } = (await api.post(api.actions, action)).body as Created

    expect(await api.delete(`${api.actions}/${data.id}`)).toMatchObject({ status: 200 })
    expect((await api.get(api.actions)).body).toEqual({ data: [], next_cursor: null })
    expect(await api.get(`${api.actions}/${data.id}`)).toMatchObject({ status: 404 })
  })

  test('404: is unknown to another organisation, and cannot use its connections', async () => {
    await using api = await withConnection()
    const { data } = (await api.post(api.actions, action)).body as Created
    const theirs = `/admin/v1/organisations/${await api.register('stranger')}/lifecycle_actions`

    expect(await api.get(`${theirs}/${data.id}`)).toMatchObject({ status: 404 })
    expect(await api.patch(`${theirs}/${data.id}`, { active: false })).toMatchObject({ status: 404 })
    expect(await api.delete(`${theirs}/${data.id}`)).toMatchObject({ status: 404 })
    expect((await api.get(theirs)).body).toEqual({ data: [], next_cursor: null })
    expect(await api.post(theirs, action)).toMatchObject({ status: 422 })
  })
})
