import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { setupApi } from '../setup/setup-api.ts'
import { file } from '../setup/builders.ts'

const acme = OrganisationId.parse(derivedId('organisation', 'acme'))
const other = '99999999-9999-4999-8999-999999999999'
const products = `/admin/v1/organisations/${acme}/products`

const changed = file.replace('        name: Term\n', '        name: Term Plus\n')
const held = changed.replace('        name: Term Plus\n', '        name: Term Plus\n        publish: false\n')

test('200: products are listed with their releases and whether their drafts differ', async () => {
  await using api = await setupApi()
  await api.apply(file)
  await api.apply(held)

  const { status, body } = await api.get(products)

  expect(status).toBe(200)
  expect(body).toEqual({
    data: [
      {
        id: derivedId('product', acme, 'term'),
        slug: 'term',
        name: 'Term Plus',
        product_type: 'term',
        lifecycle_state: 'production',
        release: { id: expect.any(String) as unknown, number: 1 },
        unpublished_changes: true,
      },
    ],
  })
  expect(await api.get(`/admin/v1/organisations/${other}/products`)).toMatchObject({ status: 200, body: { data: [] } })
})

test('201: a changed draft is published as the next release', async () => {
  await using api = await setupApi()
  await api.apply(file)
  await api.apply(held)

  const { status, body } = await api.post(`${products}/term/releases`)

  expect(status).toBe(201)
  expect(body).toMatchObject({ data: { release: { number: 2 }, unpublished_changes: false } })
  expect(body).toMatchObject({ data: { missing_rates: [{ cover_index: 0, rate_table: 'life.level', version: 1 }] } })
  expect(api.catalogue.current(acme, 'term')).toMatchObject({ release: { number: 2, name: 'Term Plus' } })
})

test('200: an unchanged draft is no new release', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const { status, body } = await api.post(`${products}/term/releases`)

  expect(status).toBe(200)
  expect(body).toMatchObject({ data: { release: { number: 1 } } })
})

test('200: a product is taken off sale and put back on sale', async () => {
  await using api = await setupApi()
  await api.apply(file)

  expect(await api.patch(`${products}/term`, { lifecycle_state: 'archived' })).toMatchObject({
    status: 200,
    body: { data: { lifecycle_state: 'archived' } },
  })
  expect(api.catalogue.current(acme, 'term')).toMatchObject({ lifecycle_state: 'archived' })
  expect(await api.patch(`${products}/term`, { lifecycle_state: 'production' })).toMatchObject({ status: 200 })
})

test('404: a product that there is not', async () => {
  await using api = await setupApi()
  await api.apply(file)

  for (const path of [`${products}/unknown`, `/admin/v1/organisations/${other}/products/term`])
    expect(await api.patch(path, { lifecycle_state: 'archived' })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  expect(await api.post(`${products}/unknown/releases`)).toMatchObject({ status: 404 })
})

test('409: a state that may not follow', async () => {
  await using api = await setupApi()
  await api.apply(file)

  expect(await api.patch(`${products}/term`, { lifecycle_state: 'draft' })).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  })
})

test('422: a state that there is not', async () => {
  await using api = await setupApi()

  expect(await api.patch(`${products}/term`, { lifecycle_state: 'sold out' })).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: { lifecycle_state: expect.any(String) as unknown } } },
  })
})
