import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { cancellationRoute } from '../../command-api/policies/cancellation-route.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { policyClaimsRoute } from '../../query-api/claims/of-policy.ts'
import { onceShown } from '../../query-api/wait-until-shown.ts'
import { policyPremiumsRoute } from '../../query-api/premiums/of-policy.ts'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'
import { serve, serverCaller } from '../serve.ts'
import { wholeService } from '../whole-service.ts'
import { firmFile } from './first-year-firm.ts'

/** What a firm's own server does with its policies after the sale, over HTTP. */

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))
const admin = `/admin/v1/organisations/${organisation_id}`

vi.setConfig({ testTimeout: 240_000 })

let service: Awaited<ReturnType<typeof wholeService>>
let stripe: StripeStandIn
let token: string
let tokens: Readonly<Record<'browser' | 'stranger' | 'crm' | 'reader' | 'other', string>>
beforeAll(async () => {
  stripe = await startStripe()
  service = await wholeService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  await service.setUp(firmFile('http://127.0.0.1:9', stripe.url))
  const tokenWith = async (
    scopes: readonly string[],
    origins: readonly string[] = [],
    firm: string = organisation_id,
  ) => (await service.client(firm, scopes, origins)).token
  token = await tokenWith(['read', 'write'])
  tokens = {
    browser: await tokenWith(['read', 'write'], ['https://shop.example']),
    stranger: await tokenWith(['read', 'write'], [], await service.organisation('strangers')),
    crm: await tokenWith(['crm']),
    reader: await tokenWith(['read']),
    other: await tokenWith(['read', 'write']),
  }
}, 150_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await stripe.close()
})

const api = async <Data>(method: string, path: string, body?: object, by: string = token, headers = {}) =>
  service.send<Data>(method, `/api/v1/${path}`, { token: by, headers, ...(body && { body }) })
const now = async () => Date.parse((await service.send<{ now: string }>('GET', '/admin/v1/clock')).body.data.now)

type Policy = { readonly id: string; readonly cooling_off_ends_on: string; readonly first_collection_on: string }

const bought = async (email: string): Promise<Policy> => {
  const born = new Date((await now()) - 40 * 86_400_000)
  born.setUTCFullYear(born.getUTCFullYear() - 34)
  const customer = {
    first_name: 'Anna',
    last_name: 'Ash',
    email,
    dob: born.toISOString().slice(0, 10),
    address_line1: '1 High Street',
    city: 'London',
    postal_code: 'SW1A 1AA',
  }
  const of = async <Data>(method: string, path: string, body?: object) => {
    const answer = await api<Data>(method, path, body)
    if (answer.status > 299) throw new Error(JSON.stringify(answer.body))
    return answer.body.data
  }
  const start = { product_slug: 'term', journey_slug: 'standard', customer, answers: { smoker: false } }
  const { id } = await of<{ id: string }>('POST', 'applications', start)
  await of('PATCH', `applications/${id}`, { cover_amount_pence: 20_000_000, term_years: 25 })
  const quote = await of<{ id: string }>('POST', `applications/${id}/quotes`)
  const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
  await of('POST', `quotes/${quote.id}/direct_debit_details`, { direct_debit })
  return of<Policy>('POST', `quotes/${quote.id}/bind`)
}
const typesOf = async (id: string) => (await service.parts.eventLog.read(`policy-${id}`, {})).map(({ type }) => type)
/** What the cancellation says of a policy: its mandate and its documents are made meanwhile. */
const endOf = (policy: object) => {
  const { status, cancelled_on, cancellation_reason, components, refund_pence } = policy as Readonly<
    Record<string, unknown>
  >
  return { status, cancelled_on, cancellation_reason, components, refund_pence }
}
const cancelled = (types: readonly string[]) => types.filter((type) => type === 'PolicyCancelled')

describe('cancellation within the cooling-off period', () => {
  test('ends the policy once, however often it is sent, and says who has sent it', async () => {
    const { id } = await bought('one@example.org')
    const address = `policies/${id}/cancellation`

    const first = await api<object>('POST', address, { reason: ' Found another. ', surplus: 1 })
    const again = await api<object>('POST', address, {})

    expect(first).toMatchObject({
      status: 200,
      body: { data: { id, status: 'cancelled', cancellation_reason: 'cooling_off', refund_pence: 0 } },
    })
    expect(first.headers.get('x-ignored-fields')).toContain('surplus')
    expect([again.status, endOf(again.body.data)]).toEqual([200, endOf(first.body.data)])
    expect(cancelled(await typesOf(id))).toHaveLength(1)
    const stored = (await service.parts.eventLog.read(`policy-${id}`, {})).find(
      ({ type }) => type === 'PolicyCancelled',
    )
    expect(stored?.data).toMatchObject({ note: 'Found another.', cooling_off: true })
    expect(stored?.metadata.actor.type).toBe('api')
    const { refund_pence: _refund, ...shown } = endOf(first.body.data)
    expect((await api<object>('GET', `policies/${id}`)).body.data).toMatchObject(shown)
  })

  test('is done once when it is sent many times at once, to two processes', async () => {
    const { id } = await bought('two@example.org')
    const writer = makeWriter({ log: service.parts.eventLog, seen: async () => undefined })
    const dateAt = (_organisation: string, at: string) => at.slice(0, 10)
    const caller = serverCaller({ organisation_id })
    await using other = await serve([cancellationRoute({ writer, baseUrl: service.baseUrl, dateAt })], caller)
    const address = `/api/v1/policies/${id}/cancellation`

    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        index % 2 ? other.post(address, {}) : service.send('POST', address, { token, body: {} }),
      ),
    )

    expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200))
    expect(cancelled(await typesOf(id))).toHaveLength(1)
  })

  test('409 invalid_transition for a policy that has ended otherwise', async () => {
    const { id } = await bought('three@example.org')
    const body = { reason: 'customer_request', note: 'By telephone.' }
    expect((await service.send('POST', `${admin}/policies/${id}/cancellation`, { body })).status).toBe(200)

    const answer = await api('POST', `policies/${id}/cancellation`, {})

    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'invalid_transition' } } })
    expect(answer.body.error?.message).toContain('has ended (cancelled)')
    expect(cancelled(await typesOf(id))).toHaveLength(1)
  })

  test('422 for a reason that is no text, and changes nothing', async () => {
    const { id } = await bought('four@example.org')

    for (const reason of [7, 'x'.repeat(501)])
      expect(await api('POST', `policies/${id}/cancellation`, { reason })).toMatchObject({
        status: 422,
        body: { error: { code: 'validation_failed', fields: { reason: expect.any(String) as string } } },
      })
    expect(cancelled(await typesOf(id))).toEqual([])
  })
})

describe('who may do it', () => {
  const acts = [
    ['POST', 'cancellation'],
    ['GET', 'premiums'],
    ['GET', 'claims'],
  ] as const

  test.each(acts)(
    '%s %s: 404 for a policy that there is not, or that is another organisation’s',
    async (method, end) => {
      const { id } = await bought(`${end}@example.org`)
      const unheard = await api(
        method,
        `policies/b9000000-0000-4000-8000-000000000009/${end}`,
        method === 'POST' ? {} : undefined,
      )
      const strange = await api(method, `policies/${id}/${end}`, method === 'POST' ? {} : undefined, tokens.stranger)

      expect([unheard.status, strange.status]).toEqual([404, 404])
      expect(strange.body).toEqual(unheard.body)
      expect(cancelled(await typesOf(id))).toEqual([])
    },
  )

  test.each(acts)('%s %s: 403 for a web page and for a scope that does not do', async (method, end) => {
    const { id } = await bought(`no-${end}@example.org`)
    const body = method === 'POST' ? {} : undefined
    const page = { origin: 'https://shop.example' }

    const answers = [
      await api(method, `policies/${id}/${end}`, body, tokens.browser, page),
      await api(method, `policies/${id}/${end}`, body, method === 'POST' ? tokens.reader : tokens.crm),
    ]

    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
    expect(cancelled(await typesOf(id))).toEqual([])
  })

  test('another server of the same firm, as it may read the policy', async () => {
    const { id } = await bought('other@example.org')

    expect((await api('GET', `policies/${id}/premiums`, undefined, tokens.other)).status).toBe(200)
    expect((await api('POST', `policies/${id}/cancellation`, {}, tokens.other)).status).toBe(200)
  })
})

test('claims are listed without what tells of health, a page at a time', async () => {
  const { id } = await bought('claims@example.org')
  await forwardTo((await now()) + 2 * 86_400_000)
  const happened_on = new Date(await now()).toISOString().slice(0, 10)
  const body = { claim_type: 'life', cover_index: 0, happened_on, amount_pence: 5_000, note: 'A tumour.' }
  for (let number = 0; number < 3; number++)
    expect((await service.send('POST', `${admin}/policies/${id}/claims`, { body })).status).toBe(201)

  const first = await api<readonly { claim_id: string }[]>(
    'GET',
    `policies/${id}/claims?limit=2`,
    undefined,
    tokens.reader,
  )
  const rest = await api<readonly { claim_id: string }[]>(
    'GET',
    `policies/${id}/claims?limit=2&cursor=${first.body.next_cursor}`,
  )

  expect([first.body.data.length, rest.body.data.length, rest.body.next_cursor]).toEqual([2, 1, null])
  expect(new Set([...first.body.data, ...rest.body.data].map(({ claim_id }) => claim_id)).size).toBe(3)
  const at = expect.stringMatching(/^20/) as string
  expect(first.body.data[0]).toEqual({
    claim_id: expect.any(String) as string,
    status: 'open',
    amount_pence: 5_000,
    paid_pence: 0,
    happened_on,
    paid_on: null,
    opened_at: at,
    updated_at: at,
  })
  expect(await api('GET', `policies/${id}/claims?cursor=guessed`)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_parameter', fields: { cursor: expect.any(String) as string } } },
  })
})

test('premiums are listed without what is the team’s own; after the cooling-off period the team cancels', async () => {
  const { id, cooling_off_ends_on, first_collection_on } = await bought('later@example.org')
  await forwardTo(Date.parse(`${cooling_off_ends_on}T23:30:00Z`) + 86_400_000)
  await forwardTo(Date.parse(`${first_collection_on}T15:00:00Z`))
  const listed = async () =>
    (await api<readonly object[]>('GET', `policies/${id}/premiums`, undefined, tokens.reader)).body
  await vi.waitUntil(
    async () => {
      if ((await listed()).data.length > 0) return true
      // What a machine under load did not do in time is tried again some minutes later, of business time.
      await forwardTo((await now()) + 61_000)
      return false
    },
    { timeout: 200_000, interval: 500 },
  )
  const { data, next_cursor } = await listed()

  expect(next_cursor).toBeNull()
  expect(data.at(-1)).toMatchObject({ number: 1, method: 'direct_debit', refunded_pence: 0, refunds: [] })
  for (const hidden of ['note', 'payment_intent_id', 'also_paid_by']) expect(JSON.stringify(data)).not.toContain(hidden)
  const late = await api('POST', `policies/${id}/cancellation`, {})
  expect(late).toMatchObject({ status: 409, body: { error: { code: 'invalid_transition' } } })
  expect(late.body.error?.message).toContain(cooling_off_ends_on)
  expect(cancelled(await typesOf(id))).toEqual([])
})

/** Business time, which only goes forward. */
const forwardTo = async (at: number) => {
  const forward_seconds = Math.ceil((at - (await now())) / 1000)
  if (forward_seconds > 0) await service.send('POST', '/admin/v1/clock', { body: { forward_seconds } })
}

test('503 with Retry-After while the read models lag, and never 404 for a policy that was just made', async () => {
  const none = { query: async () => ({ rows: [] }) } as never // A database in which nothing is shown yet.
  const deps = { pool: none, db: none }
  const shown = {
    eventLog: { head: async () => '00000000000000000009' as Position },
    progress: { wait: async () => false },
    withinMs: 0,
  }
  await using lagging = await serve([
    ...onceShown(shown, 'policy', [policyPremiumsRoute(deps), policyClaimsRoute(deps)]),
  ])

  for (const end of ['premiums', 'claims']) {
    const answer = await lagging.get(`/api/v1/policies/b0000000-0000-4000-8000-000000000001/${end}`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  }
})
