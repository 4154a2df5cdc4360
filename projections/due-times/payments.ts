import { paymentStreamEvents, type PaymentStreamEvent } from '#domain/payments/events.ts'

/** The banks take up to seven working days; before, the provider mostly tells by itself. */
const checkAfterMs = 8 * 24 * 60 * 60 * 1000

export const isOfPayment = (event: { readonly type: string }): event is PaymentStreamEvent =>
  event.type in paymentStreamEvents

/** The time to look up a payment without a result; null: it has one; undefined: as before. */
export const paymentDueTime = (event: PaymentStreamEvent, occurred_at: string): string | null | undefined => {
  // A card that pays for no premium yet is looked after by its application.
  if (event.premium_id === null) return undefined
  switch (event.type) {
    case 'PaymentOpened':
    case 'PaymentTakenOn':
    case 'PaymentAuthorised':
      return new Date(Date.parse(occurred_at) + checkAfterMs).toISOString()
    case 'PaymentCaptured':
    case 'PaymentFailed':
    case 'PaymentCancelled':
      return null
    case 'PaymentDelayed':
      return event.retry_at
    case 'PaymentAssigned':
    case 'PaymentRefundAsked':
    case 'PaymentRefundMade':
    case 'PaymentRefundFailed':
    case 'PaymentDisputeOpened':
    case 'PaymentDisputeWon':
    case 'PaymentDisputeLost':
      return undefined
  }
}
