import { z } from 'zod'
import { CustomerDetails } from '../customers/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { QuoteComponent } from '../rating/events.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  CurrencyCode,
  CustomerId,
  OrganisationId,
  Pence,
  PolicyId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '../values.ts'

export const PolicyNumber = z.string().regex(/^[A-Z0-9]{1,10}-\d{9}$/)

/** Stream `policy_number-<id>`. */
export const policyNumberEvents = {
  PolicyNumberClaimed: event({ organisation_id: OrganisationId, policy_number: PolicyNumber, policy_id: PolicyId }),
}
export type PolicyNumberEvent = EventOf<typeof policyNumberEvents>

export const MandateStatus = z.enum(['pending', 'active', 'failed', 'cancelled'])
export type MandateStatus = z.infer<typeof MandateStatus>

/** How the first premium is paid. */
export const FirstPremium = z.object({
  method: z.enum(['card', 'direct_debit']),
  status: z.enum(['pending', 'authorised', 'succeeded', 'failed']),
  paid_at: z.iso.datetime().nullable(),
})
export type FirstPremium = z.infer<typeof FirstPremium>

/** What the customer is given right after the sale. */
export const GivenAfterBind = z.object({
  step: z.enum(['key_documents_after_bind', 'cancellation_rights_after_bind']),
  documents: z.array(z.object({ document_id: z.uuid(), version_id: z.uuid() })),
  cancellation_days: z.int().nullable(),
})
export type GivenAfterBind = z.infer<typeof GivenAfterBind>

export const PolicyDocumentKind = z.enum(['policy_schedule', 'cancellation_notice'])
export type PolicyDocumentKind = z.infer<typeof PolicyDocumentKind>

export const CancellationReason = z.enum(['cooling_off', 'customer_request', 'arrears', 'claim', 'fraud', 'other'])
export type CancellationReason = z.infer<typeof CancellationReason>

/** Stream `policy-<policy id>`. */
export const policyEvents = {
  PolicyBound: event(
    {
      policy_id: PolicyId,
      policy_number: PolicyNumber,
      organisation_id: OrganisationId,
      application_id: ApplicationId,
      /** The API application that started the application. */
      api_application_id: ApiApplicationId,
      quote_id: QuoteId,
      product_id: ProductId,
      product_release_id: ReleaseId,
      customer_id: CustomerId,
      customer: personal(CustomerDetails),
      currency_code: CurrencyCode,
      premium_pence: Pence,
      annual_premium_pence: Pence,
      cover_amount_pence: Pence.nullable(),
      term_years: z.int().nullable(),
      /** They tell about the health of the person. */
      components: personal(z.array(QuoteComponent)),
      start_date: CalendarDate,
      end_date: CalendarDate.nullable(),
      cooling_off_ends_on: CalendarDate.nullable(),
      collection_day: z.int(),
      first_collection_on: CalendarDate,
      /** Null: bank details were sent, and the mandate is still to be made from them. */
      mandate_id: z.uuid().nullable(),
      mandate_status: MandateStatus,
      account_number_last4: z
        .string()
        .regex(/^\d{4}$/)
        .nullable(),
      first_premium: FirstPremium,
      card_payment_id: z.uuid().nullable(),
      next_review_on: CalendarDate.nullable(),
      next_indexation_on: CalendarDate.nullable(),
      given_after_bind: z.array(GivenAfterBind),
      /** Sold in a sandbox product or with the payment provider's test account. */
      test: z.boolean(),
    },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** The second person of joint cover, whose details are under their own key. */
  PolicyPartnerRecorded: event(
    { customer_id: CustomerId, partner: personal(CustomerDetails) },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** A document was rendered and kept, sealed, under the id of its version. */
  PolicyDocumentIssued: event({
    kind: PolicyDocumentKind,
    document_id: z.uuid(),
    version_id: z.uuid(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.int(),
  }),
  /** Cover has started. */
  PolicyActivated: event({ start_date: CalendarDate }),
  PolicyCancelled: event({
    application_id: ApplicationId,
    /** The payment of the first premium, where it was by card. */
    card_payment_id: z.uuid().nullable(),
    reason: CancellationReason,
    note: personal(z.string()).nullable(),
    effective_on: CalendarDate,
    cooling_off: z.boolean(),
    refund_pence: Pence,
  }),
  /** Cover has come to the end of its term. */
  PolicyExpired: event({ end_date: CalendarDate }),
}
export type PolicyEvent = EventOf<typeof policyEvents>
