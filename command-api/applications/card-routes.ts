import { z } from 'zod'
import { requireBindable } from '#domain/applications/bindable.ts'
import { refuseUnsellable, refuseStepsOwed } from '#domain/applications/confirm-steps.ts'
import { isWhole, type ApplicationState } from '#domain/applications/state.ts'
import { PaymentId } from '#domain/payments/events.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { CurrencyCode, Pence, QuoteId, type OrganisationId } from '#domain/values.ts'
import { inBusinessTime } from '#infra/clock.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId } from '#infra/ids.ts'
import type { Provider, ProviderPayment } from '#infra/stripe/provider.ts'
import { keyInHeader } from '../idempotency-key.ts'
import type { Merchants } from '../payments/merchants.ts'
import { accessToQuote as access, type Applications } from './applications.ts'
import { digest } from './digest.ts'
import { forPayer, payerOf } from './payer.ts'
import { doneOr, requireMerchant } from '../payments/provider-answers.ts'

const path = z.object({ id: QuoteId })
const headers = { 'Idempotency-Key': 'The first answer again, for the same key and the same quote.' }
const OpenedPayment = z.object({
  payment_intent: z.object({ id: z.string(), client_secret: z.string() }),
  amount_pence: Pence,
  currency_code: CurrencyCode,
  publishable_key: z.string().nullable(),
  stripe_account: z.string().nullable(),
})
const TakenPayment = z
  .object({
    payment_id: PaymentId,
    status: z.enum(['succeeded', 'authorised']).describe('authorised: charged when the policy is set up.'),
    amount_pence: Pence,
    currency_code: CurrencyCode,
    card_brand: z.string().nullable(),
    card_last4: z.string().nullable(),
    paid_at: z.iso.datetime(),
  })
  .meta({ id: 'CardPayment' })

type Deps = { readonly applications: Applications; readonly merchants: Merchants }

/** Our id of a payment, which follows from the provider's. */
export const paymentIdOf = (organisation_id: OrganisationId, payment_intent_id: string): PaymentId =>
  PaymentId.parse(derivedId('card_payment', organisation_id, payment_intent_id))

/** A payment's details at the provider, for the commands about it. */
export const openedAtProvider = (
  organisation_id: OrganisationId,
  quote_id: QuoteId,
  { id, amount_pence, currency_code, provider_customer_id }: ProviderPayment,
) => ({
  payment_id: paymentIdOf(organisation_id, id),
  quote_id,
  payment_intent_id: id,
  provider_customer_id: provider_customer_id ?? 'none',
  amount_pence,
  currency_code,
})

/** Somebody has given it back at the provider, which goes on calling it paid. */
const isGivenBack = ({ status, amount_pence, refunded_pence }: ProviderPayment): boolean =>
  status === 'succeeded' && refunded_pence >= amount_pence

/** The command that records a payment that the provider says is paid or authorised; undefined for any other. */
export const takenAtProvider = (
  organisation_id: OrganisationId,
  quote_id: QuoteId,
  paid: ProviderPayment,
  { now, idempotency_key = null }: { readonly now: string; readonly idempotency_key?: string | null },
) => {
  const { status, card, paid_at } = paid
  if ((status !== 'succeeded' && status !== 'authorised') || isGivenBack(paid)) return undefined
  return {
    type: 'TakeCardPayment',
    ...openedAtProvider(organisation_id, quote_id, paid),
    status,
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    paid_at: paid_at === null ? now : inBusinessTime(paid_at, now),
    idempotency_key,
  } as const
}

/** The first premium by card, on the payment provider's own form. */
export const cardRoutes = ({ applications, merchants }: Deps): Route[] => {
  const { findByQuote, handle, releaseOf, contextOf } = applications

  const merchantOf = requireMerchant(merchants)

  /** The payment of the quote that can still be paid, or is paid; one that was given back is as good as none. */
  const readOpen = async (provider: Provider, card: CardPayment | undefined): Promise<ProviderPayment | undefined> => {
    if (!card || card.status === 'returning' || card.status === 'returned') return undefined
    const read = await provider.readPayment(card.payment_intent_id)
    const found = read.outcome === 'refused' ? undefined : doneOr('payment_setup_failed', read)
    return !found || found.status === 'cancelled' || isGivenBack(found) ? undefined : found
  }

  return [
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/payment_intent',
        tag: 'Checkout',
        summary: 'Open the payment of the first premium by card; asked again, it answers the one that is open',
        access,
        path,
        headers,
        answers: { 200: z.object({ data: OpenedPayment }), 201: z.object({ data: OpenedPayment }) },
        errors: [
          'quote_not_bindable',
          'quote_expired',
          'customer_missing',
          'card_not_needed',
          'payment_setup_failed',
          'not_sellable',
          'steps_owed',
          'unavailable',
        ],
      },
      async ({ path: { id: quote_id }, caller, ...facts }) => {
        const idempotency_key = keyInHeader(facts) ?? null
        const state = await findByQuote(quote_id, caller)
        const { record } = state
        const latest = state.payments.cards.findLast((card) => card.quote_id === quote_id)
        const isReplay = latest !== undefined && idempotency_key !== null && latest.idempotency_key === idempotency_key
        const requireReady = async () => {
          const { quote } = requireBindable(state, quote_id, { now: facts.now, digest })
          const release = await releaseOf(record)
          refuseUnsellable(release)
          refuseStepsOwed(state, release, quote, digest)
          return quote
        }
        const ready = isReplay ? undefined : await requireReady()
        const payer = payerOf(state)
        if (record.direct_debit_first)
          throw new Problem('card_not_needed', 'The first premium of this product is taken by Direct Debit.')

        const merchant = merchantOf(record, 'payment_setup_failed')
        let payment = await readOpen(merchant.provider, latest)
        let isNew = false
        if (!payment) {
          const count = state.payments.cards.filter((card) => card.quote_id === quote_id).length
          const { premium_pence: amount_pence, currency_code } = ready ?? (await requireReady())
          const metadata = { quote_id, application_id: record.id, organisation_id: caller.organisation_id }
          const name = count === 0 ? `quote:${quote_id}:first` : `quote:${quote_id}:first:${count}`
          const opening = await forPayer(merchant.provider, payer, async (provider_customer_id) => {
            const asked = { provider_customer_id, amount_pence, currency_code, capture: merchant.capture, metadata }
            return merchant.provider.openPayment(name, asked)
          })
          payment = doneOr('payment_setup_failed', opening)
          const opened = openedAtProvider(caller.organisation_id, quote_id, payment)
          const { events, state: after } = await handle(
            record.id,
            { type: 'OpenCardPayment', ...opened, idempotency_key },
            contextOf(caller, facts),
          )
          isNew = events.length > 0
          // Nobody should pay for what could be bought a moment ago.
          if (after) requireBindable(after, quote_id, { now: facts.now, digest })
        }
        const { id, client_secret, amount_pence, currency_code } = payment
        if (client_secret === null) throw new Problem('payment_setup_failed', 'The payment provider gave no form.')
        const { publishable_key, stripe_account } = merchant
        const data = {
          payment_intent: { id, client_secret },
          amount_pence,
          currency_code,
          publishable_key,
          stripe_account,
        }
        if (isReplay) return { status: 201, body: { data }, headers: { 'Idempotent-Replay': 'true' } }
        return { status: isNew ? 201 : 200, body: { data } }
      },
    ),
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/card_payment',
        tag: 'Checkout',
        summary: 'Take note of the first premium that was paid by card, as the payment provider confirms it',
        access,
        path,
        headers,
        body: z.object({ payment_intent_id: z.string().min(1).max(255) }),
        answers: { 200: z.object({ data: TakenPayment }), 201: z.object({ data: TakenPayment }) },
        errors: ['quote_not_bindable', 'quote_expired', 'payment_failed', 'payment_pending', 'unavailable'],
      },
      async ({ path: { id: quote_id }, body: { payment_intent_id }, caller, ...facts }) => {
        const idempotency_key = keyInHeader(facts) ?? null
        const before = await findByQuote(quote_id, caller)
        const taken = takenCard(before, quote_id, payment_intent_id)
        if (taken) return again(taken, idempotency_key)

        const { record } = before
        // A quote that cannot be bought is refused, but not before what was paid for it is on record, to be given back.
        if (!before.payments.cards.some((card) => card.payment_intent_id === payment_intent_id))
          requireBindable(before, quote_id, { now: facts.now, digest })
        const { provider } = merchantOf(record, 'payment_failed')
        const payment = await readPayment(provider, payment_intent_id)
        refuseOther(payment, before, quote_id)
        const command = takenAtProvider(caller.organisation_id, quote_id, payment, { now: facts.now, idempotency_key })
        if (!command) {
          requireBindable(before, quote_id, { now: facts.now, digest })
          throw notPaid(payment)
        }
        const { state, events } = await handle(record.id, command, contextOf(caller, facts))
        const card = state && takenCard(state, quote_id, payment_intent_id)
        if (state) requireBindable(state, quote_id, { now: facts.now, digest })
        if (!card) throw new Problem('payment_failed', 'This payment is being given back. Open another one.')
        // Somebody was faster with the same.
        return events.length === 0 ? again(card, idempotency_key) : { status: 201, body: { data: shown(card) } }
      },
    ),
  ]
}

type Taken = CardPayment & { readonly status: 'succeeded' | 'authorised'; readonly paid_at: string }

const isTaken = (card: CardPayment): card is Taken =>
  (card.status === 'succeeded' || card.status === 'authorised') && card.paid_at !== null

const takenCard = ({ payments }: ApplicationState, quote_id: QuoteId, payment_intent_id: string): Taken | undefined =>
  payments.cards
    .filter((card) => card.quote_id === quote_id && card.payment_intent_id === payment_intent_id)
    .find(isTaken)

const shown = (card: Taken): z.input<typeof TakenPayment> => {
  const { payment_id, status, amount_pence, currency_code, card_brand, card_last4, paid_at } = card
  return { payment_id, status, amount_pence, currency_code, card_brand, card_last4, paid_at }
}

/** A payment that was taken before; under the same key it is the first answer again. */
const again = (card: Taken, idempotency_key: string | null) => {
  const isReplay = idempotency_key !== null && card.taken_with === idempotency_key
  const body = { data: shown(card) }
  return isReplay
    ? { status: 201 as const, body, headers: { 'Idempotent-Replay': 'true' } }
    : { status: 200 as const, body }
}

const readPayment = async (provider: Provider, payment_intent_id: string): Promise<ProviderPayment> => {
  const unknown = new Problem('payment_failed', 'There is no such payment. Send the one of payment_intent.')
  if (!/^pi_\w+$/.test(payment_intent_id)) throw unknown
  const read = await provider.readPayment(payment_intent_id)
  if (read.outcome === 'refused' && read.code === 'resource_missing') throw unknown
  return doneOr('payment_failed', read)
}

/** The page is never trusted: it must be this quote's payment, of this amount. */
const refuseOther = (payment: ProviderPayment, { quotes, payments }: ApplicationState, quote_id: QuoteId): void => {
  const opened = payments.cards.find((card) => card.quote_id === quote_id && card.payment_intent_id === payment.id)
  const issued = quotes.find(({ quote }) => quote.id === quote_id)
  const quoted = issued && isWhole(issued) ? issued.quote : undefined
  const isSame =
    payment.metadata['quote_id'] === quote_id &&
    payment.amount_pence === (opened?.amount_pence ?? quoted?.premium_pence) &&
    payment.currency_code === (opened?.currency_code ?? quoted?.currency_code)
  if (!isSame) throw new Problem('payment_failed', 'This payment belongs to another quote. Send the one of this quote.')
}

const notPaid = (payment: ProviderPayment): Problem => {
  const { status, failure_code } = payment
  if (isGivenBack(payment)) return new Problem('payment_failed', 'This payment was given back. Open another one.')
  if (status === 'cancelled') return new Problem('payment_failed', 'This payment was cancelled. Open another one.')
  if (status === 'open' && failure_code !== null)
    return new Problem('payment_failed', 'The card was declined. Try again, or with another card.')
  return new Problem('payment_pending', 'The payment is not complete yet. Ask again in a few seconds.')
}
