import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { CalendarDate, CurrencyCode, CustomerId, Pence, ProductId, QuoteId } from '../values.ts'

/** Our own id of a payment. It follows from the provider's, so that whoever hears of it first gives it the same. */
export const PaymentId = z.uuid().toLowerCase().brand<'PaymentId'>()
export type PaymentId = z.infer<typeof PaymentId>

/** Our own id of a Direct Debit mandate, which likewise follows from the provider's. */
export const MandateId = z.uuid().toLowerCase().brand<'MandateId'>()
export type MandateId = z.infer<typeof MandateId>

/** What the payment provider calls something: `pi_…`, `mandate_…`, `cus_…`. */
export const ProviderId = z.string().regex(/^\w{1,255}$/)

/** A word of the provider's, such as `card_declined` or `visa`. */
export const ProviderWord = z.string().regex(/^[a-z0-9_]{1,100}$/)

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

/** How it was given back: paid back, an authorisation let go, or closed before anything was paid. */
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
      /** Null in version 1: by it receivers choose what they are told. */
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
  /** What was owed could not be done: it is tried again, or left to the team. */
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
  /** What was owed, and could not be given back on the card, was paid in another way or is owed no more. */
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
