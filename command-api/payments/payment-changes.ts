import { paymentStreamEvents } from '#domain/payments/events.ts'

const { PaymentCaptured, PaymentFailed, PaymentCancelled, PaymentRefundMade, PaymentRefundFailed } = paymentStreamEvents
const { PaymentDisputeOpened, PaymentDisputeWon, PaymentDisputeLost } = paymentStreamEvents

/** The events by which a payment holds more, or less, or will hold nothing. */
export const paymentChanges = {
  PaymentCaptured,
  PaymentFailed,
  PaymentCancelled,
  PaymentRefundMade,
  PaymentRefundFailed,
  PaymentDisputeOpened,
  PaymentDisputeWon,
  PaymentDisputeLost,
}
