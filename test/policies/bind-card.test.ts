import { afterAll, beforeAll, expect, test } from 'vitest'
import { PaymentId } from '#domain/payments/events.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

let payments = 0

/** Ready to be bound with a card that is authorised, and charged when the policy is set up. */
const authorised = async () => {
  const { quote_id, application_id } = await sales.ready({ direct_debit_first: false })
  const opened = await sales.provider.openPayment(`first:${quote_id}`, {
    provider_customer_id: await customer(),
    amount_pence: 1_250,
    currency_code: 'GBP',
    capture: 'manual',
    metadata: {},
  })
  if (opened.outcome !== 'done') throw new Error('The payment was not opened.')
  const intent = opened.value.id
  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/confirm`, {
    method: 'POST',
    body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
  })
  const payment_id = PaymentId.parse(`f0000000-0000-4000-8000-${String(++payments).padStart(12, '0')}`)
  await sales.append(application_id, [
    {
      type: 'CardPaymentOpened',
      payment_id,
      quote_id,
      payment_intent_id: intent,
      provider_customer_id: 'cus_1',
      amount_pence: 1_250,
      currency_code: 'GBP',
      idempotency_key: null,
    },
    {
      type: 'CardPaymentTaken',
      payment_id,
      status: 'authorised',
      card_brand: 'visa',
      card_last4: '4242',
      paid_at: quotedAt,
      idempotency_key: null,
    },
  ])
  return { quote_id, application_id, intent }
}
const customer = async () => {
  const address = { line1: null, line2: null, city: null, postal_code: null, country: null }
  const made = await sales.provider.createCustomer({ customer_id: 'c1', email: null, name: 'Anna Ash', address })
  return made.outcome === 'done' ? made.value : ''
}
const atProvider = (intent: string) => sales.stripe.objects().find(({ id }) => id === intent)?.['status']
const cardEvents = async (application_id: string) =>
  (await sales.typesOf(`application-${application_id}`)).filter((type) => type.startsWith('CardPayment'))

test('an authorised card is charged before the sale is decided', async () => {
  const { quote_id, application_id, intent } = await authorised()

  const { status, body } = await sales.bind(quote_id)

  expect(status).toBe(201)
  expect(body.data.first_premium).toMatchObject({ method: 'card', status: 'succeeded' })
  expect(atProvider(intent)).toBe('succeeded')
  expect((await cardEvents(application_id)).slice(-2)).toEqual(['CardPaymentCaptured', 'CardPaymentUsed'])
})

test('422 bind_failed: the card cannot be charged; its authorisation is to be released, and nothing is sold', async () => {
  const { quote_id, application_id, intent } = await authorised()
  await sales.provider.cancel(intent, `cancel:${intent}`)

  const { status, body } = await sales.bind(quote_id)

  expect([status, body.error.code]).toEqual([422, 'bind_failed'])
  expect((await cardEvents(application_id)).at(-1)).toBe('CardPaymentReturnOwed')
  expect(await sales.typesOf(`policy-${sales.policyIdOf(quote_id)}`)).toEqual([])
  expect((await sales.bind(quote_id)).body.error.code).toBe('first_payment_missing')
})

test('503 unavailable: the provider does not answer; the same call completes later', async () => {
  const { quote_id } = await authorised()
  sales.stripe.misbehave(({ url }) => (url.pathname.endsWith('/capture') ? { status: 500, body: {} } : undefined))
  const failed = await sales.bind(quote_id)
  sales.stripe.misbehave(undefined)

  expect([failed.status, failed.body.error.code]).toEqual([503, 'unavailable'])
  expect((await sales.bind(quote_id)).status).toBe(201)
})

test('a process that is killed between charging the card and the sale leaves a charge that the same call uses', async () => {
  const { quote_id, application_id, intent } = await authorised()
  {
    // The first write is the charge.
    await using killed = await sales.startProcess({ atWrite: 1, when: 'after' })
    expect((await killed.bind(quote_id)).status).toBe(500)
  }
  expect(atProvider(intent)).toBe('succeeded')

  expect((await sales.bind(quote_id)).status).toBe(201)
  expect((await cardEvents(application_id)).at(-1)).toBe('CardPaymentUsed')
})
