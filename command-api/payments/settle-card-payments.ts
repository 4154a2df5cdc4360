import { application } from '#domain/applications/application.ts'
import type { ApplicationCommand } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { idOf } from '#domain/event.ts'
import { heldPence, payment } from '#domain/payments/payment.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Provider, ProviderPayment } from '#infra/stripe/provider.ts'
import { takenAtProvider } from '../applications/card-routes.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { DueTime, Timer } from '../reactions/timers.ts'
import { makeFollowCard } from './follow-card.ts'
import type { PaymentDeps } from './payments.ts'
import { failureOf } from './provider-answers.ts'

type Found = { readonly state: ApplicationState; readonly card: CardPayment }

/**
 * Settles a card payment, however often it takes: it is charged when a policy has followed, and given back when none will.
 * Every step may be repeated: the provider is asked first how things stand.
 */
export const settleCardPayments = (deps: PaymentDeps): readonly Timer[] => {
  const { writer, merchants } = deps
  const { handle, load } = commandHandler(writer, application)
  const payments = commandHandler(writer, payment)
  const { follow: followCard, settle: settleCard } = makeFollowCard({ ...deps, setUp: async () => undefined })

  const find = async ({ stream, id }: DueTime): Promise<Found | undefined> => {
    const state = await load(idOf(stream))
    const card = state?.payments.cards.find(({ payment_id }) => payment_id === id)
    return state && card && { state, card }
  }

  const settle =
    (work: (provider: Provider, found: Found, context: Context) => Promise<ApplicationCommand | string>) =>
    async (due: DueTime, context: Context): Promise<void> => {
      const found = await find(due)
      if (!found) return
      const { record, settlement_retry_at } = found.state
      if (isTooEarly(settlement_retry_at[found.card.payment_id], context.now)) return
      const merchant = merchants(record.organisation_id, record.stripe_test_mode)
      const result = merchant ? await work(merchant.provider, found, context) : 'no_account'
      const { payment_id } = found.card
      const command: ApplicationCommand =
        typeof result === 'string'
          ? { type: 'RecordSettlementFailure', payment_id, failure_code: result, now: context.now }
          : result
      await handle(idOf(due.stream), command, context)
      // It may have come back before this was recorded.
      if (found.card.policy_id === null) await settleCard(payment_id, context)
    }

  const givenBackOf = async ({ state, card }: Found, context: Context): Promise<ApplicationCommand | string> => {
    const { payment_id, amount_pence } = card
    await handle(state.record.id, { type: 'RecordCardCapture', payment_id }, context)
    await followCard(state, card, context)
    const payment = await payments.load(payment_id)
    return payment && heldPence(payment) <= 0
      ? { type: 'RecordCardReturn', payment_id, how: 'refunded', amount_pence }
      : 'given_back_by_premium'
  }

  return [
    {
      kind: 'card_payment_unused',
      fire: async (due, context) => {
        const found = await find(due)
        if (!found) return
        const { payment_id } = found.card
        await handle(idOf(due.stream), { type: 'ReturnUnusedCardPayment', payment_id, now: due.due_at }, context)
      },
    },
    {
      kind: 'card_payment_capture',
      fire: async (due, context) => {
        await settle(async (provider, { card }) => capture(provider, card))(due, context)
        const found = await find(due)
        if (found?.card.charged === true) await followCard(found.state, found.card, context)
      },
    },
    {
      kind: 'card_payment_return',
      fire: settle(async (provider, found, context) => {
        const { state, card } = found
        const read = await provider.readPayment(card.payment_intent_id)
        if (read.outcome !== 'done') return failureOf(read)
        // It was paid, or charged, after all, and nobody has told us.
        const taken = takenAtProvider(state.record.organisation_id, card.quote_id, read.value, context)
        if (taken && !card.charged) await handle(state.record.id, taken, context)
        // What was charged for a policy is given back by its premium.
        if (card.policy_id !== null && read.value.status === 'succeeded') return givenBackOf(found, context)
        const result = await giveBack(provider, found, read.value)
        if (card.policy_id === null) await followCard(state, card, context)
        return result
      }),
    },
  ]
}

/** Each attempt has a key of its own, since the provider remembers what has failed under a key. */
const keyOf = (what: string, { payment_id, failed_attempts, failed_refunds }: CardPayment): string =>
  [what, payment_id, ...failed_refunds.slice(-1), ...(failed_attempts === 0 ? [] : [failed_attempts])].join(':')

/** Charges an authorised payment; says why it cannot. */
export const capture = async (provider: Provider, card: CardPayment): Promise<ApplicationCommand | string> => {
  const done = { type: 'RecordCardCapture', payment_id: card.payment_id } as const
  const captured = await provider.capture(card.payment_intent_id, keyOf('capture', card))
  if (captured.outcome === 'done') return done
  const read = await provider.readPayment(card.payment_intent_id)
  return read.outcome === 'done' && read.value.status === 'succeeded' ? done : failureOf(captured)
}

const giveBack = async (
  provider: Provider,
  { state: { record }, card }: Found,
  { status, amount_pence }: ProviderPayment,
): Promise<ApplicationCommand | string> => {
  const { payment_id, payment_intent_id, paid_at } = card
  const returned = (how: 'refunded' | 'released' | 'closed', pence: number) =>
    ({ type: 'RecordCardReturn', payment_id, how, amount_pence: pence }) as const
  switch (status) {
    case 'processing':
      return 'processing'
    case 'cancelled':
      return paid_at === null ? returned('closed', 0) : returned('released', 0)
    case 'open':
    case 'authorised': {
      const cancelled = await provider.cancel(payment_intent_id, keyOf('cancel', card))
      if (cancelled.outcome !== 'done') return failureOf(cancelled)
      return returned(status === 'authorised' ? 'released' : 'closed', 0)
    }
    case 'succeeded': {
      const given = await provider.refundedPence(payment_intent_id)
      if (given.outcome !== 'done') return failureOf(given)
      const left = amount_pence - given.value
      if (left <= 0) return returned('refunded', amount_pence)
      const { organisation_id, id: application_id } = record
      const metadata = { organisation_id, application_id, quote_id: card.quote_id, payment_id }
      const refunded = await provider.refund(payment_intent_id, left, keyOf('refund', card), metadata)
      if (refunded.outcome !== 'done') return failureOf(refunded)
      // What was done under this key before may have failed since: the provider answers as it did then.
      const after = await provider.refundedPence(payment_intent_id)
      if (after.outcome !== 'done') return failureOf(after)
      return after.value >= amount_pence ? returned('refunded', amount_pence) : 'refund_failed'
    }
  }
}
