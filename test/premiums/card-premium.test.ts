import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { fromStored, toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { makeLog } from '#infra/log.ts'
import { settleCardPayments } from '../../command-api/payments/settle-card-payments.ts'
import { whenPolicyCancelledReturnCard } from '../../command-api/applications/when-policy-cancelled-return-card.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { started } from '../applications/builders.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { everyDay } from '../policies/calendars.ts'
import { makeBank, memoryLog } from './bank.ts'
import { application_id, cardPaid, dueByCard, firstPremium, paid_at, payment_id } from './paid-by-card.ts'

/** A policy that was sold for a card that is only authorised, and whose first premium it is to pay. */

const bound = {
  ...sampleEvent(policyEvents, 'PolicyBound', 2),
  application_id,
  card_payment_id: payment_id,
  first_premium: { method: 'card', status: 'authorised', paid_at } as const,
}
const { policy_id, organisation_id } = bound
const issued = sampleEvent(quoteEvents, 'QuoteIssued')
const { quote_id } = issued
const metadata = { organisation_id, application_id, quote_id, payment_id }
const context = {
  organisation_id,
  actor: { type: 'operator', id: null },
  correlation_id: 'test',
  now: '2026-07-02T09:00:00.000Z',
} as const

const authorised = (event: ApplicationStreamEvent): ApplicationStreamEvent =>
  event.type === 'CardPaymentTaken' ? { ...event, status: 'authorised' } : event

const openWorld = async ({ isSetUp = true } = {}) => {
  const { log, streamOf } = memoryLog()
  const bank = makeBank()
  bank.payByCard({ amount_pence: firstPremium.amount_pence, metadata, paid_at })
  const intent = bank.intents[0] ?? expect.fail()
  Object.assign(intent, { status: 'authorised' })
  const becomes = (status: typeof intent.status) => async () => {
    intent.status = status
    return { outcome: 'done', value: intent } as const
  }
  const provider: Provider = { ...bank.provider, capture: becomes('succeeded'), cancel: becomes('cancelled') }
  const streams = { application: `application-${application_id}`, policy: `policy-${policy_id}` }
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
  await put(streams.application, applicationStreamEvents, [
    started({ application_id, organisation_id }),
    issued,
    ...cardPaid({ quote_id, amount_pence: firstPremium.amount_pence, paid_at }).map(authorised),
    { type: 'CardPaymentUsed', payment_id, policy_id },
  ])
  const setUp = async () => {
    await put(streams.policy, policyStreamEvents, [{ ...bound, cooling_off_ends_on: '2026-07-30' }, dueByCard])
    return undefined
  }
  if (isSetUp) await setUp()
  const writer = makeWriter({ log, seen: async () => undefined })
  const merchant = { provider, publishable_key: null, stripe_account: null, capture: 'manual' as const }
  const deps = { writer, merchants: () => merchant, calendar: everyDay }
  const receive = makePaymentNews({
    ...deps,
    log: makeLog('silent', 'test'),
    mandateOwner: async () => undefined,
    setUp,
  })
  const policies = commandHandler(writer, policy)
  let told = 0

  return {
    intent,
    bank,
    cancels: async () => {
      const cancel = { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-07-02' } as const
      await policies.handle(policy_id, cancel, context)
      const reaction = whenPolicyCancelledReturnCard(writer)
      for (const recorded of streamOf(streams.policy))
        if (recorded.type in reaction.events)
          await reaction.react(
            fromStored(reaction.events, recorded),
            recorded,
            contextOf(reaction, recorded, new AbortController().signal),
          )
    },
    fire: async (kind: 'card_payment_capture' | 'card_payment_return') => {
      const due = { organisation_id, stream: streams.application, id: payment_id, kind, due_at: paid_at }
      for (let time = 0; time < 2; time++)
        await settleCardPayments(deps)
          .find((timer) => timer.kind === kind)
          ?.fire(due, context)
    },
    tell: async (type: 'payment_intent.succeeded' | 'charge.refunded', object: object) => {
      for (let time = 0; time < 2; time++)
        await receive(
          organisation_id,
          { id: `evt_${++told}`, livemode: false, type, data: { object: { ...object, metadata } } } as never,
          context,
        )
    },
    types: () => streamOf(streams.policy).map(({ type }) => type),
    premium: async () => (await policies.load(policy_id))?.premiums[0],
    card: async () => (await commandHandler(writer, application).load(application_id))?.payments.cards[0],
  }
}

test('a card that is charged after the sale has paid the premium, once', async () => {
  const { fire, types, premium } = await openWorld()
  await fire('card_payment_capture')
  expect(await premium()).toMatchObject({ status: 'collected', method: 'card', attempt: 1, refunds: [] })
  expect(types().filter((type) => type === 'PremiumCollected')).toHaveLength(1)
})

test('also when the provider tells that it was charged before the policy is set up: it is set up first', async () => {
  const { intent, tell, types, premium } = await openWorld({ isSetUp: false })
  intent.status = 'succeeded'
  await tell('payment_intent.succeeded', { id: 'pi_1', amount: 2_875, last_payment_error: null })
  expect(await premium()).toMatchObject({ status: 'collected', method: 'card' })
  expect(types().slice(0, 2)).toEqual(['PolicyBound', 'PremiumDue'])
})

test('of an authorisation that is let go, since the policy was cancelled, nothing is collected or given back', async () => {
  const { cancels, fire, tell, card, premium, bank } = await openWorld()
  await cancels()
  await fire('card_payment_return')
  // The provider tells that as a refund.
  await tell('charge.refunded', { amount_refunded: 2_875, refunded: true, payment_intent: 'pi_1' })

  expect(await card()).toMatchObject({ status: 'returned', returned_pence: 0 })
  expect(await premium()).toMatchObject({ status: 'written_off', refunds: [], refunded_pence: 0 })
  expect(bank.refunds).toEqual([])
})
