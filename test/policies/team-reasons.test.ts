import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PaymentId } from '#domain/payments/events.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { payments } from '../../projections/payments/projection.ts'
import { premiums } from '../../projections/premiums/projection.ts'
import { paymentRoutes } from '../../query-api/payments/routes.ts'
import { premiumListRoute } from '../../query-api/premiums/routes.ts'
import { organisation_id } from '../applications/release.ts'
import { fillReadModel } from '../read-model.ts'
import { serve } from '../serve.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'
import { cardPaid } from '../premiums/paid-by-card.ts'
import { called, claimed, claim_id, decide, fire, load, paid, unpaid } from '../premiums/prepared.ts'

/** What the team says when it moves money, or says that it is not owed, and what it is answered. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

const inPolicy = (id: string) => `/admin/v1/organisations/${organisation_id}/policies/${id}`
const ofPremium = async (id: string) => `${inPolicy(id)}/premiums/${(await load(sales, id)).premiums[0]?.premium_id}`

type Answer = { readonly data: { readonly refund: { readonly refund_id: string } } }

describe('a refund', () => {
  test('is answered with what is given back, and from which debit, also when it is sent again', async () => {
    const id = await paid(sales)
    const address = `${await ofPremium(id)}/refund`
    const [premium] = (await load(sales, id)).premiums
    const key = { 'idempotency-key': 'once' }
    const sent = { refund_pence: 400, reason: '  Charged for a cover that was not wanted. ' }

    const answered = await sales.post(address, sent, key)

    const { refund_id } = (answered.body as Answer).data.refund
    const made = { method: 'direct_debit', card_payment_id: null, payment_intent_id: premium?.payment_intent_id }
    const refund = { refund_id, refund_pence: 400, status: 'owed', ...made }
    const note = 'Charged for a cover that was not wanted.'
    expect(answered).toMatchObject({
      status: 200,
      body: {
        data: { premium_id: premium?.premium_id, refund, refunds: [{ refund_id, reason: 'operator', note }] },
      },
    })
    expect((await sales.post(address, sent, key)).body).toEqual(answered.body)

    await fire(sales, 'premium_refund', await load(sales, id), refund_id, called)
    expect((await sales.post(address, sent, key)).body).toMatchObject({
      data: { refunded_pence: 400, refund: { ...refund, status: 'refunded' } },
    })
  })

  test('of a premium that a card has paid is answered with the card payment', async () => {
    const { application_id, quote_id } = await sales.ready({ direct_debit_first: false })
    const card_payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000051')
    await sales.append(application_id, cardPaid({ quote_id, amount_pence: 1_250, paid_at: quotedAt }, card_payment_id))
    const { id } = (await sales.bind(quote_id)).body.data

    const answered = await sales.post(`${await ofPremium(id)}/refund`, { all: true, reason: 'Sold in error.' })

    expect(answered).toMatchObject({
      status: 200,
      body: { data: { refund: { refund_pence: 1_250, method: 'card', card_payment_id, payment_intent_id: null } } },
    })
  })
})

type Stored = { readonly type: string; readonly data: { readonly [part: string]: unknown } }

/** What is said with the last event of a stream, as whoever has the keys reads it. */
const lastOf = async (stream: string, type: string) =>
  (await sales.log.read(stream)).findLast((event) => event.type === type) ?? expect.fail(`No ${type} was stored.`)

/** The same as it lies in the database. */
const storedWith = async (text: string): Promise<readonly Stored[]> => {
  const { rows } = await sales.pool.query<Stored>('select type from event_log.event where event::text like $1', [
    `%${text}%`,
  ])
  return rows
}

const listed = async () => {
  const events = await sales.log.readAll({})
  await fillReadModel(sales.pool, [premiums, payments], events)
  await using lists = await serve([
    premiumListRoute({ pool: sales.pool }),
    ...paymentRoutes({ pool: sales.pool, db: sales.pool }),
  ])
  const all = [
    await lists.get(`/admin/v1/premiums?organisation_id=${organisation_id}&limit=200`),
    await lists.get(`/admin/v1/organisations/${organisation_id}/payments?limit=200`),
  ]
  return JSON.stringify(all.map(({ body }) => body))
}

describe('the reason in words is stored sealed, with the name of the key, and is shown to the team', () => {
  const left = async (): Promise<string> => {
    const id = await paid(sales)
    const [premium] = (await load(sales, id)).premiums
    const premium_id = premium?.premium_id ?? expect.fail('No premium was asked for.')
    const refund_id = PremiumRefundId.parse(premium_id)
    await decide(
      sales,
      id,
      called,
      { type: 'RefundPremium', premium_id, refund_id, refund_pence: null },
      ...Array.from({ length: 20 }, (_, day) => {
        const now = new Date(Date.parse(called) + day * 86_400_000).toISOString()
        return { type: 'DelayRefund', premium_id, refund_id, failure_code: 'unanswered', now } as const
      }),
    )
    return id
  }
  const ofRefund = async (id: string) =>
    `${await ofPremium(id)}/refunds/${(await load(sales, id)).premiums[0]?.refunds[0]?.refund_id}`

  test.each([
    ['PremiumRefundOwed', paid, async (id: string) => `${await ofPremium(id)}/refund`, { all: true }],
    ['PremiumRetried', unpaid, async (id: string) => `${await ofPremium(id)}/retry`, {}],
    ['PremiumWrittenOff', unpaid, async (id: string) => `${await ofPremium(id)}/write_off`, {}],
    ['PremiumRefundRequested', left, async (id: string) => `${await ofRefund(id)}/retry`, {}],
    ['PremiumRefundWaived', left, async (id: string) => `${await ofRefund(id)}/closure`, { how: 'not_owed' }],
  ] as const)('%s', async (type, prepare, addressOf, more) => {
    const id = await prepare(sales)
    const said = `Reason of ${type}, told by Mrs Ash.`

    expect((await sales.post(await addressOf(id), { ...more, reason: said })).status).toBe(200)

    const { data, metadata } = await lastOf(`policy-${id}`, type)
    expect(Object.values(data)).toContain(said)
    expect(metadata.actor).toEqual({ type: 'operator', id: 'tester' })
    expect(await storedWith(said)).toEqual([])
    expect(await listed()).toContain(said)
  })

  test.each([
    ['PolicyCancelled', paid, 'cancellation', { reason: 'customer_request' }],
    ['ClaimPaid', claimed('approve'), `claims/${claim_id}/decisions`, { decision: 'pay' }],
    ['ClaimDeclined', claimed(), `claims/${claim_id}/decisions`, { decision: 'decline' }],
  ] as const)('%s', async (type, prepare, end, more) => {
    const id = await prepare(sales)
    const note = `Note of ${type}, told by Mrs Ash.`

    expect((await sales.post(`${inPolicy(id)}/${end}`, { ...more, note })).status).toBe(200)

    const { data, metadata } = await lastOf(`policy-${id}`, type)
    expect([data['note'], metadata.actor]).toEqual([note, { type: 'operator', id: 'tester' }])
    expect(await storedWith(note)).toEqual([])
  })

  test.each([
    ['CardPaymentSettlementRequested', 'settlement', {}],
    ['CardPaymentReturnClosed', 'closure', { how: 'not_owed' }],
  ] as const)('%s', async (type, end, more) => {
    const { application_id, quote_id } = await sales.ready({ direct_debit_first: false })
    const payment_id = PaymentId.parse(randomUUID())
    await sales.append(application_id, [
      ...cardPaid({ quote_id, amount_pence: 1_250, paid_at: quotedAt }, payment_id),
      { type: 'CardPaymentReturnOwed', payment_id, reason: 'not_used' },
      {
        type: 'CardPaymentReturnFailed',
        payment_id,
        policy_id: null,
        failure_code: 'expired_or_canceled_card',
        provider_refund_id: 're_1',
      },
    ])
    const said = `Reason of ${type}, told by Mrs Ash.`
    const address = `/admin/v1/organisations/${organisation_id}/applications/${application_id}/card_payments/${payment_id}`

    expect((await sales.post(`${address}/${end}`, { ...more, reason: said })).status).toBe(200)

    const { data, metadata } = await lastOf(`application-${application_id}`, type)
    expect(Object.values(data)).toContain(said)
    expect(metadata.actor).toEqual({ type: 'operator', id: 'tester' })
    expect(await storedWith(said)).toEqual([])
    expect(await listed()).toContain(said)
  })
})
