import { parse } from 'csv-parse/sync'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'

/** What moves money, and what the books say of it, through the official library. */

const soon = { timeout: 60_000, interval: 20 }
let standIn: StripeStandIn
beforeAll(async () => {
  standIn = await startStripe()
})
afterAll(async () => standIn.close())

const stripeOf = (key: string) => {
  const { hostname: host, port } = new URL(standIn.url)
  return new Stripe(key, { host, port, protocol: 'http', telemetry: false })
}
const act = async (path: string, fields: Record<string, string> = {}) => {
  const answer = await fetch(`${standIn.url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  expect(answer.status).toBe(200)
}
const idOf = (given: string | { id: string } | null) => (typeof given === 'string' ? given : (given?.id ?? ''))
let firms = 0
/** A firm of its own, with a customer who has a mandate. */
const firm = async (account_number = '66374958') => {
  const key = `sk_test_firm_${++firms}`
  const stripe = stripeOf(key)
  const customer = (await stripe.customers.create({ name: 'Anna Ash' })).id
  const { payment_method, mandate } = await stripe.setupIntents.create({
    customer,
    confirm: true,
    payment_method_data: { type: 'bacs_debit', bacs_debit: { sort_code: '108800', account_number } },
  })
  const pay = async (card = 'pm_card_visa', amount = 2_875) => {
    const { id } = await stripe.paymentIntents.create({
      amount,
      currency: 'gbp',
      customer,
      metadata: { quote_id: 'q1' },
    })
    await act(`payment_intents/${id}/confirm`, { payment_method: card })
    return id
  }
  const collect = async (amount = 2_875) => {
    const means = { payment_method: idOf(payment_method), mandate: idOf(mandate) }
    const asked = { amount, currency: 'gbp', customer, confirm: true, metadata: { premium_id: 'p1' } }
    return (await stripe.paymentIntents.create({ ...asked, ...means })).id
  }
  const moved = async () =>
    (await stripe.balanceTransactions.list({ limit: 100 })).data
      .toReversed()
      .map(({ reporting_category, amount, fee, net }) => [reporting_category, amount, fee, net])
  const report = async (more = '') => {
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    const address = `${standIn.url}/stand-in/balance_change_from_activity.csv${more}`
    const text = await (await fetch(address, { headers: { authorization } })).text()
    return parse<Record<string, string>>(text, { columns: true })
  }
  return { stripe, customer, pay, collect, moved, report }
}

describe('the balance at the provider', () => {
  test('a card payment comes, a part of it is given back, and that comes back when it fails', async () => {
    const { stripe, pay, moved } = await firm()
    const payment_intent = await pay()
    const refund = await stripe.refunds.create({ payment_intent, amount: 400, metadata: { refund_id: 'ours' } })
    await act(`refunds/${refund.id}/fail`)

    expect(await moved()).toEqual([
      ['charge', 2_875, 63, 2_812],
      ['refund', -400, 0, -400],
      ['refund_failure', 400, 0, 400],
    ])
    const { data } = await stripe.refunds.list({ payment_intent })
    expect(data).toMatchObject([{ id: refund.id, status: 'failed', metadata: { refund_id: 'ours' } }])
    expect(refund.id).toMatch(/^re_/)
  })

  test('what was authorised comes when it is captured', async () => {
    const { stripe, customer, moved } = await firm()
    const asked = { amount: 1_000, currency: 'gbp', customer, capture_method: 'manual' } as const
    const { id } = await stripe.paymentIntents.create(asked)
    await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    expect(await moved()).toEqual([])
    await stripe.paymentIntents.capture(id)
    expect(await moved()).toEqual([['charge', 1_000, 35, 965]])
  })

  test('a Direct Debit is pending until the banks have answered, and goes again when it fails', async () => {
    const { stripe, collect, moved } = await firm()
    const [good, bad] = [await collect(), await collect()]
    const statuses = async () => (await stripe.balanceTransactions.list()).data.map(({ status }) => status)
    expect(await statuses()).toEqual(['pending', 'pending'])

    await act(`payment_intents/${good}/settle`)
    await act(`payment_intents/${bad}/settle`, { failure_code: 'insufficient_funds' })

    expect(await moved()).toEqual([
      ['charge', 2_875, 29, 2_846],
      ['charge', 2_875, 29, 2_846],
      ['charge_failure', -2_875, -29, -2_846],
    ])
    expect(await statuses()).toEqual(['available', 'available', 'available'])
  })

  test('a dispute takes a part or all, for a fee, until it is won; an inquiry takes nothing until it becomes one', async () => {
    const { stripe, pay, moved } = await firm()
    const payment_intent = await pay()
    await act(`payment_intents/${payment_intent}/dispute`, { amount: '1000', status: 'needs_response' })
    const disputed = async () => (await stripe.disputes.list({ payment_intent })).data
    const [first] = await disputed()
    expect(first).toMatchObject({ id: expect.stringMatching(/^dp_/) as unknown, amount: 1_000 })
    await expect(stripe.refunds.create({ payment_intent })).rejects.toMatchObject({ code: 'charge_disputed' })
    await stripe.disputes.update(first?.id ?? '', { evidence: { uncategorized_text: 'winning_evidence' } })
    await act(`payment_intents/${payment_intent}/dispute`, { status: 'warning_needs_response' })
    const [second] = await disputed()
    await act(`disputes/${second?.id}/escalate`)
    await stripe.disputes.close(second?.id ?? '')

    expect(await moved()).toEqual([
      ['charge', 2_875, 63, 2_812],
      ['dispute', -1_000, 2_000, -3_000],
      ['dispute_reversal', 1_000, 0, 1_000],
      ['dispute', -2_875, 2_000, -4_875],
    ])
    expect((await disputed()).map(({ status, balance_transactions }) => [status, balance_transactions.length])).toEqual(
      [
        ['lost', 1],
        ['won', 2],
      ],
    )
  })

  test('is reported in Stripe’s own columns, in pounds and in UTC, with what the payment was for', async () => {
    const { stripe, pay, collect, report } = await firm()
    const card = await pay()
    const { id: refund } = await stripe.refunds.create({
      payment_intent: card,
      amount: 5,
      metadata: { refund_id: 'r1' },
    })
    const debit = await collect()
    await act(`payment_intents/${debit}/settle`)
    await act(`payment_intents/${debit}/dispute`)

    const lines = await report()
    expect(lines).toMatchObject([
      { reporting_category: 'charge', gross: '28.75', fee: '0.63', net: '28.12', payment_intent_id: card },
      { reporting_category: 'refund', gross: '-0.05', source_id: refund, 'refund_metadata[refund_id]': 'r1' },
      { reporting_category: 'charge', payment_method_type: 'bacs_debit', 'payment_metadata[premium_id]': 'p1' },
      { reporting_category: 'dispute', gross: '-28.75', fee: '20.00', net: '-48.75', payment_intent_id: debit },
    ])
    for (const { created_utc, available_on_utc, currency, balance_transaction_id } of lines) {
      expect([created_utc, available_on_utc].join()).toMatch(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
      )
      expect([currency, balance_transaction_id]).toEqual(['gbp', expect.stringMatching(/^txn_/)])
    }
    expect(await report('?interval_end=1')).toEqual([])
  })

  test('lists come in pages, the newest first, and the library walks through them', async () => {
    const { stripe, pay } = await firm()
    const payment_intent = await pay()
    const made: string[] = []
    for (let count = 0; count < 5; count++)
      made.unshift((await stripe.refunds.create({ payment_intent, amount: 1 })).id)
    await stripe.refunds.create({ payment_intent: await pay(), amount: 1 })

    const walked: string[] = []
    for await (const { id } of stripe.refunds.list({ payment_intent, limit: 2 })) walked.push(id)
    expect(walked).toEqual(made)
    const before = await stripe.refunds.list({ payment_intent, limit: 2, ending_before: made[3] ?? '' })
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([made.slice(1, 3), true])
    await expect(stripe.refunds.list({ limit: 101 })).rejects.toMatchObject({ param: 'limit' })
    await expect(stripe.refunds.list({ starting_after: 're_none' })).rejects.toMatchObject({ code: 'resource_missing' })
  })
})

test('a key with other parameters, or at another address, is refused as Stripe refuses it', async () => {
  const { stripe, pay } = await firm()
  const payment_intent = await pay()
  const key = { idempotencyKey: 'refund 1' }
  const { id } = await stripe.refunds.create({ payment_intent, amount: 400 }, key)
  expect((await stripe.refunds.create({ payment_intent, amount: 400 }, key)).id).toBe(id)
  for (const other of [
    stripe.refunds.create({ payment_intent, amount: 500 }, key),
    stripe.paymentIntents.cancel(payment_intent, {}, key),
  ])
    await expect(other).rejects.toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 })
})

describe('with banks that answer by themselves', () => {
  beforeAll(() => standIn.letBanks({ afterMs: 1 }))
  afterAll(() => standIn.letBanks(undefined))

  test.each([
    ['pm_card_createDispute', 'fraudulent', 'needs_response'],
    ['4000 0000 0000 2685', 'product_not_received', 'needs_response'],
    ['4000 0000 0000 1976', 'fraudulent', 'warning_needs_response'],
  ])('a payment by %s is disputed once: %s, %s', async (card, reason, status) => {
    const { stripe, pay } = await firm()
    const payment_intent = await pay(card)
    const disputes = async () => (await stripe.disputes.list({ payment_intent })).data
    await vi.waitFor(async () => expect(await disputes()).toMatchObject([{ reason, status }]), soon)
    await stripe.disputes.close((await disputes())[0]?.id ?? '')
    expect(await disputes()).toHaveLength(1)
  })

  test('a debit of the account whose payer disputes it is collected and taken back', async () => {
    const { moved, collect } = await firm('55555559')
    await collect()
    const categories = async () => (await moved()).map(([category]) => category)
    await vi.waitFor(async () => expect(await categories()).toEqual(['charge', 'dispute']), soon)
  })

  test.each([
    ['pm_card_pendingRefund', 'pending', 'succeeded'],
    ['pm_card_refundFail', 'succeeded', 'failed'],
  ])('what is given back on %s is %s, and then %s', async (card, atFirst, later) => {
    const { stripe, pay } = await firm()
    const { id, status } = await stripe.refunds.create({ payment_intent: await pay(card) })
    expect(status).toBe(atFirst)
    await vi.waitFor(async () => expect((await stripe.refunds.retrieve(id)).status).toBe(later), soon)
  })
})
