import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { productEvents } from '#domain/catalogue/events.ts'
import { fromStored } from '#domain/event.ts'
import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { derivedId } from '#infra/ids.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { memberOf, withOwnKey } from '../users/team.ts'
import { wholeService, type Answer } from '../whole-service.ts'
import { pastOf } from './past.ts'

const life = `
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 5
            term_years_max: 40`
const journey = `
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: smoker, label: Do you smoke?, question_type: boolean, required: true }
              - { key: work, label: What do you do?, question_type: string, required: false }`
const file = `organisations:
  - slug: insurer
    name: Insurer
    rate_tables:
      - { key: life.level, version: 1, csv: "age,term,smoker,rate_e4\\n34,25,n,45818\\n34,25,s,99999\\n" }
    products:
      - slug: term
        name: Term
        product_type: term
        lifecycle_state: production
        policy_fee_pence: 150
        rate_tables: { life.level: 1 }
        smoker: { key: smoker, values: [true] }
        underwriting:
          rules: [{ code: heights, label: Works at heights, when: { key: work, equals: roof }, decision: refer }]
        covers:
          - cover_type: life
            rate_table: life.level${life}${journey}
            journey_loading: "1.10"
      - slug: couple
        name: Couple
        product_type: term
        lifecycle_state: production
        rate_tables: { life.level: 1 }
        smoker: { key: smoker, values: [true] }
        joint: { mode: always }
        covers:
          - cover_type: life
            rate_table: life.level${life}${journey}
      - slug: plan
        name: Plan
        product_type: healthcare
        lifecycle_state: production
        covers:
          - &plan
            cover_type: healthcare
            pricing_basis: per_member
            member_premium_pence: 2450
            members_factor: people
            age_at_entry_min: 18
            age_at_entry_max: 70
          - { <<: *plan, title: Dental, member_premium_pence: 310, opt_in_factor: dental }
        journeys:
          - slug: standard
            name: Standard
            questions:
              - { key: people, label: How many?, question_type: integer, required: true }
              - { key: dental, label: With dental cover?, question_type: boolean, required: true }
`

type Step = Readonly<Record<string, unknown>>
type Price = {
  readonly result: string
  readonly said: string
  readonly stored: { readonly premium_pence: number }
  readonly again: { readonly premium_pence: number } | null
  readonly inputs: unknown
  readonly components: readonly { readonly premium_pence: number; readonly steps: readonly Step[] }[] | null
  readonly differences: readonly unknown[]
  readonly lacking: readonly string[]
  readonly gone: readonly { readonly type: string; readonly fields: readonly string[] }[]
}
type Quote = { readonly id: string; readonly premium_pence: number }

const organisation_id = derivedId('organisation', 'insurer')

let service: Awaited<ReturnType<typeof wholeService>>
let token: string
let auditor: string
let stranger: { readonly organisation_id: string; readonly key: string }
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file)
  token = (await service.client(organisation_id, ['read', 'write'])).token
  auditor = (await memberOf(service, organisation_id, ['auditor'], { sees_personal_data: true })).key
  const strangers = await service.organisation('strangers')
  const { key } = await memberOf(service, strangers, ['auditor'], { sees_personal_data: true })
  stranger = { organisation_id: strangers, key }
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

/** Thirty-four for most of a year to come. */
const dob = () => {
  const born = new Date(Date.now() - 40 * 86_400_000)
  born.setUTCFullYear(born.getUTCFullYear() - 34)
  return born.toISOString().slice(0, 10)
}
const person = () => ({ first_name: 'Anna', last_name: 'Ash', dob: dob(), email: `${randomUUID()}@example.org` })

const call = async <Data = { id: string }>(method: string, path: string, body: object = {}): Promise<Data> => {
  const answer = await service.send<Data>(method, `/api/v1/${path}`, { token, ...(method !== 'GET' && { body }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
const applied = async (product_slug: string, saved: object) => {
  const start = { product_slug, journey_slug: 'standard', customer: person() }
  const { id } = await call('POST', 'applications', start)
  await call('PATCH', `applications/${id}`, saved)
  return id
}
const quoted = async (id: string) => call<Quote>('POST', `applications/${id}/quotes`)
const cover = { cover_amount_pence: 25_000_000, term_years: 25 }

const send = async (quote_id: string, { personal = 'opened', key = auditor, of = organisation_id } = {}) =>
  service.send<Price>('GET', `/audit/v1/organisations/${of}/quotes/${quote_id}/price?personal=${personal}`, {
    token: key,
  })
const priceOf = async (quote_id: string, personal = 'opened'): Promise<Price> => {
  const answer: Answer<Price> = await send(quote_id, { personal })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body.data
}
const expectNothingForStrangers = async (quote_id: string) => {
  expect((await send(quote_id, { key: stranger.key })).status).toBe(404)
  expect((await send(quote_id, { key: stranger.key, of: stranger.organisation_id })).status).toBe(404)
}

/** A quote that another program, or a version with a fault, has stored for the same answers. */
const storedWith = async (application_id: string, quote_id: string, changes: object) => {
  const events = await service.parts.eventLog.read(`application-${application_id}`, {})
  const issued = events.find(({ type, data }) => type === 'QuoteIssued' && data['quote_id'] === quote_id)
  if (!issued) throw new Error('There is no such quote.')
  const wrong = { ...fromStored(quoteEvents, issued), quote_id: randomUUID(), ...changes }
  await pastOf(service, organisation_id)(`application-${application_id}`, quoteEvents, [
    [issued.metadata.occurred_at, wrong],
  ])
  return wrong.quote_id
}

describe('question 2: how this price was made', () => {
  test('is told step by step, each with its cell and the price before and after it, to the same penny', async () => {
    const id = await applied('term', { answers: { smoker: false }, ...cover })
    const quote = await quoted(id)
    // What was answered later, and its quote, are no part of it.
    await call('PATCH', `applications/${id}`, { answers: { smoker: true } })
    const later = await quoted(id)

    const told = await priceOf(quote.id)

    expect(told).toMatchObject({
      origin: 'own_rates',
      quote_id: quote.id,
      application_id: id,
      release: { number: 1 },
      result: 'same',
      stored: { premium_pence: 1410, policy_fee_pence: 150, annual_premium_pence: 16_920 },
      again: { premium_pence: 1410, policy_fee_pence: 150, annual_premium_pence: 16_920 },
      rate_tables: [{ key: 'life.level', version: 1 }],
      inputs: { ...cover, lives: [{ dob: dob(), answers: { smoker: false } }] },
      accepted: null,
      differences: [],
      lacking: [],
      gone: [],
    })
    expect(told.components?.map(({ premium_pence }) => premium_pence)).toEqual([1260])
    const [steps = []] = told.components?.map((component) => component.steps) ?? []
    expect(steps.map(({ step, name, before_pence, after_pence }) => [step, name, before_pence, after_pence])).toEqual([
      ['rate', 'life.level 1: 34|25|n', '0', '1145.45'],
      ['factor', 'size', '1145.45', '1145.45'],
      ['factor', 'premium_basis', '1145.45', '1145.45'],
      ['factor', 'indexation', '1145.45', '1145.45'],
      ['factor', 'joint_first_event', '1145.45', '1145.45'],
      ['factor', 'multi_cover', '1145.45', '1145.45'],
      ['journey_loading', 'journey_loading', '1145.45', '1259.995'],
      ['rounding', 'half up to a penny', '1259.995', '1260'],
    ])
    expect(steps.map(({ used }) => used)).toEqual([
      {
        table: 'life.level',
        version: 1,
        cell: '34|25|n',
        at: { age: '34', term: '25', smoker: 'n' },
        rate_e4: 45_818,
        benefit_pence: 25_000_000,
      },
      ...steps.slice(1).map(() => null),
    ])
    expect(JSON.stringify(told)).not.toContain(later.id)
    await expectNothingForStrangers(quote.id)
  })

  test('of two people each has a cell, and the price is of both', async () => {
    const id = await applied('couple', { answers: { smoker: false }, ...cover })
    const partner = { first_name: 'Ben', last_name: 'Ash', dob: dob() }
    await call('PATCH', `applications/${id}/partner`, { partner, answers: { smoker: true } })
    const quote = await quoted(id)

    const told = await priceOf(quote.id)

    expect(told).toMatchObject({ result: 'same', again: { premium_pence: quote.premium_pence } })
    const [steps = []] = told.components?.map((component) => component.steps) ?? []
    expect(steps.filter(({ step }) => step === 'rate').map(({ life: of, name }) => [of, name])).toEqual([
      [1, 'life.level 1: 34|25|n'],
      [2, 'life.level 1: 34|25|s'],
    ])
    expect(steps.at(-1)).toMatchObject({ after_pence: String(quote.premium_pence) })
  })

  test('accepted by the team it has the loading, and says who accepted it', async () => {
    const id = await applied('term', { answers: { smoker: false, work: 'roof' }, ...cover })
    await service.send('POST', `/api/v1/applications/${id}/quotes`, { token, body: {} })
    const decider = await memberOf(service, organisation_id, ['underwriting'], { name: 'Una' })
    const loading = { code: 'heights', label: 'Works at heights', basis: 'percent', value: '50' }
    const decision = { decision: 'accept', loadings: [loading], reason_message: null }
    const address = `/admin/v1/team_applications/${id}/decisions?organisation_id=${organisation_id}`
    const decided = await service.send('POST', address, { token: decider.key, body: decision })
    expect(decided).toMatchObject({ status: 200 })
    const [quote] = await call<readonly Quote[]>('GET', `applications/${id}/quotes`)

    const told = await priceOf(quote?.id ?? '')

    // Half as much again of 1145.45, then a tenth more, and the fee.
    expect(told).toMatchObject({
      result: 'same',
      again: { premium_pence: 1890 + 150 },
      inputs: { accepted_terms: { loadings: [loading] } },
      accepted: { who: { as: 'user', name: 'Una', id: decider.id } },
    })
    const [steps = []] = told.components?.map((component) => component.steps) ?? []
    expect(steps[1]).toMatchObject({
      step: 'loading',
      name: 'heights',
      value: '50 %',
      before_pence: '1145.45',
      after_pence: '1718.175',
    })
  })

  test('of a plan with an add-on each has its price for all people', async () => {
    const quote = await quoted(await applied('plan', { answers: { people: 3, dental: true } }))

    const told = await priceOf(quote.id)

    expect(told).toMatchObject({ result: 'same', again: { premium_pence: 3 * (2450 + 310) } })
    expect(told.components?.map(({ steps }) => steps[0]?.['name'])).toEqual([
      '3 people at 2450 pence',
      '3 people at 310 pence',
    ])
  })

  test('masked: that it is the same, and nothing that tells of the person', async () => {
    const quote = await quoted(await applied('term', { answers: { smoker: false }, ...cover }))

    const told = await priceOf(quote.id, 'masked')

    expect(told).toMatchObject({ result: 'same', again: { premium_pence: 1410 }, inputs: null, components: null })
    expect(JSON.stringify(told)).not.toContain('34|25|n')
    const { body } = await service.send<object[]>(
      'GET',
      `/audit/v1/organisations/${organisation_id}/accesses?record_id=${quote.id}`,
    )
    expect(body.data[0]).toMatchObject({ personal: 'masked', rows: 1 })
  })

  test('where the stored quote is not what follows from its answers, each value that differs is named', async () => {
    const id = await applied('term', { answers: { smoker: false }, ...cover })
    const { id: right } = await quoted(id)
    const wrong = await storedWith(id, right, { premium_pence: 999, inputs_digest: 'another' })

    const told = await priceOf(wrong)

    expect(told).toMatchObject({ result: 'differs', stored: { premium_pence: 999 }, again: { premium_pence: 1410 } })
    expect(told.differences).toEqual([
      { path: 'premium_pence', stored: 999, again: 1410, masked: false },
      { path: 'inputs_digest', stored: 'another', again: expect.any(String) as unknown, masked: false },
    ])
    expect(told.said).toBe(
      'Worked out again, 2 values are not as the quote was stored. It was stored with £9.99 a month, and comes to £14.10.',
    )
    expect((await priceOf(wrong, 'masked')).differences).toEqual([
      { path: 'premium_pence', stored: 999, again: 1410, masked: false },
      { path: 'inputs_digest', stored: null, again: null, masked: true },
    ])
    expect(await priceOf(right)).toMatchObject({ result: 'same', differences: [] })
  })

  test('where no price follows from what is stored, it says what is missing', async () => {
    const id = await applied('term', { answers: { smoker: false }, ...cover })
    const { id: right } = await quoted(id)
    await call('PATCH', `applications/${id}`, { term_years: 24 })
    const wrong = await storedWith(id, right, {})

    expect(await priceOf(wrong)).toMatchObject({
      result: 'no_price',
      again: null,
      lacking: ['rate_tables.life.level'],
      said: 'The quote was stored with £14.10 a month. Worked out again, there is no price: a rate is missing.',
    })
  })

  test('of somebody who was erased it says what is gone, and what the quote still says', async () => {
    const id = await applied('term', { answers: { smoker: false }, ...cover })
    const quote = await quoted(id)
    const { customer } = await call<{ customer: { id: string } }>('GET', `applications/${id}`)
    const erasure = `/admin/v1/organisations/${organisation_id}/people/${customer.id}/erasure`
    await service.send('POST', erasure, { body: {} })

    const told = await vi.waitFor(
      async () => {
        const found = await priceOf(quote.id)
        expect(found.gone.map(({ type }) => type)).toContain('QuoteIssued')
        return found
      },
      { timeout: 60_000, interval: 50 },
    )

    expect(told).toMatchObject({ result: 'erased', stored: { premium_pence: 1410 }, again: null, components: null })
    expect(told.gone.flatMap(({ fields }) => fields)).toContain('components')
  })

  test('a price from the market says from where, what was sent and what was answered', async () => {
    const application_id = await applied('term', { answers: { smoker: false }, ...cover })
    const [request_id, result_id] = [randomUUID(), randomUUID()]
    const received = sampleEvent(marketQuoteEvents, 'MarketResultsReceived')
    const [result] = received.results
    const search = { ...sampleEvent(marketQuoteEvents, 'MarketSearchRequested'), request_id, replaces: null }
    await pastOf(service, organisation_id)(`application-${application_id}`, marketQuoteEvents, [
      ['2026-03-01T09:00:00.000Z', { ...search, organisation_id, application_id }],
      ['2026-03-01T09:00:01.000Z', { ...sampleEvent(marketQuoteEvents, 'MarketSearchAccepted'), request_id }],
      ['2026-03-01T09:00:02.000Z', { ...received, request_id, results: [{ ...result, result_id }] }],
      ['2026-03-01T09:05:00.000Z', { type: 'MarketResultSelected', request_id, result_id }],
    ])

    // Nobody waits for this read model.
    await vi.waitUntil(async () => (await send(request_id)).status === 200, { timeout: 30_000, interval: 50 })
    expect(await priceOf(request_id)).toMatchObject({
      origin: 'market',
      application_id,
      requested_at: '2026-03-01T09:00:00.000Z',
      sent: search.search,
      results: [
        {
          result_id,
          provider_name: result?.provider_name,
          selected_at: '2026-03-01T09:05:00.000Z',
          offer: { premium_pence: result?.offer.premium_pence },
        },
      ],
    })
    expect(await priceOf(request_id, 'masked')).toMatchObject({ sent: null, results: [{ offer: null }] })
    await expectNothingForStrangers(request_id)
  })

  test('there is no such quote', async () => {
    expect(await send(randomUUID())).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  })
})

type Done = {
  readonly at: string
  readonly who: { readonly as: string; readonly name: string | null }
  readonly approval: unknown
}
type OnSale = {
  readonly release_id: string
  readonly number: number
  readonly on_sale_from: string
  readonly on_sale_until: string | null
  readonly published: Done
  readonly before: { readonly number: number } | null
  readonly changes: readonly unknown[]
  readonly changes_count: number
  readonly rate_tables: readonly unknown[]
}
type Query = Readonly<Record<string, string>>
type Proposed = { readonly proposal_id?: string }

describe('question 7: which release was on sale, who published and approved it, and what changed with it', () => {
  const firm = derivedId('organisation', 'publisher')
  const first = file.replace('slug: insurer', 'slug: publisher').split('      - slug: couple')[0] ?? ''
  const second = first
    .replace('version: 1', 'version: 2')
    .replace('n,45818', 'n,50399')
    .replace('life.level: 1', 'life.level: 2')
    .replace('policy_fee_pence: 150', 'policy_fee_pence: 175')
  const product_id = derivedId('product', firm, 'term')
  let reader: string

  const ask = async (query: Query, { of = firm, key = reader, product = product_id } = {}) =>
    service.send<readonly OnSale[]>(
      'GET',
      `/audit/v1/organisations/${of}/products/${product}/on_sale?${new URLSearchParams(query).toString()}`,
      { token: key },
    )
  const onSale = async (query: Query, product = product_id): Promise<readonly OnSale[]> => {
    const answer = await ask(query, { product })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body.data
  }

  beforeAll(async () => {
    await service.setUp(first)
    const admin = `/admin/v1/organisations/${firm}`
    const [ada, bea] = [
      await memberOf(service, firm, ['owner'], { name: 'Ada' }),
      await withOwnKey(service, firm, await memberOf(service, firm, ['owner'], { name: 'Bea' })),
    ]
    reader = (await memberOf(service, firm, ['auditor'], { sees_personal_data: true })).key
    const rule = { release: true, rate_table: true }
    await service.send('PATCH', `${admin}/four_eyes`, { token: ada.key, body: rule })
    // The rate table first: until it is approved, the product that uses it waits for it.
    for (let step = 0; step < 2; step++) {
      const { body } = await service.send<{ steps: readonly Proposed[] }>('POST', '/admin/v1/setup?apply=true', {
        token: ada.key,
        body: second,
      })
      const id = body.data.steps.find(({ proposal_id }) => proposal_id !== undefined)?.proposal_id
      if (id === undefined) throw new Error(`Nothing waits: ${JSON.stringify(body)}`)
      await service.send('POST', `${admin}/approvals/${id}/approve`, { token: bea.key, body: {} })
      const isDone = async () =>
        (await service.send<{ status: string }>('GET', `${admin}/approvals/${id}`)).body.data.status === 'done'
      await vi.waitUntil(isDone, { timeout: 30_000, interval: 50 })
    }
  }, 90_000)

  test('the release with who proposed and approved it, its differences, and the cells of its rate tables', async () => {
    const found = await onSale({})

    expect(found).toMatchObject([
      {
        number: 2,
        on_sale_until: null,
        published: {
          who: { as: 'user', name: 'Bea' },
          approval: { proposed_by: { as: 'user', name: 'Ada' }, approved_by: { as: 'user', name: 'Bea' } },
        },
        begun: { at: found[0]?.on_sale_from },
        ended: null,
        before: { number: 1 },
        changes: [{ path: 'policy_fee_pence', before: 150, after: 175 }],
        changes_count: 1,
        rate_tables: [
          {
            key: 'life.level',
            before: 1,
            after: 2,
            published: { who: { name: 'Bea' }, approval: { proposed_by: { name: 'Ada' }, changes_count: 2 } },
            cells: {
              cells_before: 2,
              cells_after: 2,
              added: { count: 0 },
              removed: { count: 0 },
              changed: {
                count: 1,
                samples: [{ at: { age: '34', term: '25', smoker: 'n' }, before: 45_818, after: 50_399 }],
              },
              ratio: { smallest: 50_399 / 45_818, largest: 50_399 / 45_818 },
            },
          },
        ],
      },
    ])
    expect((await ask({}, { key: stranger.key })).status).toBe(404)
    expect((await ask({}, { key: stranger.key, of: stranger.organisation_id })).status).toBe(404)
  })

  test('at an earlier moment it is the release before, which nobody else had to approve', async () => {
    const replaced = (await onSale({}))[0]?.on_sale_from ?? ''
    const at = new Date(Date.parse(replaced) - 1).toISOString()

    const found = await onSale({ at })

    expect(found).toMatchObject([
      {
        number: 1,
        on_sale_until: replaced,
        published: { who: { as: 'operator' }, approval: null },
        begun: { who: { as: 'operator' } },
        ended: { who: { name: 'Bea' } },
        before: null,
        changes: [],
        rate_tables: [],
      },
    ])
    expect((await onSale({ at: replaced.slice(0, 10) })).map(({ number }) => number)).toContain(2)
    expect(await onSale({ at: '2020-01-01' })).toEqual([])
  })

  describe('of a product that came and went', () => {
    const product = randomUUID()
    let known_at: string
    beforeAll(async () => {
      const release = { ...sampleEvent(productEvents, 'ReleasePublished').release, organisation_id: firm }
      const published = (number: number, policy_fee_pence: number) => ({
        type: 'ReleasePublished',
        release: { ...release, id: randomUUID(), product_id: product, number, policy_fee_pence },
      })
      const moved = (lifecycle_state: string) => ({
        type: 'ProductLifecycleChanged',
        organisation_id: firm,
        lifecycle_state,
      })
      const happened = pastOf(service, firm)
      ;({ known_at } = await happened(`product-${product}`, productEvents, [
        ['2026-01-05T09:00:00.000Z', published(1, 100)],
        ['2026-01-10T09:00:00.000Z', moved('sandbox')],
        ['2026-02-01T09:00:00.000Z', moved('production')],
        ['2026-02-10T09:00:00.000Z', published(2, 120)],
        ['2026-02-10T15:00:00.000Z', published(3, 130)],
        ['2026-03-01T09:00:00.000Z', moved('archived')],
        ['2026-04-01T09:00:00.000Z', moved('production')],
      ]))
      // Recorded later, of a day before.
      await happened(`product-${product}`, productEvents, [['2026-04-10T09:00:00.000Z', published(4, 140)]])
    })
    const numbers = async (query: Query) => (await onSale(query, product)).map(({ number }) => number)

    test('it is not on sale before it is in production, nor while it is archived', async () => {
      expect(await numbers({ at: '2026-01-31' })).toEqual([])
      expect(await numbers({ at: '2026-02-01T08:59:59.999Z' })).toEqual([])
      expect(await numbers({ at: '2026-02-01T09:00:00Z' })).toEqual([1])
      expect(await numbers({ at: '2026-02-28' })).toEqual([3])
      expect(await numbers({ at: '2026-03-01T09:00:00Z' })).toEqual([])
      expect(await numbers({ at: '2026-03-15' })).toEqual([])
    })

    test('of a day all that were on sale on it are shown, each beside the one before it', async () => {
      const found = await onSale({ at: '2026-02-10' }, product)
      expect(found.map(({ number, before, changes }) => [number, before?.number, changes])).toEqual([
        [1, undefined, []],
        [2, 1, [{ path: 'policy_fee_pence', before: 100, after: 120 }]],
        [3, 2, [{ path: 'policy_fee_pence', before: 120, after: 130 }]],
      ])
    })

    test('back on sale, it is compared with another release, and not with itself', async () => {
      expect(await onSale({ at: '2026-04-05' }, product)).toMatchObject([
        { number: 3, on_sale_from: '2026-04-01T09:00:00.000Z', before: { number: 2 } },
      ])
    })

    test('what was recorded later is another answer', async () => {
      expect(await numbers({ at: '2026-04-15' })).toEqual([4])
      expect(await numbers({ at: '2026-04-15', known_at })).toEqual([3])
    })
  })

  test('each parameter that does not fit is named, and of a product that is not there nothing is told', async () => {
    const refused = async (query: Query) => {
      const { status, body } = await ask(query)
      return [status, Object.keys(body.error?.fields ?? {})]
    }
    expect(await refused({ at: 'yesterday' })).toEqual([422, ['at']])
    expect(await refused({ known_at: '2026-04-02T00:00:00Z', position: '5' })).toEqual([422, ['position']])
    expect((await ask({}, { product: randomUUID() })).status).toBe(404)
  })
})
