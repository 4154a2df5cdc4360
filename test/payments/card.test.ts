import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unusedAt } from '#domain/payments/record.ts'
import { OrganisationId, QuoteId } from '#domain/values.ts'
import type { ProviderPayment } from '#infra/stripe/provider.ts'
import { takenAtProvider } from '../../command-api/applications/card-routes.ts'
import { termRelease } from '../quotes/builders.ts'
import { openCheckout, quotedAt, runsOutAt, type Checkout } from './checkout.ts'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout()
})
afterAll(async () => checkout[Symbol.asyncDispose]())

type Opened = { readonly payment_intent: { readonly id: string }; readonly amount_pence: number }

const dayMs = 24 * 60 * 60 * 1000
const organisation_id = OrganisationId.parse(crypto.randomUUID())
const atProvider: ProviderPayment = {
  id: 'pi_1',
  client_secret: null,
  status: 'succeeded',
  amount_pence: 1250,
  refunded_pence: 0,
  currency_code: 'GBP',
  metadata: {},
  card: { brand: 'visa', last4: '4242' },
  paid_at: null,
  failure_code: null,
  provider_customer_id: null,
}

const open = (quote_id: string, headers?: Record<string, string>) =>
  checkout.post(quote_id, 'payment_intent', undefined, headers)
const opened = async (quote_id: string) => ((await open(quote_id)).body.data as unknown as Opened).payment_intent.id
const pay = (intent: string, payment_method = 'pm_card_visa') =>
  checkout.act(`payment_intents/${intent}/confirm`, { payment_method })
const take = (quote_id: string, payment_intent_id: string, headers?: Record<string, string>) =>
  checkout.post(quote_id, 'card_payment', { payment_intent_id }, headers)
const typesOf = async (id: Parameters<Checkout['eventsOf']>[0]) => (await checkout.eventsOf(id)).map(({ type }) => type)
const paid = async () => {
  const quoted = await checkout.quoted()
  const intent = await opened(quoted.quote_id)
  await pay(intent)
  return { ...quoted, intent }
}

describe('payment_intent', () => {
  test('opens the payment of the quote’s premium; asked again, it answers the same one', async () => {
    const { quote_id } = await checkout.quoted()

    const first = await open(quote_id)
    const again = await open(quote_id)

    expect(first.status).toBe(201)
    expect(first.body.data).toEqual({
      payment_intent: { id: expect.stringMatching(/^pi_/) as unknown, client_secret: expect.any(String) as unknown },
      amount_pence: 1250,
      currency_code: 'GBP',
      publishable_key: 'pk_test_northlight',
      stripe_account: null,
    })
    expect([again.status, again.body]).toEqual([200, first.body])
  })

  test('opens one for two who ask at once', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const [one, other] = await Promise.all([opened(quote_id), opened(quote_id)])
    expect(one).toBe(other)
    expect((await typesOf(application_id)).filter((type) => type === 'CardPaymentOpened')).toHaveLength(1)
  })

  test('answers the same Idempotency-Key for the same quote as the first time', async () => {
    const { quote_id } = await checkout.quoted()
    const first = await open(quote_id, { 'idempotency-key': 'pay-1' })
    const again = await open(quote_id, { 'idempotency-key': 'pay-1' })
    expect([again.status, again.headers.get('idempotent-replay'), again.body]).toEqual([201, 'true', first.body])
    expect((await open(quote_id, { 'idempotency-key': 'pay-2' })).status).toBe(200)
  })

  test('is refused: no customer, Direct Debit first, not sellable, steps owed, no account, the provider says no', async () => {
    const codeOf = async (quote_id: string) => {
      const { status, body } = await open(quote_id)
      return [status, body.error.code, ...Object.keys(body.error.fields ?? {})]
    }
    const nobody = await checkout.quoted({ customer: null })
    const needed = ['customer.first_name', 'customer.last_name', 'customer.email']
    expect(await codeOf(nobody.quote_id)).toEqual([422, 'customer_missing', ...needed])
    const debit = await checkout.quoted({ direct_debit_first: true })
    expect(await codeOf(debit.quote_id)).toEqual([422, 'card_not_needed'])

    const { quote_id } = await checkout.quoted()
    const { checkout: settings } = termRelease
    const needs = { required: true, statement: null }
    checkout.sell({ ...termRelease, checkout: { ...settings, demands_and_needs: needs } })
    expect(await codeOf(quote_id)).toEqual([422, 'not_sellable'])
    checkout.sell({
      ...termRelease,
      checkout: { ...settings, demands_and_needs: { ...needs, statement: 'You want cover.' } },
    })
    expect(await codeOf(quote_id)).toEqual([422, 'steps_owed'])
    checkout.sell(termRelease)
    checkout.haveAccount(false)
    expect(await codeOf(quote_id)).toEqual([422, 'payment_setup_failed'])
    checkout.haveAccount(true)
    checkout.stripe.misbehave(() => ({
      status: 400,
      body: { error: { type: 'invalid_request_error', message: 'Cards are not enabled.' } },
    }))
    expect(await codeOf(quote_id)).toEqual([422, 'payment_setup_failed'])
    checkout.stripe.misbehave(undefined)
    checkout.clock(runsOutAt)
    expect(await codeOf(quote_id)).toEqual([409, 'quote_expired'])
    checkout.clock(quotedAt)
  })
})

describe('payment_intent and card_payment', () => {
  test('answer unavailable while the provider does not answer, and change nothing', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const { intent, ...other } = await paid()
    const before = [await typesOf(application_id), await typesOf(other.application_id)]
    checkout.stripe.misbehave(() => ({ status: 500, body: { error: { type: 'api_error', message: 'Sorry.' } } }))
    const answers = [await open(quote_id), await take(other.quote_id, intent)]
    checkout.stripe.misbehave(undefined)
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([503, 'unavailable'])
    expect([await typesOf(application_id), await typesOf(other.application_id)]).toEqual(before)
  })
})

describe('card_payment', () => {
  test('takes what the provider confirms, with the card; again it answers the same', async () => {
    const { quote_id, intent, application_id } = await paid()

    const first = await take(quote_id, intent)
    const again = await take(quote_id, intent)

    expect(first.status).toBe(201)
    expect(first.body.data).toEqual({
      payment_id: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
      status: 'succeeded',
      amount_pence: 1250,
      currency_code: 'GBP',
      card_brand: 'visa',
      card_last4: '4242',
      paid_at: expect.stringMatching(/Z$/) as unknown,
    })
    expect([again.status, again.body]).toEqual([200, first.body])
    expect((await typesOf(application_id)).filter((type) => type === 'CardPaymentTaken')).toHaveLength(1)
  })

  test('is not a year old, and unused for so long, when the operator has moved business time by a year', () => {
    const now = new Date(Date.now() + 365 * dayMs).toISOString()
    const paid_at = new Date(Date.now() - 1_000).toISOString()
    const taken = takenAtProvider(
      organisation_id,
      QuoteId.parse(crypto.randomUUID()),
      { ...atProvider, paid_at },
      { now },
    )

    expect(Date.parse(now) - Date.parse(taken?.paid_at ?? '')).toBeLessThan(dayMs)
    expect(unusedAt(taken?.paid_at ?? '') > now).toBe(true)
  })

  test('is taken once when it is sent twice at once, and replays under its Idempotency-Key', async () => {
    const { quote_id, intent, application_id } = await paid()
    const headers = { 'idempotency-key': 'take-1' }
    await Promise.all([take(quote_id, intent, headers), take(quote_id, intent, headers)])
    const again = await take(quote_id, intent, headers)
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([201, 'true'])
    expect((await typesOf(application_id)).filter((type) => type === 'CardPaymentTaken')).toHaveLength(1)
  })

  test('that is sent many times at once is taken by one, 201; the others are answered the same payment, 200', async () => {
    const { quote_id, intent } = await paid()
    const sent = await Promise.all(Array.from({ length: 6 }, async () => take(quote_id, intent)))
    expect(sent.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(new Set(sent.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  })

  test('is only authorised where cards are charged when the policy is set up', async () => {
    checkout.chargeCards('manual')
    const { quote_id, intent } = await paid()
    checkout.chargeCards('automatic')
    expect((await take(quote_id, intent)).body.data).toMatchObject({ status: 'authorised' })
  })

  test('answers payment_pending before it is paid, and payment_failed when it was declined', async () => {
    const { quote_id } = await checkout.quoted()
    const intent = await opened(quote_id)
    expect((await take(quote_id, intent)).body.error.code).toBe('payment_pending')
    await pay(intent, '4000000000000002')
    expect((await take(quote_id, intent)).body.error.code).toBe('payment_failed')
    await pay(intent)
    expect((await take(quote_id, intent)).status).toBe(201)
  })

  test('answers payment_failed for an unknown payment and for that of another quote', async () => {
    const { quote_id } = await checkout.quoted()
    const other = await paid()
    for (const intent of ['pi_nowhere', '../refunds', other.intent]) {
      const { status, body } = await take(quote_id, intent)
      expect([status, body.error.code]).toEqual([422, 'payment_failed'])
    }
  })

  test('answers validation_failed when payment_intent_id is missing', async () => {
    const { quote_id } = await checkout.quoted()
    const { status, body } = await checkout.post(quote_id, 'card_payment', {})
    expect([status, body.error.fields]).toEqual([422, { payment_intent_id: 'required' }])
  })

  test('that was paid for a quote that can no longer be bought is refused, recorded and owed back', async () => {
    const { quote_id, intent, application_id } = await paid()
    await checkout.append(application_id, [{ type: 'QuoteRejected', quote_id, reason: null }])

    const { status, body } = await take(quote_id, intent)

    expect([status, body.error.code]).toEqual([409, 'quote_not_bindable'])
    expect((await typesOf(application_id)).slice(-2)).toEqual(['CardPaymentTaken', 'CardPaymentReturnOwed'])
  })
})
