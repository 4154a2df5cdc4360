import { afterAll, beforeAll, expect, test } from 'vitest'
import { PaymentId } from '#domain/payments/events.ts'
import { fromStored } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import { readProviderEvent } from '#infra/stripe/provider-events.ts'
import { makeLog } from '#infra/log.ts'
import { makePayments, openedAs } from '../../command-api/payments/payments.ts'
import { settleCardPayments } from '../../command-api/payments/settle-card-payments.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { whenUnsoldPaymentChangedSettleCard } from '../../command-api/payments/when-unsold-payment-changed-settle-card.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { eventOf } from '../../stand-ins/stripe/webhooks.ts'
import { organisation_id } from '../applications/release.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'
import { england } from './calendars.ts'

const log = makeLog('silent', 'test')

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
    metadata: { quote_id, application_id, organisation_id },
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

const policyWith = async (id: string) => (await commandHandler(sales.writer, policy).load(id)) ?? expect.fail()

/** The cardholder has what was charged taken back by the bank, and the provider tells of it twice. */
const dispute = async (intent: string) => {
  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/dispute`, { method: 'POST' })
  for (let time = 0; time < 2; time++) await tellOf(intent, 'charge.dispute.created')
}

const tellOf = async (intent: string, type: string) => {
  const disputed = sales.stripe
    .objects()
    .find(({ payment_intent, object }) => object === 'dispute' && payment_intent === intent)
  await tell(type, disputed)
}
const tellOfPayment = async (intent: string) =>
  tell(
    'payment_intent.succeeded',
    sales.stripe.objects().find(({ id }) => id === intent),
  )

const tell = async (type: string, about: Parameters<typeof eventOf>[1] | undefined) => {
  if (!about) throw new Error('The provider has nothing to tell of.')
  const receive = makePaymentNews({ ...deps(), log, mandateOwner: async () => undefined })
  const news = readProviderEvent(Buffer.from(JSON.stringify(eventOf(type, about))))
  if (news === 'other') throw new Error('The news cannot be read.')
  const actor = { type: 'system', id: 'stripe' } as const
  await receive(organisation_id, news, { organisation_id, actor, correlation_id: 'test', now: quotedAt })
}

test('a first premium by card that the cardholder disputes is owed again', async () => {
  const { quote_id, intent } = await authorised()
  const { id } = (await sales.bind(quote_id)).body.data

  await dispute(intent)

  expect(await policyWith(id)).toMatchObject({
    premiums: [{ status: 'failed', failure_code: 'disputed', retry_at: null, disputed_attempts: [1] }],
    arrears: { overdue_pence: 1_250 },
  })
})

test('a first premium by card whose dispute the firm wins is paid again, also when the news of the dispute comes late', async () => {
  const { quote_id, intent } = await authorised()
  const { id } = (await sales.bind(quote_id)).body.data
  await dispute(intent)

  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/dispute/win`, { method: 'POST' })
  await tellOf(intent, 'charge.dispute.funds_reinstated')
  await tellOf(intent, 'charge.dispute.funds_withdrawn')

  expect(await policyWith(id)).toMatchObject({
    premiums: [
      { status: 'collected', attempt: 1, method: 'card', disputed_attempts: [], also_paid_by: [], refunds: [] },
    ],
    arrears: { since: null },
  })
})

test('what a cardholder has disputed of a policy that was cancelled is owed again, once, when the firm wins the dispute', async () => {
  const { quote_id, intent } = await authorised()
  const { id } = (await sales.bind(quote_id)).body.data
  const actor = { type: 'operator', id: null } as const
  const context = { organisation_id, actor, correlation_id: 'test', now: quotedAt }
  const cancel = { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: quotedAt.slice(0, 10) } as const
  await commandHandler(sales.writer, policy).handle(id, cancel, context)
  await dispute(intent)
  expect((await policyWith(id)).premiums[0]?.refunds).toMatchObject([{ status: 'waived', waived_as: 'taken_back' }])

  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/dispute/win`, { method: 'POST' })
  for (let time = 0; time < 2; time++) await tellOf(intent, 'charge.dispute.funds_reinstated')

  const { card_payment_id, premiums } = await policyWith(id)
  expect(premiums[0]).toMatchObject({
    status: 'collected',
    refunds: [{ status: 'waived' }, { status: 'owed', refund_pence: 1_250, card_payment_id }],
  })
})

const context = () => {
  const actor = { type: 'system', id: null } as const
  return { organisation_id, actor, correlation_id: 'test', now: quotedAt }
}
const paymentIdNow = () => PaymentId.parse(`f0000000-0000-4000-8000-${String(payments).padStart(12, '0')}`)
const deps = () => ({ writer: sales.writer, merchants: sales.merchants, setUp: sales.setUp, calendar: england })
/** As the process does that follows the log, for the last event of this type. */
const reactTo = async (application_id: string, type: string) => {
  const reaction = whenUnsoldPaymentChangedSettleCard(deps())
  const recorded = (await sales.eventsOf(`application-${application_id}`)).findLast((each) => each.type === type)
  if (!recorded) throw new Error(`There is no ${type}.`)
  await reaction.react(fromStored(reaction.events, recorded), recorded, context())
}

test('a part that is disputed before the sale is missing of the premium after it', async () => {
  const { quote_id, application_id, intent } = await authorised()
  await sales.provider.capture(intent, `capture:${intent}`)
  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/dispute`, {
    method: 'POST',
    body: new URLSearchParams({ amount: '400', status: 'needs_response' }),
  })
  await tellOf(intent, 'charge.dispute.created')
  const { id } = (await sales.bind(quote_id)).body.data
  expect((await policyWith(id)).premiums[0]).toMatchObject({ status: 'collected' })

  await reactTo(application_id, 'CardPaymentUsed')

  expect((await sales.typesOf(`payment-${paymentIdNow()}`)).slice(-2)).toEqual([
    'PaymentDisputeOpened',
    'PaymentAssigned',
  ])
  expect((await policyWith(id)).premiums[0]).toMatchObject({ status: 'failed', failure_code: 'disputed' })
})

test('a card that was charged after it was last heard of is looked at when its premium is', async () => {
  const { quote_id, intent } = await authorised()
  const { id } = (await sales.bind(quote_id)).body.data
  const [premium] = (await policyWith(id)).premiums
  if (!premium) throw new Error('The policy has no premium.')
  const state = await policyWith(id)
  const payments = makePayments(deps())
  const authorisedStill = {
    payment_intent_id: intent,
    status: 'authorised',
    captured_pence: 0,
    captured_at: null,
  } as const
  const statement = { ...authorisedStill, failure_code: null, refunds: [], disputes: [] }
  const opened = openedAs(state, premium, 1)
  await payments.handle(opened.payment_id, { type: 'RecordStatement', statement, opened, changes: 0 }, context())

  await payments.settle(id, premium.premium_id, context())

  expect(await payments.load(opened.payment_id)).toMatchObject({ status: 'captured', captured_pence: 1_250 })
})

test('a return that a former version has recorded with the application alone is recorded with its payment', async () => {
  const { application_id, intent } = await authorised()
  const payment_id = paymentIdNow()
  await sales.provider.capture(intent, `capture:${intent}`)
  await sales.append(application_id, [{ type: 'CardPaymentCaptured', payment_id, policy_id: null }])
  await tellOfPayment(intent)
  await sales.provider.refund(intent, 1_250, `refund:${intent}`)
  const returned = { payment_id, policy_id: null, how: 'refunded', amount_pence: 1_250 } as const
  await sales.append(application_id, [{ type: 'CardPaymentReturned', ...returned }])

  await reactTo(application_id, 'CardPaymentReturned')

  expect((await sales.typesOf(`payment-${payment_id}`)).at(-1)).toBe('PaymentRefundMade')
})

test('a card payment that is disputed before the sale pays for nothing', async () => {
  const { quote_id, application_id, intent } = await authorised()
  await sales.provider.capture(intent, `capture:${intent}`)

  await dispute(intent)

  expect((await cardEvents(application_id)).at(-1)).toBe('CardPaymentReturned')
  expect((await sales.bind(quote_id)).body.error.code).toBe('first_payment_missing')
})

test('a card payment that is disputed before the sale, and whose dispute the firm wins, is given back once', async () => {
  const { quote_id, application_id, intent } = await authorised()
  await sales.provider.capture(intent, `capture:${intent}`)
  await dispute(intent)

  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${intent}/dispute/win`, { method: 'POST' })
  for (let time = 0; time < 2; time++) await tellOf(intent, 'charge.dispute.funds_reinstated')

  expect((await cardEvents(application_id)).slice(-2)).toEqual([
    'CardPaymentReturnFailed',
    'CardPaymentSettlementRequested',
  ])
  expect((await sales.bind(quote_id)).body.error.code).toBe('first_payment_missing')
  const payment_id = PaymentId.parse(`f0000000-0000-4000-8000-${String(payments).padStart(12, '0')}`)
  const { writer, merchants } = sales
  const timer = settleCardPayments({ writer, merchants, calendar: england }).find(
    ({ kind }) => kind === 'card_payment_return',
  )
  const due = { organisation_id, kind: 'card_payment_return', id: payment_id, due_at: quotedAt } as const
  const stream = `application-${application_id}`
  const actor = { type: 'system', id: null } as const
  const context = { organisation_id, actor, correlation_id: 'test', now: quotedAt }
  for (let time = 0; time < 2; time++) await timer?.fire({ ...due, stream }, context)

  const refunds = sales.stripe.objects().filter((each) => each.object === 'refund' && each['payment_intent'] === intent)
  expect(refunds.map(({ amount }) => amount)).toEqual([1_250])
  expect((await cardEvents(application_id)).at(-1)).toBe('CardPaymentReturned')
})
