import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { categoryOf, fromStored, toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyStreamEvents, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { QuoteId } from '#domain/values.ts'
import { whenPremiumRefundOwedReturnCard } from '../../command-api/applications/when-premium-refund-owed-return-card.ts'
import { makeSetUpSold } from '../../command-api/set-up-sold.ts'
import { whenCardSettledRecordPremium } from '../../command-api/policies/when-card-settled-record-premium.ts'
import { contextOf, type Reaction } from '../../command-api/reaction.ts'
import { makeIsRefundOwed } from '../../command-api/refund-owed.ts'
import { makeWriter } from '../../command-api/writer.ts'
import { started } from '../applications/builders.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { memoryLog } from './bank.ts'
import {
  application_id,
  cardPaid,
  collectedByCard,
  dueByCard,
  firstPremium,
  paid_at,
  payment_id,
} from './paid-by-card.ts'

const bound = { ...sampleEvent(policyEvents, 'PolicyBound', 2), card_payment_id: payment_id }
const { policy_id } = bound
const sale: ApplicationStreamEvent = { ...sampleEvent(quoteEvents, 'QuoteBought'), policy_id }

const owed: Extract<PolicyStreamEvent, { type: 'PremiumRefundOwed' }> = {
  type: 'PremiumRefundOwed',
  ...firstPremium,
  refund_id: PremiumRefundId.parse(firstPremium.premium_id),
  application_id,
  card_payment_id: payment_id,
  refund_pence: 2875,
  reason: 'cooling_off',
}
const paid: readonly ApplicationStreamEvent[] = [
  started({ application_id }),
  ...cardPaid({
    quote_id: QuoteId.parse('20000000-0000-4000-8000-000000000001'),
    amount_pence: firstPremium.amount_pence,
    paid_at,
  }),
  { type: 'CardPaymentUsed', payment_id, policy_id },
]
const captured: ApplicationStreamEvent = { type: 'CardPaymentCaptured', payment_id, policy_id }
const returned = (how: 'refunded' | 'released', amount_pence: number): ApplicationStreamEvent => ({
  type: 'CardPaymentReturned',
  payment_id,
  how,
  amount_pence,
  policy_id,
})

/** An application and its policy, in a log in memory. */
const openWorld = async (ofPolicy: readonly PolicyStreamEvent[], isSetUp = true) => {
  const { log, streamOf } = memoryLog()
  const metadata = {
    organisation_id: bound.organisation_id,
    actor: { type: 'system', id: null } as const,
    correlation_id: 'test',
    causation_id: null,
    occurred_at: paid_at,
  }
  const append = async <Shapes extends EventShapes>(
    stream: string,
    shapes: Shapes,
    events: readonly EventOf<Shapes>[],
  ) => {
    const stored = events.map((event) => ({ id: randomUUID(), ...toStored(shapes, event), metadata }))
    await log.append(stream, 'any', stored)
  }
  const [application, policy] = [`application-${application_id}`, `policy-${policy_id}`]
  await append(application, applicationStreamEvents, paid)
  const setUp = () => append(policy, policyStreamEvents, [bound, ...ofPolicy])
  if (isSetUp) await setUp()
  const setUps: object[] = []
  const before = { application: streamOf(application).length, policy: streamOf(policy).length }

  /** Something happens, and the reaction runs twice, as after a kill: the second time in another process. */
  const react = async <Shapes extends EventShapes>(
    reactionOf: (writer: ReturnType<typeof makeWriter>) => Reaction<Shapes>,
  ) => {
    for (let time = 0; time < 2; time++) {
      const reaction = reactionOf(makeWriter({ log, seen: async () => undefined }))
      for (const recorded of [...streamOf(application), ...streamOf(policy)]) {
        if (!(recorded.type in reaction.events) || !reaction.categories.includes(categoryOf(recorded.stream))) continue
        const context = contextOf(reaction, recorded, new AbortController().signal)
        await reaction.react(fromStored(reaction.events, recorded), recorded, context)
      }
    }
  }

  return {
    happens: async (event: ApplicationStreamEvent) => {
      await append(application, applicationStreamEvents, [event])
      before.application++
      await react((writer) =>
        whenCardSettledRecordPremium(
          writer,
          makeSetUpSold({
            writer,
            setUp: async (application, quote, context) => {
              setUps.push({ application, quote, reaction: context.cause?.reaction })
              await setUp()
              return undefined
            },
          }),
        ),
      )
    },
    isOwed: async (event: PolicyStreamEvent) => {
      await append(policy, policyStreamEvents, [event])
      before.policy++
      await react((writer) => whenPremiumRefundOwedReturnCard(writer, makeIsRefundOwed(writer)))
    },
    sold: () => append(application, applicationStreamEvents, [sale]),
    setUps,
    addedToPolicy: () =>
      streamOf(policy)
        .slice(before.policy)
        .map((each) => fromStored(policyStreamEvents, each)),
    addedToApplication: () =>
      streamOf(application)
        .slice(before.application)
        .map((each) => fromStored(applicationStreamEvents, each)),
  }
}

describe('when a card payment is settled, the premium is recorded', () => {
  test('as collected, once, when the card is charged', async () => {
    const { happens, addedToPolicy } = await openWorld([dueByCard])
    await happens(captured)
    expect(addedToPolicy()).toMatchObject([
      { type: 'PremiumCollected', premium_id: firstPremium.premium_id, method: 'card', attempt: 1 },
    ])
  })

  test('also when the policy is not set up yet: it is set up first', async () => {
    const { sold, happens, addedToPolicy, setUps } = await openWorld([dueByCard], false)
    await sold()
    await happens(captured)
    const { quote_id } = sale
    expect(setUps).toEqual([
      { application: application_id, quote: quote_id, reaction: 'when-quote-bought-set-up-policy' },
    ])
    expect(addedToPolicy().map(({ type }) => type)).toEqual(['PolicyBound', 'PremiumDue', 'PremiumCollected'])
  })

  test('not at all when the card was charged before there was a policy', async () => {
    const { happens, addedToPolicy } = await openWorld([dueByCard])
    await happens({ type: 'CardPaymentCaptured', payment_id, policy_id: null })
    expect(addedToPolicy()).toEqual([])
  })

  test('as refunded, once, when what was owed is given back', async () => {
    const { happens, addedToPolicy } = await openWorld([dueByCard, collectedByCard, owed])
    await happens(returned('refunded', 2875))
    expect(addedToPolicy()).toMatchObject([
      { type: 'PremiumRefunded', refund_id: owed.refund_id, refund_pence: 2875, reason: 'cooling_off' },
    ])
  })

  test('as refunded by the provider when it was not owed', async () => {
    const { happens, addedToPolicy } = await openWorld([dueByCard, collectedByCard])
    await happens(returned('refunded', 2875))
    expect(addedToPolicy()).toMatchObject([
      { type: 'PremiumRefunded', refund_id: payment_id, refund_pence: 2875, reason: 'provider' },
    ])
  })

  test('as owed again, once, when what was given back has failed', async () => {
    const refunded: PolicyStreamEvent = {
      type: 'PremiumRefunded',
      ...firstPremium,
      attempt: 1,
      refund_id: owed.refund_id,
      refund_pence: 2875,
      reason: 'cooling_off',
    }
    const { happens, addedToPolicy } = await openWorld([dueByCard, collectedByCard, owed, refunded])
    const failure = { failure_code: 'lost_or_stolen_card', provider_refund_id: 're_1' }
    await happens({ type: 'CardPaymentReturnFailed', payment_id, policy_id, ...failure })
    expect(addedToPolicy()).toEqual([
      {
        type: 'PremiumRefundFailed',
        ...firstPremium,
        refund_id: owed.refund_id,
        attempt: 1,
        refund_pence: 2875,
        ...failure,
      },
    ])
  })

  test('not as refunded when an authorisation was let go, of which nothing was collected', async () => {
    const { happens, addedToPolicy } = await openWorld([dueByCard])
    await happens(returned('released', 0))
    expect(addedToPolicy()).toEqual([])
  })
})

describe('when a premium is to be refunded that was paid by card', () => {
  test.each([
    ['cooling_off', 'policy_cancelled'],
    ['operator', 'operator'],
  ] as const)('the card is owed back, once: %s', async (reason, why) => {
    const { isOwed, addedToApplication } = await openWorld([dueByCard, collectedByCard])
    await isOwed({ ...owed, reason })
    expect(addedToApplication()).toEqual([{ type: 'CardPaymentReturnOwed', payment_id, reason: why }])
  })

  test('nothing is owed by the application when it was paid by Direct Debit', async () => {
    const { isOwed, addedToApplication } = await openWorld([dueByCard, collectedByCard])
    await isOwed({ ...owed, card_payment_id: null })
    expect(addedToApplication()).toEqual([])
  })
})
