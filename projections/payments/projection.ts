import { idOf, organisationOf, type EventOf } from '#domain/event.ts'
import { paymentEvents, paymentStreamEvents, type PaymentEvent } from '#domain/payments/events.ts'
import {
  evolvePayments,
  evolveSoldCard,
  evolveUnsoldCard,
  noPayments,
  type CardPayment,
  type Mandate,
} from '#domain/payments/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly kind: 'card_payment' | 'mandate'
  readonly application_id: string
  readonly quote_id: string
  /** The provider's id. */
  readonly reference: string | null
  readonly status: string
  readonly created_at: string
  readonly document: CardPayment | Mandate
}

const { BankDetailsSaved: _saved, MandateSessionOpened: _opened, ...ofSale } = paymentEvents
const { PaymentRefundAsked, PaymentRefundMade, PaymentRefundFailed } = paymentStreamEvents
const refundEvents = { PaymentRefundAsked, PaymentRefundMade, PaymentRefundFailed }
const events = { ...ofSale, ...refundEvents }

type RefundEvent = EventOf<typeof refundEvents>
type Shown = Exclude<PaymentEvent, { type: 'BankDetailsSaved' | 'MandateSessionOpened' }> | RefundEvent

const isRefund = (event: Shown): event is RefundEvent => event.type in refundEvents

/** Card payments and Direct Debit mandates, each as it stands. A card that was sold for says in its payment what is given back. */
export const payments: Projection<typeof events, Row, 'organisation_id' | 'id'> = {
  name: 'payments',
  version: 9,
  categories: ['application', 'payment'],
  events,
  sharesRows: true,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      kind: 'text',
      application_id: 'uuid',
      quote_id: 'uuid',
      reference: 'text',
      status: 'text',
      created_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      'organisation_id, reference',
      'organisation_id, created_at, id',
      'organisation_id, kind, created_at, id',
      'organisation_id, status, created_at, id',
      'organisation_id, application_id, created_at, id',
    ],
  },

  keys: (event, recorded) => [{ organisation_id: organisationOf(recorded), id: idIn(event) }],

  project: (row, event, { stream, metadata }, key) => {
    const before = row?.document
    if (isRefund(event)) {
      // That of a debit is shown with its premium alone; of a card that was not sold for, its application tells the status.
      if (!row || !before || !('payment_id' in before)) return row
      const document =
        event.premium_id === null ? evolveUnsoldCard(before, event) : evolveSoldCard(before, event, metadata)
      return { ...row, status: document.status, document }
    }
    const place = { ...key, application_id: idOf(stream) }
    if ('mandate_id' in event) {
      const mandate = before && 'mandate_id' in before ? before : null
      const after = evolvePayments({ ...noPayments, mandate }, event, metadata).mandate
      if (!after) throw new Error(`${event.type} of mandate ${key.id}, which was never created.`)
      const { quote_id, provider_mandate_id: reference, status, created_at } = after
      return { ...place, kind: 'mandate', quote_id, reference, status, created_at, document: after }
    }
    const cards = before && 'payment_id' in before ? [before] : []
    const [after] = evolvePayments({ ...noPayments, cards }, event, metadata).cards
    if (!after) throw new Error(`${event.type} of card payment ${key.id}, which was never opened.`)
    // Chosen by callers, who may put anything into them.
    const document = { ...after, idempotency_key: null, taken_with: null }
    const { quote_id, payment_intent_id: reference, status, opened_at: created_at } = after
    return { ...place, kind: 'card_payment', quote_id, reference, status, created_at, document }
  },
}

const idIn = (event: Shown): string => ('mandate_id' in event ? event.mandate_id : event.payment_id)
