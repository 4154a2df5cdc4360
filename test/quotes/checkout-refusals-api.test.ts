import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { wholeService } from '../whole-service.ts'

/** What operations on an application and on its quote refuse alike, over HTTP, and refusals that need a product of their own. */

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))
const origin = 'https://acme.example'

const product = (slug: string, rest: string) => `
      - slug: ${slug}
        name: ${slug}
        product_type: child_cover
        lifecycle_state: production
        # Longer than a quote lives, so that only the time of the quote is over.
        inactive_after_days: 90
${rest}
        covers:
          - cover_type: child_benefit
            pricing_basis: fixed_tiers
            age_at_entry_min: 18
            age_at_entry_max: 70
            tiers:
              - { cover_amount_pence: 1000000, premium_pence: 135 }
              - { cover_amount_pence: 2000000, premium_pence: 245 }
        journeys:
          - { slug: standard, name: Standard }`
const file = `
organisations:
  - slug: acme
    name: Acme Life
    stripe_test_mode: true
    products:${product('children', '')}${product('couple', '        joint: { mode: always }')}
      - slug: market
        name: Market
        product_type: term
        lifecycle_state: production
        whole_of_market: true
        market: { mapping: [] }
        covers:
          - cover_type: life
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 5
            term_years_max: 40
        journeys:
          - { slug: standard, name: Standard }
  - slug: rival
    name: Rival Life
`

let service: Awaited<ReturnType<typeof wholeService>>
let token: string
let page: string
let rival: string
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file)
  const of = async (id: string, origins: string[] = []) => (await service.client(id, ['read', 'write'], origins)).token
  token = await of(organisation_id)
  page = await of(organisation_id, [origin])
  rival = await of(derivedId('organisation', 'rival'))
  // Another test's transaction may still hide what was set up; this product comes last.
  const isSetUp = async () =>
    (await send('POST', 'applications', { product_slug: 'market', journey_slug: 'standard' })).status === 201
  await vi.waitUntil(isSetUp, { timeout: 60_000, interval: 50 })
}, 90_000)
afterAll(async () => service[Symbol.asyncDispose]())

type Method = 'GET' | 'PATCH' | 'POST'
const send = async <Data = unknown>(method: Method, path: string, body?: object) =>
  service.send<Data>(method, `/api/v1/${path}`, { token, ...(body && { body }) })

const anna = {
  first_name: 'Anna',
  last_name: 'Ash',
  dob: '1990-03-10',
  address_line1: '1 High Street',
  postal_code: 'SW1A 1AA',
}
const bank = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }

const apply = async (product_slug = 'children') => {
  const customer = { ...anna, email: `${randomUUID()}@example.org` }
  const started = await send<{ id: string }>('POST', 'applications', {
    product_slug,
    journey_slug: 'standard',
    customer,
  })
  const { id } = started.body.data
  await send('PATCH', `applications/${id}`, { cover_amount_pence: 1_000_000 })
  return id
}
const quote = async (id: string) =>
  (await send<{ id: string; expires_at: string }>('POST', `applications/${id}/quotes`, {})).body.data
const quoted = async (product_slug?: string) => {
  const application_id = await apply(product_slug)
  const { id: quote_id, expires_at } = await quote(application_id)
  return { application_id, quote_id, expires_at }
}
const answerOf = ({ status, body: { error } }: Awaited<ReturnType<typeof send>>) => [
  status,
  error?.code,
  ...(error?.fields ? [Object.keys(error.fields)] : []),
]

type Operation = { readonly method: Method; readonly path: string; readonly body?: object }
const onApplication: readonly Operation[] = [
  { method: 'GET', path: '' },
  { method: 'PATCH', path: '', body: { cover_amount_pence: 2_000_000 } },
  { method: 'PATCH', path: '/customer', body: { customer: { first_name: 'Eve' } } },
  { method: 'PATCH', path: '/partner', body: { partner: { first_name: 'Eve' } } },
  { method: 'PATCH', path: '/soft_customer', body: { customer: { first_name: 'Eve' } } },
  { method: 'PATCH', path: '/interstitial_choice', body: { choice_key: 'go', stage_key: 'fork' } },
  { method: 'GET', path: '/quotes' },
  { method: 'POST', path: '/quotes', body: {} },
  { method: 'POST', path: '/accept_quote', body: {} },
  { method: 'POST', path: '/market_quotes' },
  { method: 'POST', path: '/market_quotes/select', body: { result_id: randomUUID() } },
]
const buying: readonly Operation[] = [
  { method: 'POST', path: '/confirm' },
  { method: 'POST', path: '/direct_debit_details', body: { direct_debit: bank } },
  { method: 'POST', path: '/bacs_setup_intent' },
  { method: 'POST', path: '/bacs_mandate', body: { session_id: 'cs_test_1' } },
  { method: 'POST', path: '/payment_intent' },
  { method: 'POST', path: '/card_payment', body: { payment_intent_id: 'pi_1' } },
  { method: 'POST', path: '/bind', body: {} },
]
const onQuote: readonly Operation[] = [
  { method: 'GET', path: '' },
  { method: 'GET', path: '/before_you_buy' },
  { method: 'POST', path: '/reject', body: {} },
  ...buying,
]

describe('404 not_found: an unknown id, that of another organisation, and a web page without its share token', () => {
  let own: Awaited<ReturnType<typeof quoted>>
  let headers: Record<string, string>
  beforeAll(async () => {
    own = await quoted()
    const other = await send<{ share_token: string }>('GET', `applications/${await apply()}`)
    headers = { origin, 'x-share-token': other.body.data.share_token }
  })
  const asStrangers = async ({ method, path, body }: Operation, kind: string, id: string) => {
    const ask = async (asked: string, given: { token: string; headers?: Record<string, string> }) =>
      answerOf(await service.send(method, `/api/v1/${kind}/${asked}${path}`, { ...given, ...(body && { body }) }))
    return Promise.all([
      ask(randomUUID(), { token }),
      ask('no-uuid', { token }),
      ask(id, { token: rival }),
      ask(id, { token: page, headers: { origin } }),
      ask(id, { token: page, headers }),
    ])
  }
  const allHidden = Array.from({ length: 5 }, () => [404, 'not_found'])

  for (const operation of onApplication)
    test(`${operation.method} /api/v1/applications/{id}${operation.path}`, async () => {
      expect(await asStrangers(operation, 'applications', own.application_id)).toEqual(allHidden)
    })

  for (const operation of onQuote)
    test(`${operation.method} /api/v1/quotes/{id}${operation.path}`, async () => {
      expect(await asStrangers(operation, 'quotes', own.quote_id)).toEqual(allHidden)
    })
})

describe('409 quote_not_bindable: checkout works on a current quote only', () => {
  const ends: readonly [
    what: string,
    end: (quote: { application_id: string; quote_id: string }) => Promise<unknown>,
  ][] = [
    [
      'was replaced by a newer one',
      async ({ application_id: id }) => {
        await send('PATCH', `applications/${id}`, { cover_amount_pence: 2_000_000 })
        await quote(id)
      },
    ],
    ['was rejected', async ({ quote_id }) => send('POST', `quotes/${quote_id}/reject`, {})],
    [
      'was priced on other answers',
      async ({ application_id: id }) => send('PATCH', `applications/${id}`, { cover_amount_pence: 2_000_000 }),
    ],
    [
      'was bought',
      async ({ quote_id }) => {
        await send('POST', `quotes/${quote_id}/direct_debit_details`, { direct_debit: bank })
        expect((await send('POST', `quotes/${quote_id}/bind`, { collection_day: 7 })).status).toBe(201)
      },
    ],
  ]

  test.each(ends)('a quote that %s', async (_what, end) => {
    const given = await quoted()
    await end(given)

    for (const { method, path, body } of buying)
      expect([path, ...answerOf(await send(method, `quotes/${given.quote_id}${path}`, body))]).toEqual([
        path,
        409,
        'quote_not_bindable',
      ])
  })
})

describe('other refusals', () => {
  test('422 partner_missing: cover for two people is not set up for one', async () => {
    const { application_id: id, quote_id } = await quoted('couple')
    await send('POST', `quotes/${quote_id}/direct_debit_details`, { direct_debit: bank })

    expect(answerOf(await send('POST', `quotes/${quote_id}/bind`, {}))).toEqual([422, 'partner_missing'])
    const { status } = (await send<{ status: string }>('GET', `applications/${id}`)).body.data
    expect(status).toBe('in_capture')
  })

  test('422 validation_failed: the quote to accept is no id', async () => {
    const accepted = await send('POST', `applications/${await apply()}/accept_quote`, { quote_id: 'the last' })
    expect(answerOf(accepted)).toEqual([422, 'validation_failed', ['quote_id']])
  })

  test.each([
    ['customers/validate_phone', 'phone'],
    ['addresses/lookup', 'postcode'],
    ['products/children/journeys/standard/questions', 'presentation_slug'],
  ])('422 invalid_parameter: GET /api/v1/%s with %s twice', async (path, name) => {
    expect(answerOf(await send('GET', `${path}?${name}=1&${name}=2`))).toEqual([422, 'invalid_parameter', [name]])
  })

  test.each<[string, object]>([
    ['customers/validate_phone?phone=%00', { valid: false, reason: 'format_invalid' }],
    ['customers/validate_phone?phone=0113%00', { valid: false }],
    ['customers/validate_phone?phone=&application_id=%00', { valid: false, reason: 'blank' }],
    ['addresses/lookup?postcode=%00&application_id=%00', { addresses: [], valid: false }],
    ['products/children/journeys/standard/questions?presentation_slug=a%00&application_id=%00', { questions: [] }],
    ['addresses/lookup?postcode=YO1&unknown=%00', { valid: false }],
  ])('200: U+0000 in GET /api/v1/%s is ignored, or answered', async (path, data) => {
    expect(await send('GET', path)).toMatchObject({ status: 200, body: { data } })
  })

  test('422 invalid_parameter: U+0000 in a filter', async () => {
    const crm = (await service.client(organisation_id, ['read', 'crm'])).token
    const answered = await service.send('GET', '/api/v1/crm/outcomes?deal_ref=%00', { token: crm })
    expect(answerOf(answered)).toEqual([422, 'invalid_parameter', ['deal_ref']])
  })

  test('422 not_market_product: results of a product that is priced by its own rates', async () => {
    const selected = await send('POST', `applications/${await apply()}/market_quotes/select`, {
      result_id: randomUUID(),
    })
    expect(answerOf(selected)).toEqual([422, 'not_market_product'])
  })

  test('409 application_closed, 422 mapping_incomplete: the market, for an application that was given up', async () => {
    const id = await apply('market')
    const path = `/admin/v1/team_applications/${id}/decisions`
    expect((await service.send('POST', path, { body: { decision: 'withdraw' } })).status).toBe(200)

    const select = await send('POST', `applications/${id}/market_quotes/select`, { result_id: randomUUID() })
    expect(answerOf(select)).toEqual([409, 'application_closed'])
    expect(answerOf(await send('POST', `applications/${id}/market_quotes`))).toEqual([422, 'mapping_incomplete'])
  })
})

// Last, since it moves the time of all.
test('409 quote_expired: every step of checkout, when only the time of the quote is over', async () => {
  const expired = await quoted()
  const bought = await quoted()
  await send('POST', `quotes/${bought.quote_id}/direct_debit_details`, { direct_debit: bank })
  await send('POST', `quotes/${bought.quote_id}/bind`, { collection_day: 7 })
  const forward_seconds = Math.ceil((Date.parse(expired.expires_at) - Date.now()) / 1000) + 60
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds } })

  for (const { method, path, body } of buying) {
    const of = async ({ quote_id }: { quote_id: string }) =>
      answerOf(await send(method, `quotes/${quote_id}${path}`, body))
    expect([path, ...(await of(expired))]).toEqual([path, 409, 'quote_expired'])
    expect([path, ...(await of(bought))]).toEqual([path, 409, 'quote_not_bindable'])
  }
})
