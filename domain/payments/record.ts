import type { Recorded } from '../decider.ts'
import type { QuoteId } from '../values.ts'
import type { BankDetails, MandateId, PaymentEvent, PaymentId, PaymentStreamEvent, ReturnReason } from './events.ts'

/** The source of a collection's payment id: its premium, and the number of the attempt. */
export const debitPaymentKey = (premium_id: string, attempt: number) =>
  ['debit_payment', premium_id, String(attempt)] as const

/** The attempt to collect a premium is the card payment that the policy was sold for. */
export const isBySoldCard = (
  card_payment_id: string | null,
  number: number,
  attempt: number,
): card_payment_id is string => card_payment_id !== null && number === 1 && attempt === 1

export type MandateStatus = 'pending' | 'active' | 'failed' | 'cancelled'

export type Mandate = {
  readonly mandate_id: MandateId
  readonly quote_id: QuoteId
  readonly session_id: string | null
  readonly provider_mandate_id: string | null
  readonly provider_customer_id: string
  readonly provider_payment_method_id: string
  readonly account_number_last4: string | null
  readonly status: MandateStatus
  readonly created_at: string
}

export type SavedBankDetails = {
  readonly quote_id: QuoteId
  readonly bank_details: BankDetails
  readonly account_number_last4: string
  readonly saved_at: string
}

/**
 * `open`: can be paid; `authorised`: charged when the policy is set up; `succeeded`: paid; `returning`: to be given back;
 * `returned`: given back, or closed unpaid.
 */
export type CardPaymentStatus = 'open' | 'authorised' | 'succeeded' | 'returning' | 'returned'

export type CardPayment = {
  readonly payment_id: PaymentId
  readonly quote_id: QuoteId
  readonly payment_intent_id: string
  readonly provider_customer_id: string
  readonly status: CardPaymentStatus
  readonly amount_pence: number
  readonly currency_code: string
  readonly card_brand: string | null
  readonly card_last4: string | null
  readonly opened_at: string
  readonly paid_at: string | null
  /** Money has left the card: a return is then a refund, otherwise a release. */
  readonly charged: boolean
  /** The policy whose first premium it is. */
  readonly policy_id: string | null
  readonly return_reason: ReturnReason | null
  readonly returned_at: string | null
  readonly returned_pence: number
  /** The way it ended without the provider; null: it did not. */
  readonly closed_as: Of<'CardPaymentReturnClosed'>['how'] | null
  /** Why the last attempt to pay, or to settle what was owed, has failed. */
  readonly failure_code: string | null
  readonly failed_attempts: number
  /** Settling it has failed so often, or after it was given back, that it is left to the team. */
  readonly is_left: boolean
  /** The provider's ids of refunds that failed after they were made. */
  readonly failed_refunds: readonly string[]
  /** The reason that the team gave last, in words. */
  readonly note: string | null
  readonly idempotency_key: string | null
  /** The idempotency key of the request by which it was taken. */
  readonly taken_with: string | null
}

type MandateSession = {
  readonly quote_id: QuoteId
  readonly session_id: string
  readonly provider_customer_id: string
}

/** The payments of an application. Bank details and a mandate stay when the application is quoted again. */
export type Payments = {
  readonly bank_details: SavedBankDetails | null
  readonly mandate: Mandate | null
  readonly sessions: readonly MandateSession[]
  /** In the order in which they were opened: at most the last one of a quote is not returned. */
  readonly cards: readonly CardPayment[]
}

export const noPayments: Payments = { bank_details: null, mandate: null, sessions: [], cards: [] }

/** The payments after an event, for the command side and the read model alike. */
export const evolvePayments = (payments: Payments, event: PaymentEvent, { occurred_at }: Recorded): Payments => {
  if ('payment_id' in event) return { ...payments, cards: evolveCards(payments.cards, event, occurred_at) }
  switch (event.type) {
    case 'BankDetailsSaved': {
      const { quote_id, bank_details, account_number_last4 } = event
      return { ...payments, bank_details: { quote_id, bank_details, account_number_last4, saved_at: occurred_at } }
    }
    case 'MandateSessionOpened': {
      const { type: _type, ...session } = event
      return { ...payments, sessions: [...payments.sessions, session] }
    }
    case 'MandateCreated': {
      const { type: _type, product_id: _product, ...mandate } = event
      return { ...payments, mandate: { ...mandate, status: 'pending', created_at: occurred_at } }
    }
    case 'MandateActivated':
    case 'MandateFailed':
    case 'MandateCancelled': {
      const { mandate } = payments
      if (mandate?.mandate_id !== event.mandate_id) return payments
      return { ...payments, mandate: { ...mandate, status: mandateStatusAfter[event.type] } }
    }
  }
}

const mandateStatusAfter = {
  MandateActivated: 'active',
  MandateFailed: 'failed',
  MandateCancelled: 'cancelled',
} as const

type Of<Type> = Extract<PaymentEvent, { type: Type }>
type CardEvent = Extract<PaymentEvent, { payment_id: PaymentId }>

const evolveCards = (cards: Payments['cards'], event: CardEvent, occurred_at: string): Payments['cards'] =>
  event.type === 'CardPaymentOpened'
    ? [...cards, opened(event, occurred_at)]
    : cards.map((card) =>
        card.payment_id === event.payment_id ? { ...card, ...cardChange(card, event, occurred_at) } : card,
      )

const opened = (event: Of<'CardPaymentOpened'>, opened_at: string): CardPayment => {
  const { type: _type, ...given } = event
  return {
    ...given,
    status: 'open',
    card_brand: null,
    card_last4: null,
    opened_at,
    paid_at: null,
    charged: false,
    policy_id: null,
    return_reason: null,
    returned_at: null,
    returned_pence: 0,
    closed_as: null,
    failure_code: null,
    failed_attempts: 0,
    is_left: false,
    failed_refunds: [],
    note: null,
    taken_with: null,
  }
}

const cardChange = (
  card: CardPayment,
  event: Exclude<CardEvent, { type: 'CardPaymentOpened' }>,
  occurred_at: string,
): Partial<CardPayment> => {
  switch (event.type) {
    case 'CardPaymentDeclined':
      return { failure_code: event.failure_code }
    case 'CardPaymentTaken': {
      const { card_brand, card_last4, paid_at, idempotency_key: taken_with } = event
      // What is to be given back stays so, although it was paid meanwhile.
      const status = card.status === 'returning' ? card.status : event.status
      const charged = event.status === 'succeeded'
      return { status, card_brand, card_last4, paid_at, charged, taken_with, failure_code: null }
    }
    case 'CardPaymentCaptured':
      return { status: card.status === 'authorised' ? 'succeeded' : card.status, charged: true, ...settled }
    case 'CardPaymentUsed':
      return { policy_id: event.policy_id }
    case 'CardPaymentReturnOwed':
      return { status: 'returning', return_reason: event.reason, returned_at: null, closed_as: null, ...settled }
    case 'CardPaymentReturned':
      return { status: 'returned', returned_at: occurred_at, returned_pence: event.amount_pence, ...settled }
    case 'CardPaymentSettlementFailed':
      return { failure_code: event.failure_code, failed_attempts: event.attempt, is_left: event.retry_at === null }
    case 'CardPaymentReturnFailed': {
      const { failure_code, provider_refund_id } = event
      const failed_refunds = [...card.failed_refunds, provider_refund_id]
      const owed = { status: 'returning', returned_at: null, returned_pence: 0, failed_attempts: 0 } as const
      return { ...owed, failure_code, is_left: true, failed_refunds }
    }
    case 'CardPaymentReturnClosed': {
      const { how, reason } = event
      const returned_pence = how === 'paid_otherwise' ? card.amount_pence : 0
      const closed = { returned_at: occurred_at, returned_pence, closed_as: how, is_left: false, ...noted(reason) }
      return { status: 'returned', ...closed }
    }
    case 'CardPaymentSettlementRequested':
      return { is_left: false, ...noted(event.note) }
  }
}

type RefundEvent = Extract<
  PaymentStreamEvent,
  { type: 'PaymentRefundAsked' | 'PaymentRefundMade' | 'PaymentRefundFailed' }
>

/** A card that a policy was sold for, after a refund event of its payment. */
export const evolveSoldCard = (card: CardPayment, event: RefundEvent, { occurred_at }: Recorded): CardPayment => {
  const by = (pence: number) => {
    const returned_pence = card.returned_pence + pence
    const isWhole = returned_pence >= card.amount_pence
    const status = isWhole ? ('returned' as const) : ('succeeded' as const)
    return { ...card, ...settled, status, returned_pence, returned_at: isWhole ? occurred_at : null }
  }
  switch (event.type) {
    case 'PaymentRefundAsked':
      return { ...card, status: 'returning' }
    case 'PaymentRefundMade':
      return by(event.refund_pence)
    case 'PaymentRefundFailed':
      // One that the provider has refused to make has taken nothing.
      return { ...by(event.provider_refund_id === null ? 0 : -event.refund_pence), failure_code: event.failure_code }
  }
}

/** A card that no policy was sold for: its application says when all of it is given back, and its payment what part was. */
export const evolveUnsoldCard = (card: CardPayment, event: RefundEvent): CardPayment => {
  if (card.status === 'returning' || card.status === 'returned' || event.type === 'PaymentRefundAsked') return card
  const pence = event.type === 'PaymentRefundMade' ? event.refund_pence : -event.refund_pence
  const returned_pence = Math.min(card.amount_pence, Math.max(0, card.returned_pence + pence))
  return { ...card, returned_pence }
}

const settled = { failure_code: null, failed_attempts: 0, is_left: false } as const

/** The team's earlier note stays where it writes none. */
const noted = (note: string | null | undefined) => (note ? { note } : {})

/** The card payment that the first premium of a quote is paid with. */
export const cardPaymentOf = ({ cards }: Payments, quote_id: QuoteId): CardPayment | undefined =>
  cards.findLast((card) => card.quote_id === quote_id && (card.status === 'succeeded' || card.status === 'authorised'))

/** The mandate that can be collected on, as far as the banks have said: not one that they refused, or that has ended. */
export const usableMandate = ({ mandate }: Payments): Mandate | null =>
  mandate?.status === 'pending' || mandate?.status === 'active' ? mandate : null

/** An authorisation lapses after seven days, and nobody should wait for cover that they have paid for. */
const unusedAfterMs = 24 * 60 * 60 * 1000

/** When a payment that no policy has followed is given back. */
export const unusedAt = (paid_at: string): string => new Date(Date.parse(paid_at) + unusedAfterMs).toISOString()
