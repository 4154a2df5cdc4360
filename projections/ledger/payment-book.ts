import type { PaymentEvent, PaymentStreamEvent } from '#domain/payments/events.ts'
import {
  added,
  noCounters,
  positionOfClosed,
  positionOfPayment,
  type Amounts,
  type ClosedPence,
  type Counters,
} from '#domain/ledger/record.ts'
import { sumOf } from '#domain/money.ts'

export type CardPaymentEvent = Extract<PaymentEvent, { payment_id: unknown }>

export const isOfCard = <Event extends { readonly type: string }>(
  event: Event,
): event is Event & Extract<Event, { type: `CardPayment${string}` }> => event.type.startsWith('CardPayment')

/** A payment at the provider, as the ledger knows it. */
export type PaymentBook = {
  readonly currency_code: string
  readonly test: boolean
  readonly policy_id: string | null
  readonly premium_id: string | null
  readonly payment_intent_id: string | null
  readonly amount_pence: number
  /** The banks, or the card, have not answered yet. */
  readonly is_open: boolean
  /** A policy is set up, of which it pays a premium. */
  readonly is_used: boolean
  /** Sums from the events of the application and the policy: all there is of a payment that has no stream. */
  readonly former: Counters
  readonly closed: ClosedPence
  /** Sums from its own stream; null: it has none yet. */
  readonly told: {
    readonly captured: number
    /** By the id at the provider. */
    readonly refunds: Readonly<Record<string, { readonly pence: number; readonly has_failed: boolean }>>
    readonly disputes: Readonly<Record<string, { readonly pence: number; readonly status: 'open' | 'won' | 'lost' }>>
  } | null
}

const countersOfStream = ({ captured, ...told }: NonNullable<PaymentBook['told']>): Counters => {
  const refunds = Object.values(told.refunds)
  const disputes = Object.values(told.disputes)
  const ended = (status: 'won' | 'lost') => sumOf(disputes, (each) => (each.status === status ? each.pence : 0))
  return {
    captured,
    refunded: sumOf(refunds, ({ pence }) => pence),
    refunds_failed: sumOf(refunds, ({ pence, has_failed }) => (has_failed ? pence : 0)),
    disputed: sumOf(disputes, ({ pence }) => pence),
    won: ended('won'),
    lost: ended('lost'),
  }
}

/**
 * As soon as a payment has a stream, nothing that other streams say of it counts any more. A payment of the former model gets its
 * stream by a look at the provider, which tells of all that was posted already, event by event: until it has told of as much, what
 * was posted stands, so that nothing is posted twice or taken back in between.
 */
export const countersOf = (book: Pick<PaymentBook, 'former' | 'told' | 'amount_pence'>): Counters => {
  const { former, told } = book
  if (!told) return former
  const { captured, refunded, refunds_failed, ...disputes } = countersOfStream(told)
  const { disputed, won, lost } = hasToldDisputes(book) ? disputes : former
  // Of a card that was not sold for, a dispute stood as a return, and its being won as the failure of that.
  const [returned, failed] = former.disputed === 0 ? [disputed, won] : [0, 0]
  return {
    captured: Math.max(former.captured, captured),
    refunded: Math.max(former.refunded - returned, refunded),
    refunds_failed: Math.max(former.refunds_failed - failed, refunds_failed),
    disputed,
    won,
    lost,
  }
}

/** The stream has as many disputes. They may be of a part, and were taken to be of all before. */
const hasToldDisputes = ({
  former,
  told,
  amount_pence,
}: Pick<PaymentBook, 'former' | 'told' | 'amount_pence'>): boolean => {
  const disputes = Object.values(told?.disputes ?? {})
  const ended = disputes.filter(({ status }) => status !== 'open')
  return disputes.length * amount_pence >= former.disputed && ended.length * amount_pence >= former.won + former.lost
}

export const positionOfBook = (book: PaymentBook | undefined): Amounts =>
  book ? added(positionOfPayment(countersOf(book), book.is_used), positionOfClosed(book.closed)) : {}

/** Pence paid for its premium. */
export const paidBy = (book: PaymentBook | undefined): number =>
  book?.premium_id ? (positionOfBook(book).receivable ?? 0) : 0

/** Facts about a payment when it first appears. */
export type Opening = { readonly test: boolean; readonly former: Counters }

export const evolveBook = (
  book: PaymentBook | undefined,
  event: PaymentStreamEvent | CardPaymentEvent,
  { test, former }: Opening,
): PaymentBook => {
  if (event.type === 'CardPaymentOpened') {
    const { currency_code, amount_pence, payment_intent_id } = event
    return { ...unopened, currency_code, test, amount_pence, payment_intent_id }
  }
  if (event.type === 'PaymentOpened') {
    const { currency_code, amount_pence, policy_id, premium_id } = event
    const before = book ?? { ...unopened, currency_code, test, amount_pence }
    const is_used = before.is_used || premium_id !== null
    return {
      ...before,
      policy_id: policy_id ?? before.policy_id,
      premium_id,
      is_used,
      is_open: true,
      former: sums(before.former, former),
      told: untold,
    }
  }
  if (!book) throw new Error(`${event.type} of payment ${event.payment_id}, which was never opened.`)
  if (event.type === 'PaymentAssigned') {
    const { policy_id, premium_id } = event
    return { ...book, policy_id, premium_id, is_used: true, former: sums(book.former, former) }
  }
  return { ...book, ...(isOfCard(event) ? cardChange(book, event) : changeBy(book, event)) }
}

export const sums = (one: Counters, other: Counters): Counters => ({
  captured: one.captured + other.captured,
  refunded: one.refunded + other.refunded,
  refunds_failed: one.refunds_failed + other.refunds_failed,
  disputed: one.disputed + other.disputed,
  won: one.won + other.won,
  lost: one.lost + other.lost,
})

const untold: PaymentBook['told'] = { captured: 0, refunds: {}, disputes: {} }
const unopened = {
  policy_id: null,
  premium_id: null,
  payment_intent_id: null,
  is_open: true,
  is_used: false,
  former: noCounters,
  closed: { paid_otherwise: 0, not_owed: 0 },
  told: null,
}

type Change = Partial<PaymentBook>
type LaterOfCard = Exclude<CardPaymentEvent, { type: 'CardPaymentOpened' }>
type Later = Exclude<PaymentStreamEvent, { type: 'PaymentOpened' | 'PaymentAssigned' }>

const changeBy = (book: PaymentBook, event: Later): Change => {
  const { told } = book
  switch (event.type) {
    case 'PaymentTakenOn':
      return { payment_intent_id: event.payment_intent_id }
    case 'PaymentAuthorised':
      return { is_open: true }
    case 'PaymentFailed':
    case 'PaymentCancelled':
      return { is_open: false }
    case 'PaymentCaptured':
      return { is_open: false, told: told && { ...told, captured: event.captured_pence } }
    case 'PaymentDelayed':
    case 'PaymentRefundAsked':
      return {}
    case 'PaymentRefundMade':
    case 'PaymentRefundFailed': {
      const { provider_refund_id: id, refund_pence: pence } = event
      if (!told || id === null) return {}
      const has_failed = event.type === 'PaymentRefundFailed'
      return { told: { ...told, refunds: { ...told.refunds, [id]: { pence, has_failed } } } }
    }
    case 'PaymentDisputeOpened':
    case 'PaymentDisputeWon':
    case 'PaymentDisputeLost': {
      const { provider_dispute_id: id, disputed_pence: pence } = event
      const status = statusBy[event.type]
      return { told: told && { ...told, disputes: { ...told.disputes, [id]: { pence, status } } } }
    }
  }
}

const statusBy = { PaymentDisputeOpened: 'open', PaymentDisputeWon: 'won', PaymentDisputeLost: 'lost' } as const

/**
 * The change by an application's event on a card payment. Once that is used, its refunds are recorded by its policy, or its
 * stream.
 */
const cardChange = (book: PaymentBook, event: LaterOfCard): Change => {
  const { former, closed, amount_pence, is_used, told } = book
  // What has a stream is told of there.
  const counted = (change: Partial<Counters>): Change => (told ? {} : { former: { ...former, ...change } })
  switch (event.type) {
    case 'CardPaymentTaken':
      return event.status === 'succeeded' ? { is_open: false, ...counted({ captured: amount_pence }) } : {}
    case 'CardPaymentCaptured':
      return { is_open: false, ...counted({ captured: amount_pence }) }
    case 'CardPaymentUsed':
      return { policy_id: event.policy_id, is_used: true }
    case 'CardPaymentReturned': {
      if (event.how !== 'refunded') return { is_open: false }
      // Versions before have recorded a return without the charge, of which they had not heard.
      const captured = Math.max(former.captured, event.amount_pence)
      return is_used ? {} : counted({ captured, refunded: former.refunded + event.amount_pence })
    }
    case 'CardPaymentReturnFailed':
      return is_used ? {} : counted({ refunds_failed: former.refunded })
    case 'CardPaymentReturnClosed': {
      if (is_used) return {}
      const { captured, refunded, refunds_failed, disputed, won } = countersOf(book)
      const left = captured - refunded + refunds_failed - disputed + won
      if (event.how === 'taken_back') return counted({ disputed: former.disputed + left, lost: former.lost + left })
      return { closed: { ...closed, [event.how]: closed[event.how] + left } }
    }
    case 'CardPaymentDeclined':
    case 'CardPaymentReturnOwed':
    case 'CardPaymentSettlementFailed':
    case 'CardPaymentSettlementRequested':
      return {}
  }
}
