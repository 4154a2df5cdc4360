import { Rejection } from '../rejection.ts'
import { isTooEarly, retryAt } from '../retry.ts'
import type { QuoteId } from '../values.ts'
import type { ApplicationState } from '../applications/state.ts'
import type { PaymentEvent, PaymentId, ReturnReason } from './events.ts'
import { unusedAt, type CardPayment } from './record.ts'

/** A payment by card as the provider has opened it. */
type Opened = {
  readonly payment_id: PaymentId
  readonly quote_id: QuoteId
  readonly payment_intent_id: string
  readonly provider_customer_id: string
  readonly amount_pence: number
  readonly currency_code: string
}

export type OpenCardPayment = Opened & { readonly type: 'OpenCardPayment'; readonly idempotency_key: string | null }

/** The provider says that it is paid, or authorised. */
export type TakeCardPayment = Opened & {
  readonly type: 'TakeCardPayment'
  readonly status: 'succeeded' | 'authorised'
  readonly card_brand: string | null
  readonly card_last4: string | null
  readonly paid_at: string
  readonly idempotency_key: string | null
}

export type DeclineCardPayment = {
  readonly type: 'DeclineCardPayment'
  readonly payment_id: PaymentId
  readonly failure_code: string | null
}

/** An authorised payment was charged. */
export type RecordCardCapture = { readonly type: 'RecordCardCapture'; readonly payment_id: PaymentId }

/** Has a payment given back: a timer does it, as often as it takes. */
export type OweCardReturn = {
  readonly type: 'OweCardReturn'
  readonly payment_id: PaymentId
  readonly reason: ReturnReason
}

/** Sent when a payment has waited for its policy too long. */
export type ReturnUnusedCardPayment = {
  readonly type: 'ReturnUnusedCardPayment'
  readonly payment_id: PaymentId
  readonly now: string
}

/** A quote has ended or was bought: what was paid for it without need is given back. */
export type CloseQuotePayments = { readonly type: 'CloseQuotePayments'; readonly quote_id: QuoteId }

export type RecordCardReturn = {
  readonly type: 'RecordCardReturn'
  readonly payment_id: PaymentId
  readonly how: 'refunded' | 'released' | 'closed'
  readonly amount_pence: number
}

/** The provider tells, often days later, that what it gave back has come back to it. */
export type RecordReturnFailure = {
  readonly type: 'RecordReturnFailure'
  readonly payment_id: PaymentId
  readonly provider_refund_id: string
  readonly failure_code: string
}

/** A payment's capture or return has failed. */
export type RecordSettlementFailure = {
  readonly type: 'RecordSettlementFailure'
  readonly payment_id: PaymentId
  readonly failure_code: string
  readonly now: string
}

/** The operator's act, after what was owed was left to the team. */
export type RequestSettlement = {
  readonly type: 'RequestSettlement'
  readonly payment_id: PaymentId
  readonly note?: string
}

/** The operator's act, where trying again would fail again. */
export type CloseCardReturn = {
  readonly type: 'CloseCardReturn'
  readonly payment_id: PaymentId
  readonly closing:
    | { readonly how: 'paid_otherwise'; readonly paid_on: string; readonly reason: string }
    | { readonly how: 'not_owed'; readonly reason: string }
}

type Decision = readonly PaymentEvent[]

const cardOf = ({ payments }: ApplicationState, id: PaymentId): CardPayment | undefined =>
  payments.cards.find(({ payment_id }) => payment_id === id)

const isPending = ({ status }: CardPayment): boolean => status !== 'returning' && status !== 'returned'

/** Why a payment for a quote has to be given back; undefined while the quote can be bought. */
const whyNotNeeded = ({ quotes }: ApplicationState, quote_id: QuoteId): ReturnReason | undefined => {
  const status = quotes.find(({ quote }) => quote.id === quote_id)?.quote.status
  return status === 'current' ? undefined : status === 'bought' ? 'not_used' : 'quote_ended'
}

const returnIfNotNeeded = (state: ApplicationState, { payment_id, quote_id }: Opened): Decision => {
  const reason = whyNotNeeded(state, quote_id)
  return reason ? [{ type: 'CardPaymentReturnOwed', payment_id, reason }] : []
}

export const openCardPayment = ({ type: _type, ...opened }: OpenCardPayment, state: ApplicationState): Decision =>
  cardOf(state, opened.payment_id)
    ? []
    : [{ type: 'CardPaymentOpened', ...opened }, ...returnIfNotNeeded(state, opened)]

/** A payment for a quote that can no longer be bought is taken, since it was paid, and given back. */
export const takeCardPayment = (command: TakeCardPayment, state: ApplicationState): Decision => {
  const { type: _type, status, card_brand, card_last4, paid_at, idempotency_key, ...opened } = command
  const { payment_id } = opened
  const known = cardOf(state, payment_id)
  // News may come in any order: what was given back is not paid any more.
  if (known?.status === 'returned') return []
  const opening: Decision = known ? [] : [{ type: 'CardPaymentOpened', ...opened, idempotency_key: null }]
  const taken = {
    type: 'CardPaymentTaken',
    payment_id,
    status,
    card_brand,
    card_last4,
    paid_at,
    idempotency_key,
  } as const
  if (!known || known.paid_at === null)
    return [...opening, taken, ...(known?.status === 'returning' ? [] : returnIfNotNeeded(state, opened))]
  return status === 'succeeded' && !known.charged
    ? [{ type: 'CardPaymentCaptured', payment_id, policy_id: known.policy_id }]
    : []
}

export const declineCardPayment = (
  { payment_id, failure_code }: DeclineCardPayment,
  state: ApplicationState,
): Decision => {
  const card = cardOf(state, payment_id)
  if (card?.status !== 'open' || card.failure_code === failure_code) return []
  return [{ type: 'CardPaymentDeclined', payment_id, failure_code }]
}

export const recordCardCapture = ({ payment_id }: RecordCardCapture, state: ApplicationState): Decision => {
  const card = cardOf(state, payment_id)
  if (card?.status !== 'authorised') return []
  return [{ type: 'CardPaymentCaptured', payment_id, policy_id: card.policy_id }]
}

export const oweCardReturn = ({ payment_id, reason }: OweCardReturn, state: ApplicationState): Decision => {
  const card = cardOf(state, payment_id)
  // What was charged for a policy is settled with its premium.
  if (card?.charged === true && card.policy_id !== null) return []
  return card && isPending(card) ? [{ type: 'CardPaymentReturnOwed', payment_id, reason }] : []
}

export const returnUnusedCardPayment = (
  { payment_id, now }: ReturnUnusedCardPayment,
  state: ApplicationState,
): Decision => {
  const card = cardOf(state, payment_id)
  if (!card || !isPending(card) || card.policy_id !== null || card.paid_at === null) return []
  if (Date.parse(unusedAt(card.paid_at)) > Date.parse(now)) return []
  return [{ type: 'CardPaymentReturnOwed', payment_id, reason: 'not_used' }]
}

export const closeQuotePayments = ({ quote_id }: CloseQuotePayments, state: ApplicationState): Decision => {
  const reason = whyNotNeeded(state, quote_id)
  if (!reason) return []
  return state.payments.cards
    .filter((card) => card.quote_id === quote_id && isPending(card) && card.policy_id === null)
    .map(({ payment_id }) => ({ type: 'CardPaymentReturnOwed', payment_id, reason }))
}

/** A payment used for a sale is settled with the policy, unless the application was to return it already. */
export const recordCardReturn = ({ type: _type, ...returned }: RecordCardReturn, state: ApplicationState): Decision => {
  const card = cardOf(state, returned.payment_id)
  if (!card || card.status === 'returned' || (card.policy_id !== null && card.status !== 'returning')) return []
  const { payment_id } = returned
  const { policy_id } = card
  // It may be heard of before the charge is.
  const isNews = returned.how === 'refunded' && !card.charged
  return [
    ...(isNews ? [{ type: 'CardPaymentCaptured', payment_id, policy_id } as const] : []),
    { type: 'CardPaymentReturned', ...returned, policy_id },
  ]
}

/** A part that somebody gave back by hand has left it paid, and so does its failure. */
export const recordReturnFailure = (
  { type: _type, ...failed }: RecordReturnFailure,
  state: ApplicationState,
): Decision => {
  const card = cardOf(state, failed.payment_id)
  const isOwed = card?.status === 'returned' || card?.status === 'returning'
  // What was closed is closed.
  return isOwed && card.closed_as === null && !card.failed_refunds.includes(failed.provider_refund_id)
    ? [{ type: 'CardPaymentReturnFailed', ...failed, policy_id: card.policy_id }]
    : []
}

export const recordSettlementFailure = (
  { payment_id, failure_code, now }: RecordSettlementFailure,
  state: ApplicationState,
): Decision => {
  const card = cardOf(state, payment_id)
  if (!card || card.status === 'returned' || isTooEarly(state.settlement_retry_at[payment_id], now)) return []
  const retry_at = retryAt(card.failed_attempts, now)
  const attempt = card.failed_attempts + 1
  return [{ type: 'CardPaymentSettlementFailed', payment_id, failure_code, attempt, retry_at }]
}

export const requestSettlement = ({ payment_id, note }: RequestSettlement, state: ApplicationState): Decision => {
  const card = cardOf(state, payment_id)
  if (!card) throw unknownCard()
  if (!card.is_left) return []
  const work = card.status === 'returning' ? 'return' : 'capture'
  return [{ type: 'CardPaymentSettlementRequested', payment_id, work, ...(note !== undefined && { note }) }]
}

export const closeCardReturn = ({ payment_id, closing }: CloseCardReturn, state: ApplicationState): Decision => {
  const card = cardOf(state, payment_id)
  if (!card) throw unknownCard()
  const { policy_id, status, is_left, closed_as } = card
  const { how } = closing
  if (closed_as === how) return []
  if (status !== 'returning') throw new Rejection('conflict', `Nothing of this card payment is owed: it is ${status}.`)
  if (!is_left)
    throw new Rejection(
      'conflict',
      'It is still tried to give this back. It can be closed once it is left to the team.',
    )
  return [
    {
      type: 'CardPaymentReturnClosed',
      payment_id,
      policy_id,
      how,
      paid_on: how === 'paid_otherwise' ? closing.paid_on : null,
      reason: closing.reason,
    },
  ]
}

const unknownCard = () => new Rejection('not_found', 'There is no card payment with this id. Check the address.')
