import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { PolicyId, ApplicationId, CurrencyCode, Pence } from '../values.ts'
import { PremiumId, PremiumMethod, PremiumRefundId } from '../premiums/events.ts'
import { PaymentId, ProviderId, ProviderWord } from './events.ts'

/** What a payment pays for, as far as that is decided: by it the premium's record is kept up to date. */
const payment = { payment_id: PaymentId, policy_id: PolicyId.nullable(), premium_id: PremiumId.nullable() }
const refund = { ...payment, refund_id: PremiumRefundId.nullable(), refund_pence: Pence }
const dispute = { ...payment, provider_dispute_id: ProviderId, disputed_pence: Pence }

/**
 * Stream `payment-<payment id>`: one payment at the provider, by card or by Direct Debit. All of these but what is asked are what
 * the provider said, each refund and each dispute under its own id there.
 */
export const paymentStreamEvents = {
  /** Written before the provider is asked: whoever is killed in between leaves a payment that is looked for. */
  PaymentOpened: event({
    ...payment,
    application_id: ApplicationId,
    method: PremiumMethod,
    /** How often the premium was asked for, this time included; null: it was not for a premium yet. */
    attempt: z.int().positive().nullable(),
    amount_pence: Pence,
    currency_code: CurrencyCode,
  }),
  /** The provider has it, under this id. */
  PaymentTakenOn: event({ ...payment, payment_intent_id: ProviderId }),
  /** The policy that it pays for is set up. */
  PaymentAssigned: event({ ...payment, attempt: z.int().positive() }),
  PaymentAuthorised: event(payment),
  PaymentCaptured: event({ ...payment, captured_pence: Pence, captured_at: z.iso.datetime() }),
  /** A debit will not be paid any more; a card may be, at the next try. */
  PaymentFailed: event({ ...payment, failure_code: ProviderWord }),
  PaymentCancelled: event(payment),
  /** Written before the provider is asked to give it back. */
  PaymentRefundAsked: event({ ...refund, refund_id: PremiumRefundId, idempotency_key: z.string() }),
  /** `refund_id` is null where it was made by hand at the provider. */
  PaymentRefundMade: event({ ...refund, provider_refund_id: ProviderId }),
  /** `provider_refund_id` is null where the provider has refused to make it. */
  PaymentRefundFailed: event({ ...refund, provider_refund_id: ProviderId.nullable(), failure_code: ProviderWord }),
  PaymentDisputeOpened: event(dispute),
  PaymentDisputeWon: event(dispute),
  PaymentDisputeLost: event(dispute),
}
export type PaymentStreamEvent = EventOf<typeof paymentStreamEvents>
