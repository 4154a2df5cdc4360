import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Policy } from '#domain/policies/record.ts'
import { luhnDigit } from '#domain/policies/number.ts'
import { organisation_id } from '../applications/release.ts'
import { england } from './calendars.ts'
import { openSales, type Sales } from './fixture.ts'

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

const nobody = '00000000-0000-4000-8000-000000000000'
const soldOnce = ['QuoteAccepted', 'QuoteBought', 'ApplicationBound']

describe('setting up the policy', () => {
  test('201: the policy with every field, which can be read at once', async () => {
    const { quote_id, application_id } = await sales.ready()

    const { status, body } = await sales.bind(quote_id, { collection_day: 14 })

    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      status: 'pending_start',
      application_id,
      quote_id,
      customer: { first_name: 'Anna', email: 'anna@example.org' },
      joint_customer: null,
      currency_code: 'GBP',
      premium_frequency: 'monthly',
      cover_amount_pence: 25_000_000,
      term_years: 25,
      components: [{ cover_type: 'life', status: 'pending_start', ends_on: '2051-06-02' }],
      start_date: '2026-06-02',
      end_date: '2051-06-02',
      cooling_off_ends_on: '2026-07-02',
      collection_day: 14,
      // Ten days' notice of the first collection; the 14th is a Sunday.
      first_collection_on: '2026-06-15',
      next_collection_on: '2026-06-15',
      payment_method: {
        type: 'direct_debit',
        account_number_last4: '4958',
        mandate_id: null,
        mandate_status: 'pending',
      },
      first_premium: { method: 'direct_debit', status: 'pending', paid_at: null },
      next_review_on: null,
      next_indexation_on: null,
      cancelled_on: null,
      cancellation_reason: null,
      test: false,
    })
    expect(body.data.annual_premium_pence).toBe(12 * body.data.premium_pence)
    expect(body.data.display_id).toBe(`pol_${body.data.id}`)
    expect((await sales.get(`/api/v1/policies/${body.data.id}`)).body).toEqual({ data: body.data })
  })

  test('a collection on a bank holiday is on the next working day, as it is answered and read', async () => {
    const holidays = ['2026-06-15', '2026-06-22', '2026-06-23']
    await using own = await openSales({ calendar: { ...england, holidays } })
    const { quote_id } = await own.ready()

    const { id, ...sold } = (await own.bind(quote_id, { collection_day: 14 })).body.data
    const dates = { collection_day: 14, first_collection_on: '2026-06-16', next_collection_on: '2026-06-16' }
    expect(sold).toMatchObject(dates)
    expect((await own.get(`/api/v1/policies/${id}`)).body).toMatchObject({ data: dates })

    const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/amendment`
    const amended = (await own.post(address, { collection_day: 21 })).body
    const changed = { ...dates, collection_day: 21, next_collection_on: '2026-06-24' }
    expect(amended).toMatchObject({ data: changed })
    await own.project()
    expect((await own.get(`/api/v1/policies/${id}`)).body).toMatchObject({ data: changed })
  })

  test('the policy number has the prefix of the product, eight digits and a check digit, and is unique', async () => {
    const numbers = new Set<string>()
    for (const { quote_id } of [await sales.ready(), await sales.ready()]) {
      const { policy_number } = (await sales.bind(quote_id)).body.data
      const [, digits = '', check] = /^POL-(\d{8})(\d)$/.exec(policy_number) ?? []
      expect(check).toBe(luhnDigit(digits))
      numbers.add(policy_number)
    }
    expect(numbers.size).toBe(2)
  })

  test('200: the same call again, and the same key with other inputs, answer the policy that was set up', async () => {
    const { quote_id } = await sales.ready()
    const key = { 'idempotency-key': 'bind-1' }
    const first = await sales.bind(quote_id, {}, key)

    const byKey = await sales.bind(quote_id, { collection_day: 14 }, key)
    const byInputs = await sales.bind(quote_id)

    expect(byKey).toMatchObject({ status: 200, body: first.body })
    expect(byKey.headers.get('idempotent-replay')).toBe('true')
    expect(byInputs).toMatchObject({ status: 200, body: first.body })
    expect(byInputs.headers.get('idempotent-replay')).toBeNull()
    expect((await sales.bind(quote_id, { collection_day: 14 })).body.error.code).toBe('quote_not_bindable')
  })

  test('two binds at once make one policy', async () => {
    const { quote_id, application_id } = await sales.ready()
    await using other = await sales.startProcess()

    const answers = await Promise.all([sales, other, sales, other].map(async (each) => each.bind(quote_id)))

    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body.data.policy_number)).size).toBe(1)
    expect((await sales.typesOf(`application-${application_id}`)).slice(-3)).toEqual(soldOnce)
    expect(await sales.typesOf(`policy-${sales.policyIdOf(quote_id)}`)).toEqual(['PolicyBound'])
  })
})

describe('a process that is killed', () => {
  // The writes of a bind: the policy number, the sale, the policy.
  test.each(
    [1, 2, 3].flatMap((atWrite) => [{ atWrite, when: 'before' } as const, { atWrite, when: 'after' } as const]),
  )('$when write $atWrite leaves a state from which the same call completes', async (kill) => {
    const { quote_id, application_id } = await sales.ready()
    await using dying = await sales.startProcess(kill)

    const { status } = await dying.bind(quote_id)
    const { status: again, body } = await sales.bind(quote_id)

    expect(status).toBe(500)
    expect([200, 201]).toContain(again)
    expect((await sales.typesOf(`application-${application_id}`)).slice(-3)).toEqual(soldOnce)
    expect(await sales.typesOf(`policy-${body.data.id}`)).toEqual(['PolicyBound'])
    expect((await sales.get(`/api/v1/policies/${body.data.id}`)).body).toEqual({ data: body.data })
  })

  test('after the sale leaves a policy that is set up although nobody asks again', async () => {
    const { quote_id, application_id } = await sales.ready()
    await using dying = await sales.startProcess({ atWrite: 2, when: 'after' })
    await dying.bind(quote_id)
    const id = sales.policyIdOf(quote_id)
    const before = await sales.typesOf(`policy-${id}`)

    const sale = (await sales.log.read(`application-${application_id}`)).find(({ type }) => type === 'QuoteBought')
    if (!sale) throw new Error('The quote was not bought.')
    const context = { ...sale.metadata, now: sale.metadata.occurred_at, organisation_id }
    const done = await sales.setUp(application_id, sale.data['quote_id'] as never, context as never)

    expect(before).toEqual([])
    expect(done?.policy_number).toBe(sale.data['policy_number'])
    expect(await sales.typesOf(`policy-${id}`)).toEqual(['PolicyBound'])
  })
})

describe('refusals', () => {
  const lacking = ['customer.address_line1', 'customer.last_name', 'customer.postal_code']
  test.each<[number, string, Parameters<Sales['ready']>[0], readonly string[]]>([
    [422, 'steps_owed', { confirmed: false }, []],
    [422, 'customer_missing', { customer: { first_name: 'Anna', email: 'a@example.org', dob: '1992-03-10' } }, lacking],
    [422, 'direct_debit_missing', { banked: false }, []],
    [422, 'first_payment_missing', { direct_debit_first: false }, []],
  ])('%i %s, and nothing is changed', async (expected, code, given, fields) => {
    const { quote_id, application_id } = await sales.ready(given)
    const before = await sales.typesOf(`application-${application_id}`)

    const { status, body } = await sales.bind(quote_id)

    expect([status, body.error.code]).toEqual([expected, code])
    expect(Object.keys(body.error.fields ?? {}).toSorted()).toEqual(fields)
    expect(await sales.typesOf(`application-${application_id}`)).toEqual(before)
    expect((await sales.get(`/api/v1/policies/${sales.policyIdOf(quote_id)}`)).status).toBe(404)
  })

  test('409 quote_expired: its time is over', async () => {
    const { quote_id } = await sales.ready()
    sales.clock('2026-07-01T09:00:00.000Z')
    const { status, body } = await sales.bind(quote_id)
    sales.clock('2026-06-01T09:00:00.000Z')

    expect([status, body.error.code]).toEqual([409, 'quote_expired'])
  })

  test.each([
    [{ start_date: '2026-05-01' }, 'start_date'],
    [{ start_date: 'tomorrow' }, 'start_date'],
    [{ collection_day: 29 }, 'collection_day'],
    [{ collection_day: 2 }, 'collection_day'],
  ])('422 validation_failed: %j', async (body, field) => {
    const { quote_id } = await sales.ready()
    const answer = await sales.bind(quote_id, body)

    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
    expect(Object.keys(answer.body.error.fields ?? {})).toEqual([field])
  })

  test('404: an unknown quote, that of another organisation, and a web page without its share token', async () => {
    const { quote_id, share } = await sales.ready()
    const browser = { 'x-caller': 'browser' }

    expect((await sales.bind(nobody)).status).toBe(404)
    expect((await sales.bind(quote_id, {}, { 'x-caller': 'stranger' })).status).toBe(404)
    expect((await sales.bind(quote_id, {}, browser)).status).toBe(404)
    const { status, body } = await sales.bind(quote_id, {}, { ...browser, 'x-share-token': share })
    expect(status).toBe(201)

    const address = `/api/v1/policies/${body.data.id}`
    expect((await sales.get(address, browser)).status).toBe(404)
    expect((await sales.get(address, { 'x-caller': 'stranger' })).status).toBe(404)
    expect((await sales.get(address, { ...browser, 'x-share-token': share })).status).toBe(200)
  })
})

describe('the operator', () => {
  test('lists policies newest first, by cursor and by what they are', async () => {
    const { quote_id } = await sales.ready()
    const { policy_number, id } = (await sales.bind(quote_id)).body.data
    const list = async (filter: string) => {
      const { body } = await sales.get(`/admin/v1/policies?organisation_id=${organisation_id}&${filter}`)
      return body as { data: Policy[]; next_cursor: string | null }
    }

    const all = await list('limit=200')
    const pages: Policy[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(`limit=2${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.data)
      cursor = page.next_cursor
    }

    expect(pages).toEqual(all.data)
    expect((await list(`policy_number=${policy_number}`)).data.map((each) => each.id)).toEqual([id])
    expect((await list('status=cancelled')).data).toEqual([])
    expect((await sales.get(`/admin/v1/policies/${id}/record?organisation_id=${organisation_id}`)).status).toBe(200)
  })

  test('reads what happened to a policy, without what is personal', async () => {
    const { quote_id } = await sales.ready()
    const { id, policy_number } = (await sales.bind(quote_id)).body.data
    const read = async () => {
      await sales.project()
      return (await sales.get(`/admin/v1/policies/${id}/timeline?organisation_id=${organisation_id}`)).body
    }
    await vi.waitUntil(async () => ((await read()) as { data: unknown[] }).data.length > 0, { timeout: 60_000 })

    const body = await read()

    expect(body).toMatchObject({
      data: [{ type: 'PolicyBound', revision: 0, details: { policy_number } }],
      next_cursor: null,
    })
    expect(JSON.stringify(body)).not.toContain('Anna')
  })
})
