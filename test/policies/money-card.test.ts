import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { fromStored, toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { policyStreamEvents, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { makeLog } from '#infra/log.ts'
import { whenPremiumRefundOwedReturnCard } from '../../command-api/applications/when-premium-refund-owed-return-card.ts'
import { settleCardPayments } from '../../command-api/applications/settle-card-payments.ts'
import { commandHandler } from '../../command-api/handle.ts'
import { whenCardSettledRecordPremium } from '../../command-api/policies/when-card-settled-record-premium.ts'
import { contextOf, type Reaction } from '../../command-api/reaction.ts'
import { makePaymentNews } from '../../command-api/receive-payment-news.ts'
import { makeIsRefundOwed } from '../../command-api/refund-owed.ts'
import { makeWriter } from '../../command-api/writer.ts'
import { started } from '../applications/builders.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { makeBank, memoryLog } from './bank.ts'
import {
  application_id,
  cardPaid,
  collectedByCard,
  dueByCard,
  firstPremium,
  paid_at,
  payment_id,
} from './paid-by-card.ts'
import { england } from './calendars.ts'

const silent = makeLog('silent', 'test')

const bound = sampleEvent(policyEvents, 'PolicyBound', 2)
const { policy_id, organisation_id } = bound
const issued = sampleEvent(quoteEvents, 'QuoteIssued')
const { quote_id } = issued

const sold: readonly PolicyStreamEvent[] = [
  { ...bound, application_id, card_payment_id: payment_id, cooling_off_ends_on: '2026-07-30' },
  dueByCard,
  { ...collectedByCard, payment_intent_id: null },
]
const paid: readonly ApplicationStreamEvent[] = [
  started({ application_id, organisation_id }),
  issued,
  ...cardPaid({ quote_id, amount_pence: firstPremium.amount_pence, paid_at }),
  { type: 'CardPaymentUsed', payment_id, policy_id },
]

const metadata = { organisation_id, application_id, quote_id, payment_id }
const context = {
  organisation_id,
  actor: { type: 'operator', id: null },
  correlation_id: 'test',
  now: '2026-07-02T09:00:00.000Z',
} as const

/** A first premium that was paid by card, the provider, and what is done about it. */
const openWorld = async () => {
  const { log, streamOf } = memoryLog()
  const bank = makeBank()
  bank.intents.push({
    id: 'pi_1',
    client_secret: null,
    status: 'succeeded',
    amount_pence: 2875,
    refunded_pence: 0,
    is_disputed: false,
    dispute_changes: 0,
    currency_code: 'GBP',
    metadata,
    card: null,
    paid_at,
    failure_code: null,
    provider_customer_id: 'cus_1',
  })
  const intent = bank.intents[0] ?? expect.fail()
  const streams = [`application-${application_id}`, `policy-${policy_id}`] as const
  const put = async <Shapes extends EventShapes>(stream: string, shapes: Shapes, events: readonly EventOf<Shapes>[]) =>
    log.append(
      stream,
      'any',
      events.map((event) => ({
        id: randomUUID(),
        ...toStored(shapes, event),
        metadata: { ...context, causation_id: null, occurred_at: paid_at },
      })),
    )
  await put(streams[0], applicationStreamEvents, paid)
  await put(streams[1], policyStreamEvents, sold)
  const writer = makeWriter({ log, seen: async () => undefined })
  const merchant = {
    provider: bank.provider,
    publishable_key: null,
    stripe_account: null,
    capture: 'automatic' as const,
  }
  const deps = { writer, merchants: () => merchant }
  const receive = makePaymentNews({
    calendar: england,
    ...deps,
    log: silent,
    mandateOwner: async () => undefined,
    setUp: async () => undefined,
  })
  const giveBack = settleCardPayments(deps).find(({ kind }) => kind === 'card_payment_return') ?? expect.fail()
  const isOwed = async () =>
    (await commandHandler(writer, application).load(application_id))?.payments.cards[0]?.status === 'returning'

  const react = async <Shapes extends EventShapes>(reaction: Reaction<Shapes>) => {
    for (const recorded of streams.flatMap(streamOf))
      if (recorded.type in reaction.events)
        await reaction.react(
          fromStored(reaction.events, recorded),
          recorded,
          contextOf(reaction, recorded, new AbortController().signal),
        )
  }
  /** All that follows by itself, twice. */
  const follow = async () => {
    for (let time = 0; time < 2; time++) {
      await react(whenPremiumRefundOwedReturnCard(writer, makeIsRefundOwed(writer)))
      const due = { organisation_id, stream: streams[0], id: payment_id, kind: giveBack.kind, due_at: paid_at }
      if (await isOwed()) await giveBack.fire(due, context)
      await react(whenCardSettledRecordPremium(writer, async () => undefined))
    }
  }
  return {
    bank,
    follow,
    byHand: async (pence: number) => {
      await bank.provider.refund('pi_1', pence, `by hand ${bank.refunds.length}`)
      const object = {
        amount_refunded: intent.refunded_pence,
        refunded: intent.refunded_pence === intent.amount_pence,
        payment_intent: 'pi_1',
        metadata,
      }
      for (const id of ['evt_1', 'evt_2'])
        await receive(
          organisation_id,
          { id: `${id}_${intent.refunded_pence}`, livemode: false, type: 'charge.refunded', data: { object } },
          context,
        )
      await follow()
    },
    fails: async (index: number) => {
      const refund = bank.refunds[index] ?? expect.fail()
      bank.failRefund(refund)
      const { refund_id: id, pence: amount } = refund
      const object = { id, amount, payment_intent: 'pi_1', metadata: { ...refund.metadata }, failure_reason: null }
      for (const type of ['refund.failed', 'refund.updated'] as const)
        await receive(
          organisation_id,
          {
            id: `evt_${type.replace('.', '_')}_${id}`,
            livemode: false,
            type,
            data: { object: { ...object, status: 'failed' } },
          },
          context,
        )
      await follow()
    },
    does: async (command: PolicyCommand) => {
      await commandHandler(writer, policy).handle(policy_id, command, context)
      await follow()
    },
    premium: async () => (await commandHandler(writer, policy).load(policy_id))?.premiums[0] ?? expect.fail(),
    holds: () => bank.holds(),
  }
}

const refund = {
  type: 'RefundPremium',
  premium_id: firstPremium.premium_id,
  refund_id: PremiumRefundId.parse('b2000000-0000-5000-8000-000000000001'),
  refund_pence: null,
} as const

test('a part of a card payment that somebody has given back by hand is recorded with the premium, once', async () => {
  const { byHand, premium } = await openWorld()
  await byHand(1_000)
  expect(await premium()).toMatchObject({
    status: 'collected',
    refunded_pence: 1_000,
    refunds: [{ refund_pence: 1_000, reason: 'provider', status: 'refunded' }],
  })
})

test('the rest of it is given back by hand as well', async () => {
  const { byHand, premium } = await openWorld()
  await byHand(1_000)
  await byHand(1_875)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{ refund_pence: 1_000 }, {}] })
})

test('of what is left, the operator gives all back, and not a part', async () => {
  const { byHand, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await expect(does({ ...refund, refund_pence: 1_874 })).rejects.toMatchObject({
    fields: { refund_pence: 'must be 1875: a card payment is given back whole' },
  })
  await does(refund)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { status: 'refunded' }] })
  expect(holds()).toBe(0)
})

test('what is cancelled later gives back only what is left', async () => {
  const { byHand, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await does({ type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-07-02' })
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { refund_pence: 1_875 }] })
  expect(holds()).toBe(0)
})

test('a part that comes back to the provider was nobody’s debt: all can be given back again', async () => {
  const { byHand, fails, does, premium, holds } = await openWorld()
  await byHand(1_000)
  await fails(0)
  expect(await premium()).toMatchObject({ refunded_pence: 0, refunds: [{ status: 'waived' }] })
  await does(refund)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, { refund_pence: 2_875 }] })
  expect(holds()).toBe(0)
})

test('a rest that comes back to the provider is given back anew, and only the rest', async () => {
  const { byHand, fails, does, premium, bank, holds } = await openWorld()
  await byHand(1_000)
  await does(refund)
  await fails(1)
  expect(await premium()).toMatchObject({ refunded_pence: 2_875, refunds: [{}, {}] })
  expect(bank.refunds.map(({ pence }) => pence)).toEqual([1_000, 1_875, 1_875])
  expect(holds()).toBe(0)
})
