import { expect, test } from 'vitest'
import type { Draft } from '#domain/catalogue/events.ts'
import { serverCaller } from '../serve.ts'
import { became, draft, drafted, published } from './builders.ts'
import { brokerShown, catalogue, cover, onSale, other, productShown, standardShown } from './view.ts'

test('200: a product has its fields, in the order of the specification, and no others', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: productShown }))
})

test('200: products are listed in name order, in any state', async () => {
  await using api = await catalogue()
  for (const [slug, name, state] of [
    ['zebra', 'aardvark', 'archived'],
    ['b-same', 'Same', 'draft'],
    ['a-same', 'same', 'draft'],
  ] as const) {
    const of = draft({ slug, name })
    await api.apply([drafted(of), published(2, of), ...(state === 'archived' ? [became(state)] : [])], of)
  }

  const { status, body } = await api.get('/api/v1/products')

  expect(status).toBe(200)
  expect(body).toMatchObject({
    data: [
      { slug: 'zebra', lifecycle_state: 'archived' },
      { slug: 'a-same', lifecycle_state: 'draft' },
      { slug: 'b-same' },
      { slug: 'term-life', lifecycle_state: 'production' },
    ],
  })
})

test('200: an unpublished product is listed with its draft identity, and none of its terms', async () => {
  await using api = await catalogue([drafted()])

  const { body } = await api.get('/api/v1/products')

  const bounds = {
    sum_assured_min_pence: null,
    sum_assured_max_pence: null,
    age_min: null,
    age_max: null,
    term_min: null,
    term_max: null,
  }
  const unpublished = {
    ...productShown,
    lifecycle_state: 'draft',
    inclusions: [],
    exclusions: [],
    covers: [],
    cover_bounds: bounds,
  }
  expect(body).toEqual({ data: [unpublished] })
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({ status: 200, body: { data: unpublished } })
  expect(await api.get('/api/v1/products/term-life/journeys')).toMatchObject({ status: 200, body: { data: [] } })
})

test('200: unpublished changes never appear, and appear once published', async () => {
  await using api = await catalogue()
  const changed = draft({ name: 'Term Life Plus', covers: [] })

  await api.apply([drafted(changed)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { name: 'Term Life', covers: [{}] } },
  })

  await api.apply([published(2, changed)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { name: 'Term Life Plus', lifecycle_state: 'production', covers: [] } },
  })
})

test('200: bounds go across all covers, and terms are null without a cover of fixed term', async () => {
  const covers = [
    {
      ...cover,
      title: 'Whole',
      sum_assured_min_pence: 500,
      sum_assured_max_pence: 900,
      age_at_entry_max: 85,
      term_years_min: null,
      term_years_max: null,
    },
    { ...cover, title: 'Long', age_at_entry_min: 16, age_at_entry_max: 20, term_years_min: 30, term_years_max: 50 },
  ]
  const both = {
    ...draft(),
    covers: covers.map((each, cover_index) => ({ ...draft().covers[0], ...each, cover_index })),
  } as Draft
  await using api = await catalogue([drafted(both), published(1, both)])

  const { body } = await api.get('/api/v1/products/term-life')

  expect(body).toMatchObject({
    data: {
      cover_bounds: {
        sum_assured_min_pence: 500,
        sum_assured_max_pence: 100_000_000,
        age_min: 16,
        age_max: 85,
        term_min: 30,
        term_max: 50,
      },
    },
  })
  const whole = { ...both, covers: both.covers.slice(0, 1) }
  await api.apply([drafted(whole), published(2, whole)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { cover_bounds: { sum_assured_max_pence: 900, age_min: 18, term_min: null, term_max: null } } },
  })
})

test('200: journeys are listed in dashboard order, in any state', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life/journeys')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: [standardShown, brokerShown] }))
})

test('200: a journey has its fields', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life/journeys/broker')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: brokerShown }))
})

test('404: an unknown product or journey, one of another organisation, and what is no slug', async () => {
  await using api = await catalogue()
  await using foreign = await catalogue(onSale, serverCaller({ organisation_id: other }))

  for (const path of [
    'unknown',
    'unknown/journeys',
    'unknown/journeys/standard',
    'unknown/journeys/standard/questions',
    'term-life/journeys/unknown',
    'term-life/journeys/unknown/questions',
    '%00',
    'Term%20Life',
    '%E0%A4%A',
  ])
    expect(await api.get(`/api/v1/products/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  for (const path of [
    'term-life',
    'term-life/journeys',
    'term-life/journeys/standard',
    'term-life/journeys/standard/questions',
  ])
    expect(await foreign.get(`/api/v1/products/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  expect(await foreign.get('/api/v1/products')).toMatchObject({ status: 200, body: { data: [] } })
})

test('422: a parameter that is repeated', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get(
    '/api/v1/products/term-life/journeys/standard/questions?presentation_slug=a&presentation_slug=b',
  )

  expect(status).toBe(422)
  expect(body).toMatchObject({
    error: { code: 'invalid_parameter', fields: { presentation_slug: expect.any(String) as unknown } },
  })
})
