import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { fromStored } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import type { ApplicationId, QuoteId } from '#domain/values.ts'
import { settleCardPayments } from '../../command-api/payments/settle-card-payments.ts'
import { everyDay } from '../policies/calendars.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { openCheckout, quotedAt, type Checkout } from './checkout.ts'
import { makeSettle } from './settle.ts'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout()
})
afterAll(async () => checkout[Symbol.asyncDispose]())

type Opened = { readonly payment_intent: { readonly id: string } }

const opened = async () => {
  const quoted = await checkout.quoted()
  const { body } = await checkout.post(quoted.quote_id, 'payment_intent')
  return { ...quoted, intent: (body.data as unknown as Opened).payment_intent.id }
}
const paid = async (how: 'automatic' | 'manual' = 'automatic') => {
  checkout.chargeCards(how)
  const given = await opened()
  checkout.chargeCards('automatic')
  await checkout.act(`payment_intents/${given.intent}/confirm`, { payment_method: 'pm_card_visa' })
  return given
}
const taken = async (how: 'automatic' | 'manual' = 'automatic') => {
  const given = await paid(how)
  const { body } = await checkout.post(given.quote_id, 'card_payment', { payment_intent_id: given.intent })
  return { ...given, payment_id: String(body.data['payment_id']) }
}

const settle = async (application_id: ApplicationId, now = quotedAt) => {
  const { writer, pool, eventsOf } = checkout
  const timers = settleCardPayments({ writer, merchants: () => checkout.merchant(), calendar: everyDay })
  await makeSettle({ writer, pool, timers, eventsOf })(application_id, now)
}
const fate = async (application_id: ApplicationId) =>
  (await checkout.eventsOf(application_id))
    .filter(({ type }) => type.startsWith('CardPayment'))
    .map((recorded) => fromStored(applicationStreamEvents, recorded))
const atProvider = (intent: string) => checkout.stripe.objects().find(({ id }) => id === intent)?.['status']
const refunds = (intent: string) =>
  checkout.stripe.objects().filter(({ object, payment_intent }) => object === 'refund' && payment_intent === intent)

const reject = async ({ application_id, quote_id }: Awaited<ReturnType<typeof opened>>) =>
  checkout.append(application_id, [{ type: 'QuoteRejected', quote_id, reason: null }])
const bought = (quote_id: QuoteId) => ({ ...sampleEvent(quoteEvents, 'QuoteBought'), quote_id })
const bind = async (application_id: ApplicationId, payment_id: string) => {
  const policy_id = 'e0000000-0000-4000-8000-000000000001'
  await checkout.append(application_id, [{ type: 'CardPaymentUsed', payment_id: payment_id as never, policy_id }])
}

describe('what was paid ends in a policy or is given back', () => {
  test('when the quote ends, it is refunded, once', async () => {
    const given = await taken()
    await reject(given)

    await settle(given.application_id)
    await settle(given.application_id)

    expect((await fate(given.application_id)).at(-1)).toMatchObject({
      type: 'CardPaymentReturned',
      how: 'refunded',
      amount_pence: 1250,
    })
    expect(refunds(given.intent)).toHaveLength(1)
  })

  test('when the quote ends, an authorisation is released', async () => {
    const given = await taken('manual')
    await reject(given)
    await settle(given.application_id)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturned', how: 'released' })
    expect(atProvider(given.intent)).toBe('canceled')
  })

  test('when the quote ends, what is open can no longer be paid', async () => {
    const given = await opened()
    await reject(given)
    await settle(given.application_id)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturned', how: 'closed' })
    expect(atProvider(given.intent)).toBe('canceled')
  })

  test('when nobody has told us that it was paid, and the quote ends', async () => {
    const given = await paid()
    await reject(given)
    await settle(given.application_id)
    expect((await fate(given.application_id)).map(({ type }) => type)).toEqual([
      'CardPaymentOpened',
      'CardPaymentReturnOwed',
      'CardPaymentTaken',
      'CardPaymentReturned',
    ])
    expect(refunds(given.intent)).toHaveLength(1)
  })

  test('when whoever charged an authorised card was killed before it was recorded', async () => {
    const given = await taken('manual')
    await checkout.merchant().provider.capture(given.intent, `charged and not recorded ${given.intent}`)
    await reject(given)

    await settle(given.application_id)

    expect((await fate(given.application_id)).slice(-2)).toMatchObject([
      { type: 'CardPaymentCaptured' },
      { type: 'CardPaymentReturned', how: 'refunded', amount_pence: 1250 },
    ])
    expect(refunds(given.intent)).toHaveLength(1)
  })

  test('when the quote is bought without it, what is open can no longer be paid', async () => {
    const given = await opened()
    await checkout.append(given.application_id, [bought(given.quote_id)])
    await settle(given.application_id)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturned', how: 'closed' })
    expect(atProvider(given.intent)).toBe('canceled')
  })

  test('when no policy has followed for a day, and not before', async () => {
    const { application_id } = await taken()
    const [last] = (await fate(application_id)).slice(-1)
    const paidAt = Date.parse(last?.type === 'CardPaymentTaken' ? last.paid_at : '')
    const day = 24 * 60 * 60 * 1000
    await settle(application_id, new Date(paidAt + day - 1).toISOString())
    expect((await fate(application_id)).at(-1)?.type).toBe('CardPaymentTaken')

    await settle(application_id, new Date(paidAt + day).toISOString())
    expect((await fate(application_id)).slice(-2)).toMatchObject([
      { type: 'CardPaymentReturnOwed', reason: 'not_used' },
      { type: 'CardPaymentReturned', how: 'refunded' },
    ])
  })

  test('a policy that follows keeps it, and has an authorised one charged', async () => {
    const succeeded = await taken()
    await bind(succeeded.application_id, succeeded.payment_id)
    await settle(succeeded.application_id, '2027-06-01T09:00:00.000Z')
    expect((await fate(succeeded.application_id)).at(-1)?.type).toBe('CardPaymentUsed')

    const authorised = await taken('manual')
    await bind(authorised.application_id, authorised.payment_id)
    await settle(authorised.application_id)
    expect((await fate(authorised.application_id)).at(-1)?.type).toBe('CardPaymentCaptured')
    expect(atProvider(authorised.intent)).toBe('succeeded')
  })
})

/** As the operator has what was left to the team tried once more. */
const requested = async (application_id: ApplicationId, payment_id: string, now: string) => {
  const command = { type: 'RequestSettlement', payment_id: payment_id as never } as const
  const [first] = await checkout.eventsOf(application_id)
  const context = { ...first?.metadata, actor: { type: 'operator', id: null }, now }
  await checkout.applications.handle(application_id, command, context as never)
}

describe('what the provider does not do is tried again', () => {
  test('a refund that failed days later is left to the team, and then made again', async () => {
    const given = await taken()
    const { application_id, payment_id } = given
    await reject(given)
    await settle(application_id)
    const [refund] = refunds(given.intent)
    await checkout.act(`refunds/${refund?.id}/fail`, {})
    const [first] = await checkout.eventsOf(application_id)
    const failed = { provider_refund_id: String(refund?.id), failure_code: 'expired_or_canceled_card' }
    const command = { type: 'RecordReturnFailure', payment_id: payment_id as never, ...failed } as const
    const context = { ...first?.metadata, now: quotedAt } as never
    for (let told = 0; told < 2; told++) await checkout.applications.handle(application_id, command, context)
    await settle(application_id)
    expect((await fate(application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturnFailed', ...failed })

    await requested(application_id, payment_id, quotedAt)
    await settle(application_id)

    expect((await fate(application_id)).slice(-2)).toMatchObject([
      { type: 'CardPaymentSettlementRequested', work: 'return' },
      { type: 'CardPaymentReturned', how: 'refunded', amount_pence: 1250 },
    ])
    expect(refunds(given.intent).map(({ status }) => status)).toEqual(['failed', 'succeeded'])
  })

  test('later and later, and then left to the team, which can have it tried once more', async () => {
    const given = await taken()
    await reject(given)
    checkout.stripe.misbehave(({ url, method }) =>
      method === 'POST' && url.pathname === '/v1/refunds'
        ? { status: 400, body: { error: { type: 'invalid_request_error', code: 'insufficient_funds', message: '' } } }
        : undefined,
    )
    await settle(given.application_id)
    const [failed] = (await fate(given.application_id)).slice(-1)
    expect(failed).toMatchObject({
      type: 'CardPaymentSettlementFailed',
      failure_code: 'insufficient_funds',
      attempt: 1,
      retry_at: '2026-06-01T09:01:00.000Z',
    })

    for (const now of [2, 3, 4, 5, 6, 7, 8, 9, 10].map((day) => new Date(Date.UTC(2026, 5, day, 9)).toISOString()))
      await settle(given.application_id, now)
    const last = (await fate(given.application_id)).at(-1)
    checkout.stripe.misbehave(undefined)
    expect(last).toMatchObject({ attempt: 10, retry_at: null })
    expect(refunds(given.intent)).toHaveLength(0)

    await requested(given.application_id, given.payment_id, '2026-06-20T09:00:00.000Z')
    await settle(given.application_id, '2026-06-20T09:00:00.000Z')
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturned', how: 'refunded' })
    expect(refunds(given.intent)).toHaveLength(1)
  })

  test('once at its time, however often the row of a read model that lags is found due', async () => {
    const given = await taken()
    await reject(given)
    const asked: string[] = []
    checkout.stripe.misbehave(({ url, method }) => {
      asked.push(`${method} ${url.pathname}`)
      return { status: 503, body: {} }
    })
    const { writer } = checkout
    const timer = settleCardPayments({ writer, merchants: () => checkout.merchant(), calendar: everyDay }).find(
      ({ kind }) => kind === 'card_payment_return',
    )
    const [first] = await checkout.eventsOf(given.application_id)
    const organisation_id = String(first?.metadata.organisation_id)
    const stream = `application-${given.application_id}`
    const fire = async (due_at: string) => {
      const due = { organisation_id, kind: 'card_payment_return', id: given.payment_id, stream, due_at }
      const actor = { type: 'system', id: null } as const
      await timer?.fire(due, { organisation_id, actor, correlation_id: 'test', now: due_at })
      return asked.length
    }
    await settle(given.application_id)

    const before = asked.length
    expect(before).toBeGreaterThan(0)
    expect(await fire(quotedAt)).toBe(before)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ attempt: 1 })
    expect(await fire('2026-06-01T09:01:00.000Z')).toBeGreaterThan(before)
    checkout.stripe.misbehave(undefined)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ attempt: 2 })
  })

  test('after a crash between the provider’s refund and our record there is one refund', async () => {
    const given = await taken()
    await reject(given)
    // What a process that was killed then has done.
    await checkout.merchant().provider.refund(given.intent, 1250, `refund:${given.payment_id}`)
    await settle(given.application_id)
    expect((await fate(given.application_id)).at(-1)).toMatchObject({ type: 'CardPaymentReturned', how: 'refunded' })
    expect(refunds(given.intent)).toHaveLength(1)
  })
})
