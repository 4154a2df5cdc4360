import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { wholeService } from '../whole-service.ts'

/** Quotes over HTTP: each refusal of a price, of its acceptance and of its rejection, with its fields. */

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))

const life = `
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 5
            term_years_max: 40
`
const file = `
organisations:
  - slug: acme
    name: Acme Life
    stripe_test_mode: true
    rate_tables:
      - { key: life.level, version: 1, csv: "age,term,smoker,rate_e4\\n34,25,n,45818\\n34,25,s,99999\\n" }
    products:
      - slug: term
        name: Term
        product_type: term
        lifecycle_state: production
        policy_fee_pence: 150
        inactive_after_days: 90
        rate_tables: { life.level: 1 }
        smoker: { key: smoker, values: [true] }
        underwriting:
          rules:
            - { code: heights, label: Works at heights, when: { key: work, equals: roof }, decision: refer }
            - { code: bombs, label: Works with bombs, when: { key: work, equals: bombs }, decision: decline }
            - { code: surgery, label: Waits for surgery, when: { key: work, equals: ill }, decision: postpone }
        covers:
          - cover_type: life
            rate_table: life.level${life}
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean, required: true }
              - { key: work, label: What do you do?, question_type: string, required: false }
      - slug: couple
        name: Couple
        product_type: term
        lifecycle_state: production
        rate_tables: { life.level: 1 }
        smoker: { key: smoker, values: [true] }
        joint: { mode: always }
        covers:
          - cover_type: life
            rate_table: life.level${life}
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean, required: true }
      - slug: advised
        name: Advised
        product_type: child_cover
        lifecycle_state: production
        checkout: { demands_and_needs: { required: true } }
        covers:
          - cover_type: child_benefit
            pricing_basis: fixed_tiers
            age_at_entry_min: 18
            age_at_entry_max: 70
            tiers:
              - { cover_amount_pence: 1000000, premium_pence: 135 }
              - { cover_amount_pence: 2000000, premium_pence: 245 }
        journeys:
          - { slug: standard, name: Standard }
      - slug: market
        name: Market
        product_type: term
        lifecycle_state: production
        whole_of_market: true
        market: { mapping: [] }
        covers:
          - cover_type: life${life}
        journeys:
          - { slug: standard, name: Standard }
`

type Quote = { id: string; status: string; premium_pence: number; expires_at: string }

let service: Awaited<ReturnType<typeof wholeService>>
let token: string
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file)
  token = (await service.client(organisation_id, ['read', 'write'])).token
  // Another test's transaction may still hide what was set up; this product comes last.
  const starts = async () => (await post('applications', { product_slug: 'market', journey_slug: 'standard' })).status
  await vi.waitUntil(async () => (await starts()) === 201, { timeout: 60_000, interval: 50 })
}, 90_000)
afterAll(async () => service[Symbol.asyncDispose]())

const post = async <Data = unknown>(path: string, body: object = {}) =>
  service.send<Data>('POST', `/api/v1/${path}`, { token, body })

/** Thirty-four for most of a year to come. */
const dob = () => {
  const born = new Date(Date.now() - 40 * 86_400_000)
  born.setUTCFullYear(born.getUTCFullYear() - 34)
  return born.toISOString().slice(0, 10)
}
const cover = { cover_amount_pence: 25_000_000, term_years: 25 }

type Applied = { product?: string; answers?: object; saved?: object; customer?: object | null }

const apply = async ({ product = 'term', answers = { smoker: false }, saved = cover, customer = {} }: Applied = {}) => {
  const who = { first_name: 'Anna', last_name: 'Ash', email: `${randomUUID()}@example.org`, dob: dob(), ...customer }
  const { body } = await post<{ id: string }>('applications', {
    product_slug: product,
    journey_slug: 'standard',
    answers,
    ...(customer && { customer: who }),
  })
  const { id } = body.data
  if (Object.keys(saved).length > 0) await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: saved })
  return id
}
const quote = async (id: string, body: object = {}) => post<Quote>(`applications/${id}/quotes`, body)
const refused = (status: number, code: string, fields?: object, message?: RegExp) => ({
  status,
  body: {
    error: {
      code,
      ...(fields && { fields }),
      ...(message && { message: expect.stringMatching(message) as unknown }),
    },
  },
})
const statusOf = async (id: string) =>
  (await service.send<{ status: string }>('GET', `/api/v1/applications/${id}`, { token })).body.data.status

describe('a price is refused', () => {
  test.each<[string, Applied, ReturnType<typeof refused>]>([
    [
      '422 quote_failed: answers and dates of birth are missing, each is named',
      { answers: {}, customer: { dob: undefined } },
      refused(422, 'quote_failed', { 'answers.smoker': 'required', 'customer.dob': 'required' }),
    ],
    [
      '422 quote_failed: the second person is missing',
      { product: 'couple' },
      refused(422, 'quote_failed', { 'partner.dob': 'required', 'partner.answers.smoker': 'required' }),
    ],
    [
      '422 quote_failed: a whole-of-market product has market quotes',
      { product: 'market', answers: {} },
      refused(422, 'quote_failed', undefined, /market quotes/),
    ],
    [
      '422 cover_missing: amount and term are not saved',
      { saved: {} },
      refused(422, 'cover_missing', { cover_amount_pence: 'required', term_years: 'required' }),
    ],
    [
      '422 cover_missing: of a cover with a choice of its own',
      { saved: { cover_amount_pence: 25_000_000, components: [{ cover_index: 0, term_years: null }] } },
      refused(422, 'cover_missing', { 'components[0].term_years': 'required' }),
    ],
    [
      '422 no_quotable_cover: too old',
      { customer: { dob: '1940-01-01' } },
      refused(422, 'no_quotable_cover', undefined, /ages 18 to 70/),
    ],
    [
      '422 no_quotable_cover: an amount that is no level',
      { product: 'advised', answers: {}, saved: { cover_amount_pence: 1_500_000 } },
      refused(422, 'no_quotable_cover', undefined, /£10,000, £20,000/),
    ],
    [
      '422 rate_unavailable: within the limits, and the table has no rate',
      { saved: { ...cover, term_years: 26 } },
      refused(422, 'rate_unavailable'),
    ],
  ])('%s', async (_what, applied, expected) => {
    const id = await apply(applied)
    const before = await statusOf(id)

    expect(await quote(id)).toMatchObject(expected)
    expect(await statusOf(id)).toBe(before)
  })

  test.each([
    ['422 quote_failed, and the application is referred', 'roof', 'quote_failed', 'referred'],
    ['422 no_quotable_cover, and the application is declined', 'bombs', 'no_quotable_cover', 'declined'],
    ['422 no_quotable_cover, and the application is postponed', 'ill', 'no_quotable_cover', 'postponed'],
  ])('%s', async (_what, work, code, status) => {
    const id = await apply({ answers: { smoker: false, work } })

    const because = status === 'referred' ? ([{ application: status }, /was referred: our team decides/] as const) : []
    expect(await quote(id)).toMatchObject(refused(422, code, ...because))
    expect(await statusOf(id)).toBe(status)
    const again = refused(422, 'quote_failed', { application: status }, /with our team|has ended/)
    expect(await quote(id)).toMatchObject(again)
  })

  test.each([['2020-01-01'], ['2099-01-01'], ['soon']])('422 validation_failed: to start on %s', async (start_date) => {
    const answered = await quote(await apply(), { start_date })

    expect(answered).toMatchObject(refused(422, 'validation_failed', { start_date: expect.any(String) as unknown }))
  })
})

describe('a quote', () => {
  test('is explained to the operator by steps that add up to its price', async () => {
    const id = await apply()
    const issued = (await quote(id)).body.data
    const address = `/admin/v1/organisations/${organisation_id}/applications/${id}/quotes/${issued.id}/explanation`
    // What came later does not count.
    await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: { answers: { smoker: true } } })
    await quote(id)

    const explained = await service.send<{ components: { steps: { adds_pence: string }[] }[] }>('GET', address)

    expect(explained).toMatchObject({
      status: 200,
      body: {
        data: {
          quote_id: issued.id,
          premium_pence: issued.premium_pence,
          policy_fee_pence: 150,
          components: [{ cover_type: 'life', premium_pence: issued.premium_pence - 150 }],
        },
      },
    })
    const [steps = []] = explained.body.data.components.map((component) => component.steps)
    expect(steps[0]).toMatchObject({ step: 'rate', name: 'life.level 1: 34|25|n', adds_pence: '1145.45' })
    expect(steps.reduce((sum, { adds_pence }) => sum + Number(adds_pence), 0)).toBeCloseTo(issued.premium_pence - 150)
    expect((await service.send('GET', address.replace(issued.id, randomUUID()))).status).toBe(404)
    expect((await service.send('GET', address.replace(organisation_id, randomUUID()))).status).toBe(404)
  })

  test('for two people is explained by the steps of each, which add up to its price', async () => {
    const id = await apply({ product: 'couple' })
    const partner = { first_name: 'Ben', last_name: 'Ash', dob: dob() }
    const saved = await service.send('PATCH', `/api/v1/applications/${id}/partner`, {
      token,
      body: { partner, answers: { smoker: true } },
    })
    expect(saved.status).toBe(200)
    const issued = (await quote(id)).body.data
    const address = `/admin/v1/organisations/${organisation_id}/applications/${id}/quotes/${issued.id}/explanation`

    type Step = { step: string; life: number | null; name: string; adds_pence: string }
    const explained = await service.send<{ components: { premium_pence: number; steps: Step[] }[] }>('GET', address)

    const [component] = explained.body.data.components
    const steps = component?.steps ?? []
    const rates = steps.filter(({ step }) => step === 'rate').map(({ life, name }) => [life, name])
    expect(rates).toEqual([
      [1, 'life.level 1: 34|25|n'],
      [2, 'life.level 1: 34|25|s'],
    ])
    expect(steps.reduce((sum, { adds_pence }) => sum + Number(adds_pence), 0)).toBeCloseTo(issued.premium_pence)
  })

  test('409 conflict: what the price of an erased person was made from is gone, and the quote still says it', async () => {
    const id = await apply()
    const issued = (await quote(id)).body.data
    const admin = `/admin/v1/organisations/${organisation_id}`
    const { body: applied } = await service.send<{ customer: { id: string } }>('GET', `/api/v1/applications/${id}`, {
      token,
    })
    const person = applied.data.customer.id
    await service.send('POST', `${admin}/people/${person}/erasure`, { body: {} })
    const address = `${admin}/applications/${id}/quotes/${issued.id}/explanation`

    const erased = refused(409, 'conflict', undefined, /cannot be worked out again.*been erased/)
    await vi.waitFor(async () => expect(await service.send('GET', address)).toMatchObject(erased), {
      timeout: 60_000,
      interval: 50,
    })

    const { body } = await service.send<Quote>('GET', `/api/v1/quotes/${issued.id}`, { token })
    expect(body.data).toMatchObject({ premium_pence: issued.premium_pence })
  })

  test('409 conflict: of a price that comes out otherwise it is not said that somebody was erased', async () => {
    const id = await apply()
    await quote(id)
    const { eventLog } = service.parts
    const recorded = (await eventLog.read(`application-${id}`)).find(({ type }) => type === 'QuoteIssued')
    if (!recorded) return expect.fail('No quote was issued.')
    const { type, schema_version, data, metadata } = recorded
    const quote_id = randomUUID()
    const dearer = { ...data, quote_id, premium_pence: Number(data['premium_pence']) + 1 }
    await eventLog.append(`application-${id}`, 'any', [
      { id: randomUUID(), type, schema_version, metadata, data: dearer },
    ])

    const answer = await service.send(
      'GET',
      `/admin/v1/organisations/${organisation_id}/applications/${id}/quotes/${quote_id}/explanation`,
    )

    expect(answer).toMatchObject(refused(409, 'conflict', undefined, /is another one, or none\. GET .*names each/))
  })

  test('404 not_found: a review that never was is not explained', async () => {
    const address = `/admin/v1/organisations/${organisation_id}/policies/${randomUUID()}/reviews/2031-06-01/explanation`
    expect(await service.send('GET', address)).toMatchObject(refused(404, 'not_found'))
  })

  test('200: is rejected, and the application can be quoted again', async () => {
    const id = await apply()
    const { id: quote_id } = (await quote(id)).body.data

    const rejected = await post<Quote>(`quotes/${quote_id}/reject`, { reason: 'Too dear.' })

    expect(rejected).toMatchObject({ status: 200, body: { data: { id: quote_id, status: 'rejected' } } })
    expect((await service.send('GET', `/api/v1/quotes/${quote_id}`, { token })).body.data).toEqual(rejected.body.data)
    expect(await post(`quotes/${quote_id}/reject`)).toMatchObject(refused(409, 'quote_not_bindable'))
    expect((await quote(id)).status).toBe(201)
  })

  test('409 quote_not_bindable: one that was replaced cannot be rejected', async () => {
    const id = await apply()
    const first = (await quote(id)).body.data
    await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: { answers: { smoker: true } } })
    await quote(id)

    expect(await post(`quotes/${first.id}/reject`)).toMatchObject(refused(409, 'quote_not_bindable'))
  })

  test('404, 422 validation_failed: what cannot be rejected at all', async () => {
    const { id } = (await quote(await apply())).body.data

    expect((await post(`quotes/${randomUUID()}/reject`)).status).toBe(404)
    expect(await post(`quotes/${id}/reject`, { reason: 'x'.repeat(501) })).toMatchObject(
      refused(422, 'validation_failed', { reason: expect.any(String) as unknown }),
    )
  })
})

describe('422 accept_failed', () => {
  const accept = async (id: string, body: object = {}) => post(`applications/${id}/accept_quote`, body)

  test('there is no quote yet, or none with that id', async () => {
    const id = await apply()

    expect(await accept(id)).toMatchObject(refused(422, 'accept_failed', undefined, /no quote yet/))
    expect(await accept(id, { quote_id: randomUUID() })).toMatchObject(
      refused(422, 'accept_failed', { quote_id: expect.any(String) as unknown }),
    )
  })

  test('the quote was replaced, or rejected', async () => {
    const id = await apply()
    const first = (await quote(id)).body.data
    await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: { answers: { smoker: true } } })
    const second = (await quote(id)).body.data

    expect(await accept(id, { quote_id: first.id })).toMatchObject(refused(422, 'accept_failed', undefined, /replaced/))
    await post(`quotes/${second.id}/reject`)
    expect(await accept(id)).toMatchObject(refused(422, 'accept_failed', undefined, /rejected/))
  })

  test('answers have changed since it was priced', async () => {
    const id = await apply()
    await quote(id)
    await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: { answers: { smoker: true } } })

    expect(await accept(id)).toMatchObject(refused(422, 'accept_failed', undefined, /have changed/))
  })

  test('the application has ended', async () => {
    const id = await apply({ answers: { smoker: false, work: 'bombs' } })
    await quote(id)

    expect(await accept(id)).toMatchObject(refused(422, 'accept_failed', undefined, /has ended: declined/))
  })
})

describe('422 not_sellable', () => {
  test('a product with a rule on demands and needs and no statement', async () => {
    const id = await apply({ product: 'advised', answers: {}, saved: { cover_amount_pence: 1_000_000 } })
    const { id: quote_id } = (await quote(id)).body.data

    const shown = await service.send<object>('GET', `/api/v1/quotes/${quote_id}/before_you_buy`, { token })
    expect(shown.body.data).toMatchObject({ sellable: false, show: false, steps: [] })
    expect(await post(`quotes/${quote_id}/confirm`)).toMatchObject(refused(422, 'not_sellable'))
    expect(await post(`quotes/${quote_id}/bind`)).toMatchObject(refused(422, 'not_sellable'))
  })
})

test('409 application_closed: an application that has ended takes nothing more', async () => {
  const id = await apply({ answers: { smoker: false, work: 'bombs' } })
  await quote(id)
  const patch = async (path: string, body: object) =>
    service.send('PATCH', `/api/v1/applications/${id}${path}`, { token, body })

  expect(await patch('', { term_years: 20 })).toMatchObject(refused(409, 'application_closed'))
  expect(await patch('/customer', { customer: { first_name: 'Eve' } })).toMatchObject(
    refused(409, 'application_closed'),
  )
  expect(await patch('/partner', { partner: { first_name: 'Eve' } })).toMatchObject(refused(409, 'application_closed'))
})

// Last, since it moves the time of all.
test('a quote whose time is over: 409 quote_expired at checkout, 422 accept_failed, and it cannot be rejected', async () => {
  const id = await apply()
  const { id: quote_id, expires_at } = (await quote(id)).body.data
  const forward_seconds = Math.ceil((Date.parse(expires_at) - Date.now()) / 1000) + 60
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds } })

  for (const operation of ['confirm', 'bacs_setup_intent', 'bind'])
    expect(await post(`quotes/${quote_id}/${operation}`)).toMatchObject(refused(409, 'quote_expired'))
  expect(await post(`applications/${id}/accept_quote`)).toMatchObject(
    refused(422, 'accept_failed', undefined, /expired/),
  )
  expect(await post(`quotes/${quote_id}/reject`)).toMatchObject(refused(409, 'quote_not_bindable'))
})
