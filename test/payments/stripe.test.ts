import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeStripe, type Outcome } from '#infra/stripe/provider.ts'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'
import { outsideHttp } from '../outside-http.ts'

let standIn: StripeStandIn
beforeAll(async () => {
  standIn = await startStripe()
})
afterAll(async () => standIn.close())

const account = (changes: object = {}) => ({
  base_url: standIn.url,
  secret_key: 'sk_test_one',
  stripe_account: null,
  ...changes,
})
const provider = (changes: object = {}) => makeStripe(outsideHttp(() => false))(account(changes))
const metadata = { quote_id: 'q1' }
const payer = {
  customer_id: 'c1',
  email: 'anna@example.org',
  name: 'Anna Ash',
  address: { line1: '1 High Street', line2: null, city: 'Leeds', postal_code: 'LS1 4AP', country: 'GB' },
}
const act = async (path: string, fields: Record<string, string> = {}) =>
  fetch(`${standIn.url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) })

const done = <Value>(outcome: Outcome<Value>): Value => {
  if (outcome.outcome !== 'done') throw new Error(JSON.stringify(outcome))
  return outcome.value
}
const customer = async () => done(await provider().createCustomer(payer))
const open = async (name: string, capture: 'automatic' | 'manual' = 'automatic') => {
  const provider_customer_id = await customer()
  const given = { provider_customer_id, amount_pence: 1250, currency_code: 'GBP', capture, metadata }
  return done(await provider().openPayment(name, given))
}

describe('a card payment through the official library', () => {
  test('is opened, paid and read with its card', async () => {
    const opened = await open('pay 1')
    expect(opened).toMatchObject({ status: 'open', amount_pence: 1250, currency_code: 'GBP', metadata })
    expect(opened.client_secret).toContain(opened.id)

    await act(`payment_intents/${opened.id}/confirm`, { payment_method: '4242 4242 4242 4242' })

    expect(done(await provider().readPayment(opened.id))).toMatchObject({
      status: 'succeeded',
      card: { brand: 'visa', last4: '4242' },
      paid_at: expect.stringMatching(/Z$/) as unknown,
    })
  })

  test('that is declined stays open and says why', async () => {
    const { id } = await open('pay 2')
    const answer = await act(`payment_intents/${id}/confirm`, { payment_method: '4000000000000002' })
    expect(answer.status).toBe(402)
    expect(done(await provider().readPayment(id))).toMatchObject({ status: 'open', failure_code: 'generic_decline' })
  })

  test('that was authorised is captured, or let go', async () => {
    const [one, other] = [await open('pay 3', 'manual'), await open('pay 4', 'manual')]
    for (const { id } of [one, other]) await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    expect(done(await provider().readPayment(one.id)).status).toBe('authorised')

    expect(done(await provider().capture(one.id, 'capture 3')).status).toBe('succeeded')
    expect(done(await provider().cancel(other.id, 'cancel 4')).status).toBe('cancelled')
    expect(await provider().cancel(one.id, 'cancel 3')).toMatchObject({
      outcome: 'refused',
      code: 'payment_intent_unexpected_state',
    })
  })

  test('is refunded once, however often it is asked for with one key', async () => {
    const { id } = await open('pay 5')
    await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    const refunds = await Promise.all([1, 2, 3].map(async () => provider().refund(id, 1250, 'refund 5')))
    expect(new Set(refunds.map((refund) => done(refund).refund_id)).size).toBe(1)
    expect(done(await provider().readPayment(id)).refunded_pence).toBe(1250)
    expect(await provider().refund(id, 1250, 'refund 5 again')).toMatchObject({ code: 'charge_already_refunded' })
  })

  test('is not given back by a refund that fails after it was made, and can be given back again', async () => {
    const { id } = await open('pay 7')
    await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    const { refund_id } = done(await provider().refund(id, 1250, 'refund 7', { refund_id: 'ours' }))
    expect(done(await provider().refundedPence(id))).toBe(1250)
    await act(`refunds/${refund_id}/fail`, {})
    expect(done(await provider().refundedPence(id))).toBe(0)
    expect((await provider().refund(id, 1250, 'refund 7 again')).outcome).toBe('done')
    expect(done(await provider().refundedPence(id))).toBe(1250)
  })

  test.each([
    ['needs_response', true],
    ['lost', true],
    ['won', false],
    ['warning_needs_response', false],
  ])('whose dispute is %s was taken back: %s', async (status, isTakenBack) => {
    const { id } = await open(`pay disputed ${status}`)
    await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    await act(`payment_intents/${id}/dispute`, { status })
    const disputed = standIn.objects().find((each) => each['payment_intent'] === id && each.object === 'dispute')
    expect(done(await provider().isTakenBack(disputed?.id ?? ''))).toBe(isTakenBack)
  })

  test('is opened once under one name, and again when what is asked for differs', async () => {
    const [one, same] = [await open('pay 6'), await open('pay 6')]
    expect(same.id).toBe(one.id)
    expect((await open('pay 6', 'manual')).id).not.toBe(one.id)
  })
})

describe('a Direct Debit through the official library', () => {
  const mandateIn = async (account_number: string) => {
    const provider_customer_id = await customer()
    const opened = done(
      await provider().openMandateSession(`bacs ${account_number}`, { provider_customer_id, metadata }),
    )
    await act(`checkout/sessions/${opened.id}/complete`, { sort_code: '108800', account_number })
    return { provider_customer_id, session: done(await provider().readMandateSession(opened.id)) }
  }

  test('is set up on the provider’s own form', async () => {
    const provider_customer_id = await customer()
    const opened = done(await provider().openMandateSession('bacs 1', { provider_customer_id, metadata }))
    expect(opened).toMatchObject({ status: 'open', metadata, set_up: null })
    expect(opened.client_secret).toContain(opened.id)

    const { session } = await mandateIn('00012345')
    expect(session).toMatchObject({
      status: 'complete',
      set_up: { last4: '2345', mandate: { network_status: 'pending' } },
    })
  })

  test('collects, which succeeds or fails later', async () => {
    const collected = async (account_number: string) => {
      const { provider_customer_id, session } = await mandateIn(account_number)
      const mandate = session.set_up?.mandate
      const collection = {
        provider_customer_id,
        provider_payment_method_id: session.set_up?.provider_payment_method_id ?? '',
        provider_mandate_id: mandate?.id ?? null,
        amount_pence: 1250,
        currency_code: 'GBP',
        metadata: { premium_id: 'p1' },
      }
      const taken = done(await provider().collect(collection, `collect ${account_number}`))
      await act(`payment_intents/${taken.id}/settle`)
      return [taken.status, done(await provider().readPayment(taken.id))] as const
    }
    expect(await collected('00012345')).toMatchObject(['processing', { status: 'succeeded' }])
    expect(await collected('22222227')).toMatchObject(['processing', { failure_code: 'insufficient_funds' }])
  })

  test('is set up from bank details that were sent to us', async () => {
    const provider_customer_id = await customer()
    const bank_details = { account_holder_name: 'Anna Ash', sort_code: '089999', account_number: '66374958' }
    const made = done(
      await provider().setUpMandate('mandate 1', { provider_customer_id, bank_details, payer, metadata }),
    )
    expect(made).toMatchObject({ last4: '4958', mandate: { network_status: 'pending', active: true } })
    const unusable = { ...bank_details, sort_code: '108800', account_number: '00044444' }
    const refused = await provider().setUpMandate('mandate 2', {
      provider_customer_id,
      bank_details: unusable,
      payer,
      metadata,
    })
    expect(refused).toMatchObject({ outcome: 'refused', code: 'bank_account_unusable' })
  })
})

describe('the payment provider', () => {
  test('shows an account nothing of another one, nor of another connected account', async () => {
    const { id } = await open('pay 7')
    for (const others of [{ secret_key: 'sk_test_two' }, { stripe_account: 'acct_1' }])
      expect(await provider(others).readPayment(id)).toMatchObject({ outcome: 'refused', code: 'resource_missing' })
  })

  test('that refuses the key says nothing of it', async () => {
    const refused = await provider({ secret_key: 'sk_test_invalid' }).createCustomer(payer)
    expect(refused).toMatchObject({ outcome: 'refused', code: 'account_unusable' })
    expect(JSON.stringify(refused)).not.toContain('sk_test_invalid')
  })

  test('that fails or is silent leaves it open whether it was done', async () => {
    standIn.misbehave(() => ({ status: 500, body: { error: { type: 'api_error', message: 'Sorry.' } } }))
    expect(await provider().readPayment('pi_1')).toMatchObject({ outcome: 'unanswered' })
    standIn.misbehave(() => 'hang')
    expect(
      await makeStripe(
        outsideHttp(() => false),
        50,
      )(account()).readPayment('pi_1'),
    ).toMatchObject({ outcome: 'unanswered' })
    standIn.misbehave(undefined)
  })

  test('that is being asked for the same by somebody else leaves it open, too', async () => {
    const inUse = (status: number) => ({
      status,
      body: { error: { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'In use.' } },
    })
    standIn.misbehave(() => inUse(409))
    expect(await provider().capture('pi_1', 'capture 1')).toMatchObject({ outcome: 'unanswered' })
    standIn.misbehave(() => inUse(400))
    expect(await provider().capture('pi_1', 'capture 1')).toMatchObject({
      outcome: 'refused',
      code: 'idempotency_error',
    })
    standIn.misbehave(undefined)
  })
})
