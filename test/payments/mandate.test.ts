import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCheckout, quotedAt, runsOutAt, type Checkout } from './checkout.ts'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout()
})
afterAll(async () => checkout[Symbol.asyncDispose]())

type Opened = { readonly session: { readonly id: string; readonly client_secret: string } }

const open = async (quote_id: string) => checkout.post(quote_id, 'bacs_setup_intent')
const opened = async (quote_id: string) => (await open(quote_id)).body.data as unknown as Opened
const complete = (session_id: string, account_number = '00012345') =>
  checkout.act(`checkout/sessions/${session_id}/complete`, { sort_code: '108800', account_number })
const confirm = (quote_id: string, session_id: string) => checkout.post(quote_id, 'bacs_mandate', { session_id })
const typesOf = async (id: Parameters<Checkout['eventsOf']>[0]) => (await checkout.eventsOf(id)).map(({ type }) => type)
const sessionsAtProvider = (quote_id: string) =>
  checkout.stripe
    .objects()
    .filter(
      ({ object, metadata }) =>
        object === 'checkout.session' && (metadata as { quote_id?: string }).quote_id === quote_id,
    )

describe('bacs_setup_intent', () => {
  test('opens the provider’s own form', async () => {
    const { quote_id } = await checkout.quoted()

    const { status, body } = await open(quote_id)

    expect(status).toBe(201)
    expect(body.data).toEqual({
      session: { id: expect.stringMatching(/^cs_/) as unknown, client_secret: expect.any(String) as unknown },
      publishable_key: 'pk_test_northlight',
      stripe_account: null,
    })
  })

  test('answers the same session again while its form can be filled in, and another one afterwards', async () => {
    const { quote_id } = await checkout.quoted()
    const { session } = await opened(quote_id)

    expect((await opened(quote_id)).session).toEqual(session)
    await complete(session.id)
    expect((await opened(quote_id)).session.id).not.toBe(session.id)
  })

  test('opens one session for two who ask at once', async () => {
    const { quote_id } = await checkout.quoted()
    const [one, other] = await Promise.all([opened(quote_id), opened(quote_id)])
    expect(one).toEqual(other)
    expect(sessionsAtProvider(quote_id)).toHaveLength(1)
  })

  test('opens no second session when the process ended between the provider’s answer and ours', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const { session } = await opened(quote_id)
    // What that process would have recorded is not there: another application with the same quote.
    const events = (await checkout.eventsOf(application_id)).filter(({ type }) => type !== 'MandateSessionOpened')
    expect(events).toHaveLength((await checkout.eventsOf(application_id)).length - 1)
    const metadata = { quote_id, application_id, organisation_id: events[0]?.metadata.organisation_id ?? '' }
    const customer = String(sessionsAtProvider(quote_id)[0]?.['customer'])
    const again = await checkout
      .merchant()
      .provider.openMandateSession(`quote:${quote_id}:bacs:0`, { provider_customer_id: customer, metadata })
    expect(again).toMatchObject({ outcome: 'done', value: { id: session.id } })
    expect(sessionsAtProvider(quote_id)).toHaveLength(1)
  })

  test('answers customer_missing while the application has no customer', async () => {
    const { quote_id } = await checkout.quoted({ customer: null })
    const { status, body } = await open(quote_id)
    expect([status, body.error]).toEqual([
      422,
      {
        code: 'customer_missing',
        message: expect.stringContaining('customer.email') as unknown,
        fields: { 'customer.first_name': 'required', 'customer.last_name': 'required', 'customer.email': 'required' },
      },
    ])
  })

  test('answers bacs_setup_failed when the provider refuses, with its reason, and without an account', async () => {
    const { quote_id } = await checkout.quoted()
    checkout.stripe.misbehave(() => ({
      status: 400,
      body: { error: { type: 'invalid_request_error', message: 'Bacs Direct Debit is not enabled.' } },
    }))
    const refused = await open(quote_id)
    checkout.stripe.misbehave(undefined)
    checkout.haveAccount(false)
    const without = await open(quote_id)
    checkout.haveAccount(true)

    expect([refused.status, refused.body.error]).toEqual([
      422,
      { code: 'bacs_setup_failed', message: 'Bacs Direct Debit is not enabled.' },
    ])
    expect([without.status, without.body.error.code]).toEqual([422, 'bacs_setup_failed'])
  })

  test('answers unavailable when the provider does not answer, and changes nothing', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const before = await typesOf(application_id)
    checkout.stripe.misbehave(() => ({ status: 500, body: { error: { type: 'api_error', message: 'Sorry.' } } }))
    const { status, body } = await open(quote_id)
    checkout.stripe.misbehave(undefined)
    expect([status, body.error.code]).toEqual([503, 'unavailable'])
    expect(await typesOf(application_id)).toEqual(before)
  })

  test('answers quote_not_bindable and quote_expired', async () => {
    const rejected = await checkout.quoted()
    await checkout.append(rejected.application_id, [
      { type: 'QuoteRejected', quote_id: rejected.quote_id, reason: null },
    ])
    expect((await open(rejected.quote_id)).body.error.code).toBe('quote_not_bindable')
    const { quote_id } = await checkout.quoted()
    checkout.clock(runsOutAt)
    expect((await open(quote_id)).body.error.code).toBe('quote_expired')
    checkout.clock(quotedAt)
  })
})

describe('bacs_mandate', () => {
  test('answers unavailable when the provider does not answer, and changes nothing', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    await open(quote_id)
    const before = await typesOf(application_id)
    checkout.stripe.misbehave(() => ({ status: 500, body: { error: { type: 'api_error', message: 'Sorry.' } } }))
    const { status, body } = await confirm(quote_id, 'cs_test_1')
    checkout.stripe.misbehave(undefined)
    expect([status, body.error.code]).toEqual([503, 'unavailable'])
    expect(await typesOf(application_id)).toEqual(before)
  })

  const setUp = async (account_number?: string) => {
    const { quote_id, application_id } = await checkout.quoted()
    const { session } = await opened(quote_id)
    await complete(session.id, account_number)
    return { quote_id, application_id, session_id: session.id }
  }

  test('keeps the mandate that the provider confirms; the same session again answers the same', async () => {
    const { quote_id, application_id, session_id } = await setUp()

    const first = await confirm(quote_id, session_id)
    const again = await confirm(quote_id, session_id)

    expect(first.status).toBe(201)
    expect(first.body.data).toEqual({
      mandate_id: expect.stringMatching(/^mandate_/) as unknown,
      account_number_last4: '2345',
    })
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await typesOf(application_id)).filter((type) => type === 'MandateCreated')).toHaveLength(1)
  })

  test('keeps one mandate when it is confirmed twice at once', async () => {
    const { quote_id, application_id, session_id } = await setUp()
    const answers = await Promise.all([confirm(quote_id, session_id), confirm(quote_id, session_id)])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect((await typesOf(application_id)).filter((type) => type === 'MandateCreated')).toHaveLength(1)
  })

  test('takes what the banks have said already', async () => {
    const { quote_id, application_id, session_id } = await setUp()
    const [mandate] = checkout.stripe
      .objects()
      .filter(({ object }) => object === 'mandate')
      .slice(-1)
    await checkout.act(`mandates/${mandate?.id ?? ''}`)
    await confirm(quote_id, session_id)
    expect((await typesOf(application_id)).slice(-2)).toEqual(['MandateCreated', 'MandateActivated'])
  })

  test('answers the same session even after the quote has run out', async () => {
    const { quote_id, session_id } = await setUp()
    const first = await confirm(quote_id, session_id)
    checkout.clock(runsOutAt)
    const again = await confirm(quote_id, session_id)
    checkout.clock(quotedAt)
    expect([again.status, again.body]).toEqual([201, first.body])
  })

  test('answers mandate_incomplete before the form is completed', async () => {
    const { quote_id } = await checkout.quoted()
    const { session } = await opened(quote_id)
    const { status, body } = await confirm(quote_id, session.id)
    expect([status, body.error.code]).toEqual([422, 'mandate_incomplete'])
  })

  test('answers bacs_mandate_failed for an unknown session and for that of another quote', async () => {
    const { quote_id } = await checkout.quoted()
    const other = await setUp()
    for (const session_id of ['cs_test_nowhere', '../customers', other.session_id]) {
      const { status, body } = await confirm(quote_id, session_id)
      expect([status, body.error.code]).toEqual([422, 'bacs_mandate_failed'])
    }
  })

  test('answers validation_failed when session_id is missing', async () => {
    const { quote_id } = await checkout.quoted()
    const { status, body } = await checkout.post(quote_id, 'bacs_mandate', {})
    expect([status, body.error.code, body.error.fields]).toEqual([422, 'validation_failed', { session_id: 'required' }])
  })
})
