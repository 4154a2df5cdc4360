import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Quote } from '#domain/quotes/record.ts'
import { wholeService, type Client } from '../whole-service.ts'

const firm = (slug: string) => `organisations:
  - slug: ${slug}
    name: A firm
    products:
      - slug: simple-life
        name: Simple Life
        product_type: term
        lifecycle_state: production
        rate_tables: { level: 1 }
        covers:
          - cover_type: life
            rate_table: level
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 50000000
            age_at_entry_min: 18
            age_at_entry_max: 60
            term_years_min: 10
            term_years_max: 20
        journeys:
          - { slug: standard, name: On our web pages }
    rate_tables:
      - { key: level, version: 1, csv: "term,rate_e4\\n10,12000\\n20,14000\\n" }
`

let service: Awaited<ReturnType<typeof wholeService>>
let organisation_id: string
let stranger_id: string
let client: Client

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('history'))
  await service.setUp(firm('strangers'))
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => body.data.find((each) => each.slug === slug)?.id ?? ''
  organisation_id = idOf('history')
  stranger_id = idOf('strangers')
  client = await service.client(organisation_id, ['read', 'write'])
})
afterAll(() => service[Symbol.asyncDispose]())

const call = async <Data>(method: string, path: string, body: object = {}) => {
  const { token } = client
  const answer = await service.send<Data>(method, `/api/v1${path}`, { token, ...(method !== 'GET' && { body }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
const look = async <Data>(path: string, organisation = organisation_id) =>
  service.send<Data>('GET', `/admin/v1/${path}${path.includes('?') ? '&' : '?'}organisation_id=${organisation}`)

/** An application with a quote for £100,000. */
const quoted = async () => {
  const { id } = await call<{ id: string }>('POST', '/applications', {
    product_slug: 'simple-life',
    journey_slug: 'standard',
  })
  const customer = { first_name: 'Ada', last_name: 'Okafor', email: `${id}@example.com`, dob: '1990-05-01' }
  await call('PATCH', `/applications/${id}/customer`, { customer })
  await call('PATCH', `/applications/${id}`, { cover_amount_pence: 10_000_000, term_years: 20 })
  return { id, quote: await call<Quote>('POST', `/applications/${id}/quotes`) }
}

test('an acceptance that a later change made void is no more on the quote, and stands in the timeline', async () => {
  const { id, quote } = await quoted()
  await call('POST', `/applications/${id}/accept_quote`)
  expect((await call<Quote>('GET', `/quotes/${quote.id}`)).accepted_at).toMatch(/^20/)

  await call('PATCH', `/applications/${id}`, { cover_amount_pence: 12_000_000 })

  expect(await call<Quote>('GET', `/quotes/${quote.id}`)).toMatchObject({ status: 'current', accepted_at: null })
  const { data } = (await look<{ type: string; details: object }[]>(`team_applications/${id}/timeline`)).body
  expect(data.map(({ type }) => type)).toEqual([
    'ApplicationStarted',
    'CustomerSaved',
    'CoverSaved',
    'QuoteIssued',
    'QuoteAccepted',
    'CoverSaved',
    'AcceptanceOutdated',
    'QuoteAcceptanceVoided',
  ])
  expect(data[1]).toMatchObject({ actor: { type: 'api', id: client.client_id } })
  expect(JSON.stringify(data)).not.toContain('Ada')

  // Taken back, the quote fits again and can be accepted again.
  await call('PATCH', `/applications/${id}`, { cover_amount_pence: 10_000_000 })
  await call('POST', `/applications/${id}/accept_quote`)
  expect((await call<Quote>('GET', `/quotes/${quote.id}`)).accepted_at).toMatch(/^20/)
})

test('the timeline has pages', async () => {
  const { id } = await quoted()
  const path = `team_applications/${id}/timeline?limit=3`
  expect((await look<object[]>(path)).body).toMatchObject({
    data: [{ type: 'ApplicationStarted' }, { type: 'CustomerSaved' }, { type: 'CoverSaved' }],
    next_cursor: '2',
  })
  expect((await look<object[]>(`${path}&cursor=2`)).body).toMatchObject({
    data: [{ type: 'QuoteIssued' }],
    next_cursor: null,
  })
})

test('what a quote names can be looked up: its release and its rate tables, with their cells', async () => {
  const { quote } = await quoted()
  const [used] = quote.rate_tables

  const release = await look(`releases/${quote.product_release_id}`)
  expect(release).toMatchObject({
    status: 200,
    body: { data: { id: quote.product_release_id, slug: 'simple-life', number: 1, rate_tables: { level: 1 } } },
  })
  const address = `rate_tables/${used?.key ?? ''}/versions/${used?.version ?? ''}`
  await vi.waitUntil(async () => (await look(address)).status === 200, { timeout: 60_000 })
  const data = { key: 'level', version: 1, dimensions: ['term'], cells: { '10': 12_000, '20': 14_000 } }
  expect((await look(address)).body.data).toMatchObject(data)
  expect((await look<object[]>('rate_tables?key=level')).body.data).toMatchObject([{ version: 1, cell_count: 2 }])
  expect((await look<object[]>('rate_tables?key=other')).body.data).toEqual([])
  expect((await look<object[]>(`releases?product_id=${quote.product_id}`)).body.data).toHaveLength(1)
  expect(await look(`quotes/${quote.id}/record`)).toMatchObject({ status: 200, body: { data: quote } })
})

test('quotes are listed whole, newest first, by status, product, application and time, in pages', async () => {
  const { id, quote } = await quoted()
  const later = await quoted()
  const ids = async (query: string) => (await look<Quote[]>(`quotes?${query}`)).body.data.map((each) => each.id)

  const first = await look<Quote[]>('quotes?limit=1')
  expect(first.body.data).toEqual([later.quote])
  expect(await ids(`limit=1&cursor=${first.body.next_cursor ?? ''}`)).toEqual([quote.id])
  expect(await ids(`application_id=${id}`)).toEqual([quote.id])
  expect(await ids(`application_id=${id}&status=expired`)).toEqual([])
  expect(await ids(`product_id=${quote.product_id}&since=${later.quote.created_at}`)).toEqual([later.quote.id])
  expect(await ids(`until=${quote.created_at}`)).not.toContain(quote.id)
})

test('applications are listed by status, product, API application and time, in pages', async () => {
  const one = await quoted()
  const other = await quoted()
  await call('POST', `/applications/${other.id}/accept_quote`)
  type Listed = { id: string; updated_at: string; status: string }
  const list = async (query: string) => (await look<Listed[]>(`team_applications?${query}`)).body
  const ids = async (query: string) => (await list(query)).data.map(({ id }) => id)

  const first = await list('limit=1')
  expect(first.data).toMatchObject([{ id: other.id, status: 'quoted' }])
  expect(await ids(`limit=1&cursor=${first.next_cursor ?? ''}`)).toEqual([one.id])
  expect(await ids(`status=quoted&since=${first.data[0]?.updated_at ?? ''}`)).toEqual([other.id])
  const its = `api_application_id=${client.client_id}&product_id=${one.quote.product_id}&status=in_capture`
  expect(await ids(its)).toContain(one.id)
  // PostgreSQL itself knows offsets below 16 hours only, and no year 0.
  expect(await ids('until=9999-12-31T00:00:00%2B21:43')).toContain(one.id)
  expect(await look('team_applications?since=0000-06-01T00:00:00Z')).toMatchObject({
    status: 422,
    body: { error: { fields: { since: 'must be a moment in the years 1 to 9999' } } },
  })
  expect(await ids(`api_application_id=${one.id}`)).toEqual([])
})

test('404 and nothing listed: what belongs to another organisation', async () => {
  const { id, quote } = await quoted()

  for (const path of [
    `quotes/${quote.id}/record`,
    `releases/${quote.product_release_id}`,
    `team_applications/${id}`,
    `team_applications/${id}/timeline`,
  ])
    expect((await look(path, stranger_id)).status).toBe(404)
  for (const path of ['quotes', 'team_applications', `releases?product_id=${quote.product_id}`])
    expect((await look<object[]>(path, stranger_id)).body.data).toEqual([])
})
