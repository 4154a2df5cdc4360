import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { paymentEvents, type PaymentEvent } from '#domain/payments/events.ts'
import { unusedAt } from '#domain/payments/record.ts'
import { cardPaymentTimers } from '#domain/timer-kinds.ts'
import type { Row } from './row.ts'

type Kind = (typeof cardPaymentTimers)[number]

type CardEvent = Extract<PaymentEvent, { readonly payment_id: unknown }>
type DueKey = Omit<Row, 'due_at' | 'after_days'>

export const isCardEvent = (event: ApplicationStreamEvent): event is CardEvent =>
  event.type in paymentEvents && 'payment_id' in event

export const isCardPaymentKind = (kind: string): kind is Kind => cardPaymentTimers.some((each) => each === kind)

/** An authorised payment is charged once a policy has followed, and not before. */
const notYet = '9999-12-31T00:00:00.000Z'

export const cardPaymentDue = (
  kind: Kind,
  row: Row | undefined,
  event: CardEvent,
  dueKey: DueKey,
  occurred_at: string,
): Row | undefined => {
  const due = (due_at: string): Row => ({ ...dueKey, due_at, after_days: null })
  switch (event.type) {
    case 'CardPaymentOpened':
    case 'CardPaymentDeclined':
      return row
    case 'CardPaymentTaken':
      if (kind === 'card_payment_unused') return due(unusedAt(event.paid_at))
      return kind === 'card_payment_capture' && event.status === 'authorised' ? due(notYet) : row
    case 'CardPaymentUsed':
      return kind === 'card_payment_capture' && row ? due(occurred_at) : undefined
    case 'CardPaymentCaptured':
      return kind === 'card_payment_capture' ? undefined : row
    case 'CardPaymentReturnOwed':
      return kind === 'card_payment_return' ? due(occurred_at) : undefined
    case 'CardPaymentReturned':
    case 'CardPaymentReturnFailed':
    case 'CardPaymentReturnClosed':
      return undefined
    case 'CardPaymentSettlementFailed':
      if (!row || kind === 'card_payment_unused') return row
      return event.retry_at === null ? undefined : due(event.retry_at)
    case 'CardPaymentSettlementRequested':
      return kind === `card_payment_${event.work}` ? due(occurred_at) : row
  }
}
