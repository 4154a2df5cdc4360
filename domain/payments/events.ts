import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { PremiumId, PremiumMethod, PremiumRefundId } from '../premiums/events.ts'
import {
  ApplicationId,
  CalendarDate,
  CurrencyCode,
  CustomerId,
  Pence,
  PolicyId,
  ProductId,
  QuoteId,
  ProviderId,
  ProviderWord,
} from '../values.ts'

/** Our own id of a payment. It follows from the provider's, so that whoever hears of it first gives it the same. */
export const PaymentId = z.uuid().toLowerCase().brand<'PaymentId'>()
export type PaymentId = z.infer<typeof PaymentId>

/** Our own id of a Direct Debit mandate, which likewise follows from the provider's. */
export const MandateId = z.uuid().toLowerCase().brand<'MandateId'>()
export type MandateId = z.infer<typeof MandateId>

export const Last4 = z.string().regex(/^\d{4}$/)

/** A bank account as it was sent, for whoever collects from it. */
export const BankDetails = z.object({
  account_holder_name: z.string(),
  /** Six digits. */
  sort_code: z.string(),
  /** Eight digits. */
  account_number: z.string(),
  address_line1: z.string().nullable(),
  address_line2: z.string().nullable(),
  address_city: z.string().nullable(),
  address_postal_code: z.string().nullable(),
})
export type BankDetails = z.infer<typeof BankDetails>

export const MandateEnd = z.enum(['refused', 'revoked', 'inactive'])

/** Why a card payment is given back. */
export const ReturnReason = z.enum(['quote_ended', 'not_used', 'bind_failed', 'policy_cancelled', 'operator'])
export type ReturnReason = z.infer<typeof ReturnReason>

/** The way it went back: paid back, an authorisation let go, or closed before anything was paid. */
export const ReturnedHow = z.enum(['refunded', 'released', 'closed'])

const payment = { payment_id: PaymentId }

/** Stream `application-<application id>`: what is paid, and how, is decided together with the sale. */
export const paymentEvents = {
  BankDetailsSaved: event(
    {
      quote_id: QuoteId,
      /** Null while the application has no customer. */
      customer_id: CustomerId.nullable(),
      bank_details: personal(BankDetails),
      account_number_last4: Last4,
    },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** The provider's own form for a Direct Debit was opened. */
  MandateSessionOpened: event({ quote_id: QuoteId, session_id: ProviderId, provider_customer_id: ProviderId }),
  MandateCreated: event(
    {
      quote_id: QuoteId,
      mandate_id: MandateId,
      /** The session it was made in; null: made from bank details that were sent to us. */
      session_id: ProviderId.nullable(),
      provider_mandate_id: ProviderId.nullable(),
      provider_customer_id: ProviderId,
      provider_payment_method_id: ProviderId,
      account_number_last4: Last4.nullable(),
      /** Receivers choose their events by it. Null in version 1. */
      product_id: ProductId.nullable(),
    },
    { upcasts: [(v1) => ({ ...v1, product_id: null })] },
  ),
  /** The banks have accepted it. */
  MandateActivated: event({ mandate_id: MandateId }),
  /** The banks have refused it. */
  MandateFailed: event({ mandate_id: MandateId }),
  /** The customer or the bank has ended it. */
  MandateCancelled: event({ mandate_id: MandateId, end: MandateEnd }),

  /** The first premium can be paid by card. */
  CardPaymentOpened: event({
    ...payment,
    quote_id: QuoteId,
    payment_intent_id: ProviderId,
    provider_customer_id: ProviderId,
    amount_pence: Pence,
    currency_code: CurrencyCode,
    /** Chosen by the caller, who may put anything into it. */
    idempotency_key: personal(z.string()).nullable(),
  }),
  /** An attempt to pay has failed; the next may succeed. */
  CardPaymentDeclined: event({ ...payment, failure_code: ProviderWord.nullable() }),
  CardPaymentTaken: event(
    {
      ...payment,
      /** authorised: the card is charged when the policy is set up. */
      status: z.enum(['succeeded', 'authorised']),
      card_brand: ProviderWord.nullable(),
      card_last4: Last4.nullable(),
      paid_at: z.iso.datetime(),
      /** Chosen by the caller, who may put anything into it. */
      idempotency_key: personal(z.string()).nullable(),
    },
    { upcasts: [(v1) => ({ ...v1, idempotency_key: null })] },
  ),
  /** An authorised payment was charged. */
  CardPaymentCaptured: event(
    { ...payment, policy_id: z.uuid().nullable() },
    { upcasts: [(v1) => ({ ...v1, policy_id: null })] },
  ),
  /** A policy was set up, of which this is the first premium. */
  CardPaymentUsed: event({ ...payment, policy_id: z.uuid() }),
  CardPaymentReturnOwed: event({ ...payment, reason: ReturnReason }),
  CardPaymentReturned: event(
    { ...payment, policy_id: z.uuid().nullable(), how: ReturnedHow, amount_pence: Pence },
    { upcasts: [(v1) => ({ ...v1, policy_id: null })] },
  ),
  /** The owed capture or return has failed: it is tried again, or left to the team. */
  CardPaymentSettlementFailed: event({
    ...payment,
    failure_code: ProviderWord,
    attempt: z.int().positive(),
    retry_at: z.iso.datetime().nullable(),
  }),
  /** It was refunded, and days later the provider had it back from the card: it is owed, and left to the team. */
  CardPaymentReturnFailed: event({
    ...payment,
    policy_id: z.uuid().nullable(),
    failure_code: ProviderWord,
    provider_refund_id: ProviderId,
  }),
  /** A return that was owed, and failed on the card, was paid in another way or is owed no more. */
  CardPaymentReturnClosed: event({
    ...payment,
    policy_id: z.uuid().nullable(),
    how: z.enum(['paid_otherwise', 'not_owed', 'taken_back']),
    paid_on: CalendarDate.nullable(),
    reason: personal(z.string()).nullable(),
  }),
  /** The team has it tried once more. */
  CardPaymentSettlementRequested: event({
    ...payment,
    work: z.enum(['capture', 'return']),
    /** Why, in words; left out by versions that did not ask, and where a dispute that was won has it tried. */
    note: personal(z.string()).optional(),
  }),
}
export type PaymentEvent = EventOf<typeof paymentEvents>

/** The premium that a payment pays, as far as that is decided: it keeps the premium's record up to date. */
const paid = { payment_id: PaymentId, policy_id: PolicyId.nullable(), premium_id: PremiumId.nullable() }
const refund = { ...paid, refund_id: PremiumRefundId.nullable(), refund_pence: Pence }
const dispute = { ...paid, provider_dispute_id: ProviderId, disputed_pence: Pence }

/**
 * Stream `payment-<payment id>`: one payment at the provider, by card or by Direct Debit. All of these but what is asked are what
 * the provider said, each refund and each dispute under its own id there.
 */
export const paymentStreamEvents = {
  /** Written before the provider is asked: whoever is killed in between leaves a payment that is looked for. */
  PaymentOpened: event({
    ...paid,
    application_id: ApplicationId,
    method: PremiumMethod,
    /** The number of times the premium was asked for, this one included; null: not for a premium yet. */
    attempt: z.int().positive().nullable(),
    amount_pence: Pence,
    currency_code: CurrencyCode,
  }),
  /** The provider has it, under this id. */
  PaymentTakenOn: event({ ...paid, payment_intent_id: ProviderId }),
  /** The policy that it pays for is set up. */
  PaymentAssigned: event({ ...paid, attempt: z.int().positive() }),
  PaymentAuthorised: event(paid),
  PaymentCaptured: event({ ...paid, captured_pence: Pence, captured_at: z.iso.datetime() }),
  /** A debit will not be paid any more; a card may be, at the next try. */
  PaymentFailed: event({ ...paid, failure_code: ProviderWord }),
  PaymentCancelled: event(paid),
  /** Nothing could be learnt of it yet. */
  PaymentDelayed: event({ ...paid, retry_at: z.iso.datetime() }),
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
