import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { derivedId } from '#infra/ids.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { wholeService } from '../whole-service.ts'

/** What was just answered with an id is never said not to be there, while the projections stand still. */

const organisation_id = derivedId('organisation', 'acme')
const origin = 'https://acme.example'
const admin = `/admin/v1/organisations/${organisation_id}`
const file = `
organisations:
  - slug: acme
    name: Acme Life
    stripe_test_mode: true
    products:
      - slug: children
        name: Children
        product_type: child_cover
        lifecycle_state: production
        covers:
          - cover_type: child_benefit
            pricing_basis: fixed_tiers
            age_at_entry_min: 18
            age_at_entry_max: 70
            tiers:
              - { cover_amount_pence: 1000000, premium_pence: 135 }
        journeys:
          - { slug: standard, name: Standard }
`

let service: Awaited<ReturnType<typeof wholeService>>
let server: string
let page: string
let contact_id: string
beforeAll(async () => {
  service = await wholeService({ READ_YOUR_WRITES_MS: '500' })
  await service.setUp(file)
  server = (await service.client(organisation_id, ['read', 'write', 'crm', 'outcomes'])).token
  page = (await service.client(organisation_id, ['read', 'write'], [origin])).token
  await vi.waitUntil(async () => (await start(server)).status === 201, { timeout: 60_000, interval: 50 })
  const lead = { source: 'calls', identity: { email: `${randomUUID()}@example.org`, name: 'Ben Birch' } }
  const sent = await service.send<Ingest>('POST', '/api/v1/crm/ingests', { token: server, body: lead })
  const applied = async () => {
    const address = `/api/v1/crm/ingests/${sent.body.data.id}`
    const { body } = await service.send<Ingest>('GET', address, { token: server })
    return body.data.contact_id
  }
  contact_id = await vi.waitUntil(applied, { timeout: 60_000, interval: 50 })
}, 90_000)
afterAll(async () => service[Symbol.asyncDispose]())

type Started = { id: string; share_token: string; customer: { id: string } }
type Ingest = { id: string; contact_id?: string }
type Sender = { readonly token: string; readonly headers?: Record<string, string> }

const start = async (token: string) =>
  service.send<Started>('POST', '/api/v1/applications', {
    token,
    headers: token === page ? { origin } : {},
    body: {
      product_slug: 'children',
      journey_slug: 'standard',
      customer: { first_name: 'Anna', last_name: 'Ash', dob: '1990-03-10', email: `${randomUUID()}@example.org` },
    },
  })

/** Does something while no projection can write what it shows. */
const stopped = <Result>(work: () => Promise<Result>): Promise<Result> =>
  transaction(service.parts.pool, async (db) => {
    const { rows } = await db.query<{ tables: string }>(
      `select string_agg(quote_ident(tablename), ', ') as tables from pg_tables
       where schemaname = 'public' and tablename in
         ('applications', 'customers', 'quotes', 'payments', 'policies', 'outcomes')`,
    )
    await db.query(`lock table ${rows[0]?.tables ?? ''} in exclusive mode`)
    return work()
  })

/** The requests whose answers are not that the record cannot be read yet. */
const notHeldBack = async (requests: readonly (readonly [string, string, object?])[], sender: Sender) => {
  const answers = await Promise.all(
    requests.map(async ([method, path, body]) => {
      const { status, headers, body: told } = await service.send(method, path, { ...sender, ...(body && { body }) })
      return { path: `${method} ${path}`, status, code: told.error?.code, again: headers.get('retry-after') }
    }),
  )
  return answers.filter(({ status, code, again }) => status !== 503 || code !== 'unavailable' || again === null)
}

const bank = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
const ofQuote = (id: string) =>
  [
    ['POST', `/api/v1/quotes/${id}/confirm`],
    ['POST', `/api/v1/quotes/${id}/direct_debit_details`, { direct_debit: bank }],
    ['POST', `/api/v1/quotes/${id}/bacs_setup_intent`],
    ['POST', `/api/v1/quotes/${id}/payment_intent`],
    ['POST', `/api/v1/quotes/${id}/reject`, {}],
    ['POST', `/api/v1/quotes/${id}/bind`, {}],
    ['GET', `/api/v1/quotes/${id}`],
    ['GET', `/api/v1/quotes/${id}/before_you_buy`],
  ] as const

test.each([
  ['a server', () => ({ token: server, headers: {} })],
  ['a web page', () => ({ token: page, headers: { origin } })],
])(
  '503, never 404: what %s asks of a quote that was just made',
  async (_who, sender) => {
    const { token, headers } = sender()
    const [misled, sold] = await stopped(async () => {
      const { id, share_token } = (await start(token)).body.data
      const own = { token, headers: { ...headers, 'x-share-token': share_token } }
      const saved = await service.send('PATCH', `/api/v1/applications/${id}`, {
        ...own,
        body: { cover_amount_pence: 1_000_000 },
      })
      const quote = await service.send<{ id: string }>('POST', `/api/v1/applications/${id}/quotes`, {
        ...own,
        body: {},
      })
      expect([saved.status, quote.status]).toEqual([200, 201])
      const reads = [
        ['GET', `/api/v1/applications/${id}`],
        ['GET', `/api/v1/applications/${id}/quotes`],
      ] as const
      return [await notHeldBack([...ofQuote(quote.body.data.id), ...reads], own), { own, quote_id: quote.body.data.id }]
    })
    expect(misled).toEqual([])

    const confirm = () => service.send('POST', `/api/v1/quotes/${sold.quote_id}/confirm`, sold.own)
    await vi.waitUntil(async () => (await confirm()).status === 200, { timeout: 60_000, interval: 50 })
  },
  60_000,
)

test('503, never 404: what the operator, and who reports outcomes, asks of what was just made', async () => {
  const key = 'the operator key of the tests'
  const [ofOperator, ofReporter] = await stopped(async () => {
    const { id } = (await start(server)).body.data
    const outcome = { contact_id, type: 'quoted', occurred_at: new Date().toISOString(), values: { premium: 1000 } }
    const reported = await service.send<{ id: string }>('POST', '/api/v1/crm/outcomes', {
      token: server,
      body: outcome,
    })
    const reversal = await service.send<{ id: string }>('POST', `${admin}/outcomes/${reported.body.data.id}/reverse`, {
      body: {},
    })
    expect([reported.status, reversal.status]).toEqual([201, 200])
    const again = `outcomes/${reversal.body.data.id}/reverse`
    return Promise.all([
      notHeldBack(
        [
          ['GET', `/admin/v1/team_applications/${id}?organisation_id=${organisation_id}`],
          ['GET', `/admin/v1/quotes/${randomUUID()}/record?organisation_id=${organisation_id}`],
          ['POST', `${admin}/${again}`, {}],
        ],
        { token: key },
      ),
      notHeldBack([['POST', `/api/v1/crm/${again}`, {}]], { token: server }),
    ])
  })
  expect([ofOperator, ofReporter]).toEqual([[], []])
}, 60_000)

test('an outcome that is told by a telephone number is not held while the person may be there', async () => {
  const told = () =>
    service.send('POST', '/api/v1/crm/outcomes', {
      token: server,
      body: {
        lead: { phone: '07911123456', match_on_details: true },
        type: 'quoted',
        occurred_at: new Date().toISOString(),
        values: { premium: 1000 },
      },
    })
  const behind = await stopped(async () => {
    await start(server)
    return told()
  })
  expect([behind.status, behind.body.error?.code]).toEqual([503, 'unavailable'])
  await vi.waitFor(async () => expect((await told()).status).toBe(202), { timeout: 60_000, interval: 50 })
}, 60_000)

test('404: what nobody was ever answered, as soon as the read models show all that there is', async () => {
  const unknown = randomUUID()
  const sender = { token: server }
  const answers = async () =>
    Promise.all(
      [...ofQuote(unknown), ['GET', `/api/v1/policies/${unknown}`] as const].map(
        async ([method, path, body]) => (await service.send(method, path, { ...sender, ...(body && { body }) })).status,
      ),
    )
  await vi.waitFor(async () => expect(new Set(await answers())).toEqual(new Set([404])), {
    timeout: 60_000,
    interval: 50,
  })
}, 60_000)
