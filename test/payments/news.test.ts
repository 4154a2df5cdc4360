import { randomBytes } from 'node:crypto'
import express from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paymentAccountOf, paymentSecretBinding, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { derivedId } from '#infra/ids.ts'
import { makeRateLimit } from '#infra/http/rate-limit.ts'
import { makeLog } from '#infra/log.ts'
import { eventOf, signatureOf } from '../../stand-ins/stripe/webhooks.ts'
import { paymentIdOf } from '../../command-api/applications/card-routes.ts'
import { mandateIdOf } from '../../command-api/applications/mandate-routes.ts'
import { paymentWebhook } from '../../command-api/payment-news/webhook.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { payments } from '../../projections/payments/projection.ts'
import { paymentRoutes } from '../../query-api/payments/routes.ts'
import { organisation_id } from '../applications/release.ts'
import { fillReadModel } from '../read-model.ts'
import { serve, serveApp } from '../serve.ts'
import { england } from '../policies/calendars.ts'
import { openCheckout, type Checkout } from './checkout.ts'

const secret = 'whsec_of_this_organisation'
const keys = deriveKeys(randomBytes(32).toString('base64'))
const id = 'b1000000-0000-5000-8000-000000000001'
const account: SealedPaymentAccount = {
  id: id as SealedPaymentAccount['id'],
  organisation_id,
  mode: 'test',
  base_url: 'http://127.0.0.1',
  publishable_key: null,
  stripe_account: null,
  capture: 'automatic',
  sealed_secret_key: '',
  sealed_webhook_secret: seal(keys, secret, paymentSecretBinding(organisation_id, id, 'webhook_secret')),
  updated_at: '2026-01-01T00:00:00.000Z',
}
const accounts = new Map([[`${organisation_id} test`, account]])
/** The same firm’s account of the other mode, with a secret that was sealed under a master key which is lost. */
const lostAccount = (): SealedPaymentAccount => {
  const place = paymentSecretBinding(organisation_id, id, 'webhook_secret')
  const sealed_webhook_secret = seal(deriveKeys(randomBytes(32).toString('base64')), 'whsec_lost', place)
  return { ...account, sealed_webhook_secret }
}

const logged: { readonly provider_event_id?: string }[] = []
let checkout: Checkout
let hook: Awaited<ReturnType<typeof serveApp>>
beforeAll(async () => {
  checkout = await openCheckout()
  await fillReadModel(checkout.pool, [payments], [])
  const log = makeLog('silent', 'test')
  const mandateOwner = async (_organisation: string, reference: string) => {
    const { rows } = await checkout.pool.query<{ id: string; application_id: never }>(
      `select id, application_id from payments where reference = $1`,
      [reference],
    )
    return rows[0]
  }
  const setUp = async () => undefined
  const webhook = paymentWebhook({
    keys,
    paymentAccounts: accounts,
    limits: {
      fromSender: makeRateLimit({ requests: 0, windowSeconds: 300, log }),
      signed: makeRateLimit({ requests: 80, windowSeconds: 300, log }),
      refused: makeRateLimit({ requests: 40, windowSeconds: 300, log }),
    },
    receive: makePaymentNews({
      calendar: england,
      writer: checkout.writer,
      merchants: () => checkout.merchant(),
      mandateOwner,
      setUp,
      log: { warn: (facts: object) => logged.push(facts) },
    }),
    clock: { now: () => new Date() },
    log,
  })
  hook = await serveApp(express().use(webhook))
  checkout.stripe.announceTo([endpoint()])
})
afterAll(async () => {
  await hook[Symbol.asyncDispose]()
  await checkout[Symbol.asyncDispose]()
})

const endpoint = () => ({ url: `${hook.origin}/api/v1/webhooks/stripe/${organisation_id}`, secret })
const post = (body: string, signature: string, organisation: string = organisation_id) =>
  fetch(`${hook.origin}/api/v1/webhooks/stripe/${organisation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body,
  })
const happened = async (application_id: Parameters<Checkout['eventsOf']>[0]) =>
  (await checkout.eventsOf(application_id)).map(({ type }) => type)
const project = async (application_id: Parameters<Checkout['eventsOf']>[0]) => {
  await checkout.pool.query('delete from payments')
  await fillReadModel(checkout.pool, [payments], await checkout.eventsOf(application_id))
}

type Opened = { readonly payment_intent: { readonly id: string } }
const opened = async () => {
  const quoted = await checkout.quoted()
  const { body } = await checkout.post(quoted.quote_id, 'payment_intent')
  return { ...quoted, intent: (body.data as unknown as Opened).payment_intent.id }
}
const pay = async (intent: string, payment_method = 'pm_card_visa') => {
  await checkout.act(`payment_intents/${intent}/confirm`, { payment_method })
  await checkout.stripe.announced()
}

const delivery = (intent: string) => {
  const object = checkout.stripe.objects().find((each) => each.id === intent)
  if (!object) throw new Error('There is no such payment.')
  return JSON.stringify(eventOf('payment_intent.succeeded', object))
}

describe('late news of the provider', () => {
  test('takes a payment although the page was closed', async () => {
    const { application_id, quote_id, intent } = await opened()
    await pay(intent)

    expect((await happened(application_id)).slice(-2)).toEqual(['CardPaymentOpened', 'CardPaymentTaken'])
    const { status, body } = await checkout.post(quote_id, 'card_payment', { payment_intent_id: intent })
    expect([status, body.data['card_last4']]).toEqual([200, '4242'])
  })

  test('tells of a declined card', async () => {
    const { application_id, intent } = await opened()
    await pay(intent, '4000000000000002')
    const declined = (await checkout.eventsOf(application_id)).at(-1)
    expect(declined).toMatchObject({ type: 'CardPaymentDeclined', data: { failure_code: 'generic_decline' } })
  })

  test('tells of a refund that somebody made by hand', async () => {
    const { application_id, intent } = await opened()
    await pay(intent)
    await checkout.merchant().provider.refund(intent, 1250, `by hand ${intent}`)
    await checkout.stripe.announced()
    expect((await checkout.eventsOf(application_id)).at(-1)).toMatchObject({
      type: 'CardPaymentReturned',
      data: { how: 'refunded', amount_pence: 1250 },
    })
  })

  test('of a dispute about a part of an unused card payment leaves the rest to be given back', async () => {
    const { application_id, intent } = await opened()
    await pay(intent)
    await checkout.act(`payment_intents/${intent}/dispute`, { amount: '1000', status: 'needs_response' })
    await checkout.stripe.announced()
    expect((await happened(application_id)).at(-1)).toBe('CardPaymentTaken')
  })

  test('that a payment was refunded may come before the news that it was paid: it buys nothing', async () => {
    const { application_id, quote_id, intent } = await opened()
    checkout.stripe.announceTo([])
    await pay(intent)
    const succeeded = delivery(intent)
    checkout.stripe.announceTo([endpoint()])
    await checkout.merchant().provider.refund(intent, 1250, `by hand ${intent}`)
    await checkout.stripe.announced()

    const { status } = await post(succeeded, signatureOf(secret, succeeded))

    expect(status).toBe(200)
    expect((await happened(application_id)).slice(-3)).toEqual([
      'CardPaymentOpened',
      'CardPaymentCaptured',
      'CardPaymentReturned',
    ])
    const taken = await checkout.post(quote_id, 'card_payment', { payment_intent_id: intent })
    expect([taken.status, taken.body.error.code]).toEqual([422, 'payment_failed'])
    const again = await checkout.post(quote_id, 'payment_intent')
    expect(again.status).toBe(201)
    expect((again.body.data as unknown as Opened).payment_intent.id).not.toBe(intent)
  })

  test('of an authorisation that was let go counts as refunded at the provider: nothing was charged or given back', async () => {
    checkout.chargeCards('manual')
    const { application_id, intent } = await opened()
    checkout.chargeCards('automatic')
    await pay(intent)
    await checkout.merchant().provider.cancel(intent, `by hand ${intent}`)
    const objects = checkout.stripe.objects()
    const charge =
      objects.find(({ object, payment_intent }) => object === 'charge' && payment_intent === intent) ?? expect.fail()
    const news = JSON.stringify(eventOf('charge.refunded', { ...charge, amount_refunded: 1250, refunded: true }))

    expect((await post(news, signatureOf(secret, news))).status).toBe(200)

    expect((await checkout.eventsOf(application_id)).at(-1)).toMatchObject({
      type: 'CardPaymentReturned',
      data: { how: 'released', amount_pence: 0 },
    })
  })

  test('of a card that nothing was sold for yet is in the books of its payment, each refund and dispute by its own name', async () => {
    const { intent } = await opened()
    await pay(intent)
    await checkout.merchant().provider.refund(intent, 400, `a part by hand ${intent}`)
    await checkout.act(`payment_intents/${intent}/dispute`, { amount: '850', status: 'needs_response' })
    await checkout.stripe.announced()
    const dispute = checkout.stripe
      .objects()
      .find(({ object, payment_intent }) => object === 'dispute' && payment_intent === intent)
    await checkout.act(`disputes/${dispute?.id}/lose`, {})
    await checkout.stripe.announced()

    const events = await checkout.log.read(`payment-${paymentIdOf(organisation_id, intent)}`)
    expect(events.map(({ type, data }) => [type, data['premium_id']])).toEqual([
      ['PaymentOpened', null],
      ['PaymentTakenOn', null],
      ['PaymentCaptured', null],
      ['PaymentRefundMade', null],
      ['PaymentDisputeOpened', null],
      ['PaymentDisputeLost', null],
    ])
  })

  test('tells of a refund that failed days later, and of the first one late', async () => {
    const { application_id, intent } = await opened()
    await pay(intent)
    await checkout.merchant().provider.refund(intent, 1250, `by hand ${intent}`)
    await checkout.stripe.announced()
    const objects = checkout.stripe.objects()
    const refund = objects.find(({ object, payment_intent }) => object === 'refund' && payment_intent === intent)
    const charge = objects.find(({ object, payment_intent }) => object === 'charge' && payment_intent === intent)
    await checkout.act(`refunds/${refund?.id}/fail`, { failure_reason: 'lost_or_stolen_card' })
    await checkout.stripe.announced()
    const late = JSON.stringify(eventOf('charge.refunded', charge ?? expect.fail()))
    await post(late, signatureOf(secret, late))

    expect((await checkout.eventsOf(application_id)).slice(-2)).toMatchObject([
      { type: 'CardPaymentReturned' },
      {
        type: 'CardPaymentReturnFailed',
        data: { failure_code: 'lost_or_stolen_card', provider_refund_id: refund?.id },
      },
    ])
  })

  test('that a payment was refunded may never come: what was given back buys nothing', async () => {
    const { quote_id, intent } = await opened()
    checkout.stripe.announceTo([])
    await pay(intent)
    await checkout.merchant().provider.refund(intent, 1250, `by hand ${intent}`)
    checkout.stripe.announceTo([endpoint()])

    const taken = await checkout.post(quote_id, 'card_payment', { payment_intent_id: intent })
    const again = await checkout.post(quote_id, 'payment_intent')

    expect([taken.status, taken.body.error.code]).toEqual([422, 'payment_failed'])
    expect([again.status, (again.body.data as unknown as Opened).payment_intent.id === intent]).toEqual([201, false])
  })

  const mandated = async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const { body } = await checkout.post(quote_id, 'bacs_setup_intent')
    const { session } = body.data as unknown as { session: { id: string } }
    await checkout.act(`checkout/sessions/${session.id}/complete`, { sort_code: '108800', account_number: '00012345' })
    const confirmed = await checkout.post(quote_id, 'bacs_mandate', { session_id: session.id })
    const mandate = String(confirmed.body.data['mandate_id'])
    await project(application_id)
    const banksSay = async (network_status: string) => {
      await checkout.act(`mandates/${mandate}`, { network_status })
      await checkout.stripe.announced()
    }
    return { application_id, mandate, banksSay }
  }
  const newsOfMandate = (mandate: string, changes: object) => {
    const object = checkout.stripe.objects().find(({ id: known }) => known === mandate) ?? expect.fail()
    return JSON.stringify(eventOf('mandate.updated', { ...object, ...changes }))
  }

  test.each([
    ['accepted', 'MandateActivated'],
    ['refused', 'MandateFailed'],
    ['revoked', 'MandateCancelled'],
  ])('that a mandate was %s leads to %s', async (network_status, type) => {
    const { application_id, banksSay } = await mandated()
    await banksSay(network_status)
    expect((await happened(application_id)).at(-1)).toBe(type)
  })

  test('of a mandate from before the banks accepted it does not end it: the provider is asked how it stands now', async () => {
    const { application_id, mandate, banksSay } = await mandated()
    const stale = newsOfMandate(mandate, { status: 'inactive' })
    await banksSay('accepted')

    const { status } = await post(stale, signatureOf(secret, stale))

    expect([status, (await happened(application_id)).at(-1)]).toEqual([200, 'MandateActivated'])
  })

  test('that the customer’s bank has reinstated a mandate brings it back', async () => {
    const { application_id, banksSay } = await mandated()
    for (const network_status of ['accepted', 'revoked', 'accepted']) await banksSay(network_status)
    expect((await happened(application_id)).slice(-3)).toEqual([
      'MandateActivated',
      'MandateCancelled',
      'MandateActivated',
    ])
  })

  test('of a mandate goes by itself where the key may not ask for mandates, and brings none back that has ended', async () => {
    const { application_id, mandate } = await mandated()
    checkout.stripe.misbehave(({ url }) =>
      url.pathname.startsWith('/v1/mandates/')
        ? { status: 403, body: { error: { type: 'invalid_request_error', message: 'Not permitted.' } } }
        : undefined,
    )
    for (const network_status of ['revoked', 'accepted']) {
      const told = newsOfMandate(mandate, { payment_method_details: { bacs_debit: { network_status } } })
      expect((await post(told, signatureOf(secret, told))).status).toBe(200)
    }
    checkout.stripe.misbehave(undefined)
    expect((await happened(application_id)).at(-1)).toBe('MandateCancelled')
  })

  test('about what the provider does not know is taken, logged and left alone', async () => {
    const { application_id, intent } = await opened()
    const { application_id: mandated_id, mandate } = await mandated()
    await checkout.act(`payment_intents/${intent}/confirm`, { payment_method: 'pm_card_visa' })
    await checkout.stripe.announced()
    const before = [await happened(application_id), await happened(mandated_id)]
    const missing = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object.' } }
    checkout.stripe.misbehave(() => ({ status: 404, body: missing }))
    logged.length = 0
    const payment = checkout.stripe.objects().find(({ id: known }) => known === intent) ?? expect.fail()
    const { metadata } = payment
    const about = { id: 're_1', object: 'refund', amount: 1250, payment_intent: intent, metadata }
    const news = [
      eventOf('payment_intent.succeeded', payment),
      eventOf('payment_intent.amount_capturable_updated', payment),
      eventOf('charge.refunded', { ...about, amount_refunded: 1250, refunded: true }),
      eventOf('refund.failed', { ...about, status: 'failed', failure_reason: 'unknown' }),
      eventOf('charge.dispute.created', { ...about, id: 'dp_1' }),
    ].map((event) => JSON.stringify(event))
    news.push(newsOfMandate(mandate, { status: 'inactive' }))

    const answers = await Promise.all(news.map(async (body) => post(body, signatureOf(secret, body))))

    checkout.stripe.misbehave(undefined)
    expect(answers.map(({ status }) => status)).toEqual(news.map(() => 200))
    expect([await happened(application_id), await happened(mandated_id)]).toEqual(before)
    const told = news.map((body) => (JSON.parse(body) as { readonly id: string }).id)
    expect(new Set(logged.map(({ provider_event_id }) => provider_event_id))).toEqual(new Set(told))
    expect(logged).toHaveLength(told.length)
    for (const event_id of told) {
      const receipts = await checkout.log.read(`payment_news-${derivedId('payment_news', organisation_id, event_id)}`)
      expect(receipts).toHaveLength(1)
    }
  })
})

describe('a delivery', () => {
  test('is recorded once, however often it comes', async () => {
    const { application_id, intent } = await opened()
    await pay(intent)
    const body = delivery(intent)
    const before = await happened(application_id)

    const answers = await Promise.all([1, 2, 3].map(async () => post(body, signatureOf(secret, body))))

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await happened(application_id)).toEqual(before)
    const { id: event_id } = JSON.parse(body) as { readonly id: string }
    const receipts = await checkout.log.read(`payment_news-${derivedId('payment_news', organisation_id, event_id)}`)
    expect(receipts.map(({ type }) => type)).toEqual(['PaymentNewsReceived'])
  })

  test('with a wrong, missing or old signature, or for another organisation, changes nothing', async () => {
    const { application_id, intent } = await opened()
    const body = delivery(intent)
    const before = await happened(application_id)
    const old = Math.floor(Date.now() / 1000) - 301

    const answers = await Promise.all([
      post(body, signatureOf('whsec_other', body)),
      post(body, ''),
      post(body, signatureOf(secret, body, old)),
      post(`${body} `, signatureOf(secret, body)),
      post(body, signatureOf(secret, body), '99999999-0000-4000-8000-000000000001'),
    ])

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
    expect(await happened(application_id)).toEqual(before)
  })

  test('that is no concern of ours, or cannot be read, is taken and leads to nothing', async () => {
    for (const body of ['{"type":"invoice.paid","id":"evt_1"}', 'no JSON']) {
      const { status } = await post(body, signatureOf(secret, body))
      expect(status).toBe(200)
    }
  })

  test('that cannot be acted upon is answered 503, so that it is sent again', async () => {
    const { application_id, intent } = await opened()
    const body = delivery(intent)
    checkout.stripe.misbehave(() => ({ status: 500, body: { error: { type: 'api_error', message: '' } } }))
    const { status } = await post(body, signatureOf(secret, body))
    checkout.stripe.misbehave(undefined)
    expect(status).toBe(503)
    await pay(intent)
    expect((await happened(application_id)).at(-1)).toBe('CardPaymentTaken')
  })

  test('is taken while the secret of the other account cannot be opened; what that may have signed is to be sent again', async () => {
    const { intent } = await opened()
    const body = delivery(intent)
    const live = body.replace('"livemode":false', '"livemode":true')
    accounts.set(`${organisation_id} live`, { ...account, mode: 'live' }).set(`${organisation_id} test`, lostAccount())
    const answers = await Promise.all([
      post(live, signatureOf(secret, live)),
      post(body, signatureOf('whsec_lost', body)),
      post(body, ''),
    ])
    accounts.set(`${organisation_id} test`, account).delete(`${organisation_id} live`)

    expect(answers.map(({ status }) => status)).toEqual([200, 500, 403])
  })

  test('has a limit of its own', async () => {
    const answers = await Promise.all(Array.from({ length: 41 }, async () => post('', '')))
    expect(answers.map(({ status }) => status)).toContain(429)
  })
})

test('the operator lists payments and mandates, newest first, and reads each', async () => {
  const { application_id, intent } = await opened()
  await checkout.act(`payment_intents/${intent}/confirm`, { payment_method: 'pm_card_visa' })
  await project(application_id)
  await using served = await serve(paymentRoutes({ pool: checkout.pool, db: checkout.pool }))
  const address = `/admin/v1/organisations/${organisation_id}/payments`
  const payment_id = paymentIdOf(organisation_id, intent)

  const list = await served.get(`${address}?application_id=${application_id}`)
  const one = await served.get(`${address}/${payment_id}`)
  const none = await served.get(`${address}?kind=mandate&status=succeeded`)
  const unknown = await served.get(`${address}?status=paid`)

  expect(list.body).toMatchObject({
    data: [{ kind: 'card_payment', id: payment_id, provider_reference: intent, amount_pence: 1250 }],
    next_cursor: null,
  })
  expect(none.body).toEqual({ data: [], next_cursor: null })
  expect(unknown).toMatchObject({ status: 422, body: { error: { code: 'invalid_parameter' } } })
  expect((unknown.body as { error: { fields: object } }).error.fields).toHaveProperty('status')
  expect(one.body).toEqual({ data: (list.body as { data: readonly unknown[] }).data[0] })
  expect((await served.get(`${address}/${mandateIdOf(organisation_id, 'mandate_1')}`)).status).toBe(404)
  expect(paymentAccountOf(accounts, organisation_id, 'live')).toBeUndefined()
})
