import { z } from 'zod'
import { CustomIntegrationId, IntegrationConnectionId } from '../custom-integrations/events.ts'
import { CustomerDetails } from '../customers/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { Last4, MandateId } from '../payments/events.ts'
import { PriceStep, QuoteComponent, RateTableUsed } from '../rating/events.ts'
import { CollectionRules, defaultCollectionRules } from '../policy-rules/events.ts'
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
  ProviderId,
  ProviderWord,
} from '../values.ts'

export const PolicyNumber = z.string().regex(/^[A-Z0-9]{1,10}-\d{9}$/)

/** Stream `policy_number-<id>`. */
export const policyNumberEvents = {
  PolicyNumberClaimed: event({ organisation_id: OrganisationId, policy_number: PolicyNumber, policy_id: PolicyId }),
}
export type PolicyNumberEvent = EventOf<typeof policyNumberEvents>

export const MandateStatus = z.enum(['pending', 'active', 'failed', 'cancelled'])
export type MandateStatus = z.infer<typeof MandateStatus>

/** The payment provider's ids of a mandate and its payer: all that is needed to collect. */
export const ProviderMandate = z.object({
  provider_customer_id: ProviderId,
  provider_payment_method_id: ProviderId,
  provider_mandate_id: ProviderId.nullable(),
})
export type ProviderMandate = z.infer<typeof ProviderMandate>

/** Payment of the first premium. */
export const FirstPremium = z.object({
  method: z.enum(['card', 'direct_debit']),
  status: z.enum(['pending', 'authorised', 'succeeded', 'failed']),
  paid_at: z.iso.datetime().nullable(),
})
export type FirstPremium = z.infer<typeof FirstPremium>

/** A step for the customer right after the sale. */
export const GivenAfterBind = z.object({
  step: z.enum(['key_documents_after_bind', 'cancellation_rights_after_bind']),
  documents: z.array(z.object({ document_id: z.uuid(), version_id: z.uuid() })),
  cancellation_days: z.int().nullable(),
})
export type GivenAfterBind = z.infer<typeof GivenAfterBind>

export const SuspensionReason = z.enum(['arrears', 'operator'])
export type SuspensionReason = z.infer<typeof SuspensionReason>

/** Cover and premium from now on. */
export const PolicyTerms = z.object({
  premium_pence: Pence,
  annual_premium_pence: Pence,
  components: z.array(
    z.object({
      cover_index: z.int(),
      cover_amount_pence: Pence.nullable(),
      monthly_benefit_pence: Pence.nullable(),
      premium_pence: Pence,
    }),
  ),
})
export type PolicyTerms = z.infer<typeof PolicyTerms>

export const PolicyDocumentKind = z.enum(['policy_schedule', 'cancellation_notice'])
export type PolicyDocumentKind = z.infer<typeof PolicyDocumentKind>

export const CancellationReason = z.enum(['cooling_off', 'customer_request', 'arrears', 'claim', 'fraud', 'other'])
export type CancellationReason = z.infer<typeof CancellationReason>

/** Why a review could not be priced by itself. */
export const UnpricedReason = z.enum([
  /** No price is asked for: whoever concludes it, decides. */
  'by_the_team',
  /** The basis of the sale is no longer known. */
  'no_answers',
  /** A table that the covers name cannot price them: it is not there, or for other money or other questions. */
  'no_table',
  /** The tables have no rate at this age for the years that are left. */
  'no_rate',
  /** A reviewable cover falls year by year, or has a price from a list: no table says what it costs from now on. */
  'no_table_price',
  'not_offered',
])
export type UnpricedReason = z.infer<typeof UnpricedReason>

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
      /** Where it was moved to a working day: the day from which later collections are counted. */
      collected_from: CalendarDate.optional(),
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
      /** The organisation's time zone: its dates begin at midnight there. Version 1 has neither this nor what follows. */
      time_zone: z.string(),
      collection_rules: CollectionRules,
      /** Null: bank details were sent, and the mandate is still to be made from them. */
      provider_mandate: ProviderMandate.nullable(),
    },
    {
      subject: ({ customer_id }) => customer_id,
      upcasts: [
        (v1) => ({
          ...v1,
          time_zone: 'Europe/London',
          collection_rules: defaultCollectionRules,
          provider_mandate: null,
        }),
      ],
    },
  ),
  /** The second person of joint cover, whose details are under their own key. */
  PolicyPartnerRecorded: event(
    { customer_id: CustomerId, partner: personal(CustomerDetails) },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** A document was rendered and kept, sealed, under the id of its version; or it is one of the product's key documents. */
  PolicyDocumentIssued: event(
    {
      /** One of PolicyDocumentKind, or as the product names its key document. */
      kind: z.string(),
      document_id: z.uuid(),
      version_id: z.uuid(),
      /** Null of a key document. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .nullable(),
      bytes: z.int().nullable(),
      /** Of a key document: what it is called, and where it is; below our own address where it begins with a slash. */
      key_document: z.object({ name: z.string(), url: z.string() }).nullable(),
    },
    { upcasts: [(data) => ({ ...data, key_document: null })] },
  ),
  /** The mandate was made from the bank details that were sent. */
  PolicyMandateRecorded: event({
    mandate_id: MandateId,
    ...ProviderMandate.shape,
    account_number_last4: Last4.nullable(),
    status: MandateStatus,
  }),
  /** The banks have answered, or the mandate has ended. */
  PolicyMandateChanged: event(
    {
      mandate_id: MandateId,
      status: MandateStatus,
      /** The mandate's application: it records what a collection has proven. Null in version 1, where it did not. */
      application_id: ApplicationId.nullable(),
    },
    { upcasts: [(v1) => ({ ...v1, application_id: null })] },
  ),
  /** It could not be made: it is tried again. */
  PolicyMandateDelayed: event({
    failure_code: ProviderWord,
    attempt: z.int().positive(),
    retry_at: z.iso.datetime(),
  }),
  /** The provider will not make it, or has failed too often: it is left to the team. */
  PolicyMandateRefused: event({ failure_code: ProviderWord, attempt: z.int().positive() }),
  /** The team has it tried once more, or another one made in place of one that has ended. */
  PolicyMandateRequested: event(
    {
      attempt: z.int().positive(),
      /** The time at which the bank details for it were saved; null: those of the sale, or not recorded (before version 2). */
      bank_details_saved_at: z.iso.datetime().nullable(),
    },
    { upcasts: [(data) => ({ ...data, bank_details_saved_at: null })] },
  ),
  /** Cover has started. */
  PolicyActivated: event({ start_date: CalendarDate }),
  PolicyAmended: event(
    {
      customer_id: CustomerId,
      ...PolicyTerms.shape,
      collection_day: z.int(),
      next_collection_on: CalendarDate.nullable(),
      next_collection_at: z.iso.datetime().nullable(),
      note: personal(z.string()).nullable(),
    },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** The term of some covers is over while others go on: from the next premium on they are not paid for any more. */
  PolicyCoverEnded: event({ cover_indexes: z.array(z.int()), premium_pence: Pence, annual_premium_pence: Pence }),
  /** Cover and premium have followed prices. */
  PolicyIndexed: event({
    index_on: CalendarDate,
    ...PolicyTerms.shape,
    next_indexation_on: CalendarDate.nullable(),
    next_indexation_at: z.iso.datetime().nullable(),
  }),
  /** The figure of the year is not set up yet: it is looked for again. */
  PolicyIndexationDelayed: event({
    index_on: CalendarDate,
    reason: z.enum(['no_figure']),
    retry_at: z.iso.datetime(),
  }),
  /** The day has come on which reviewable premiums are reviewed, and they cannot be worked out: the team concludes it. */
  PolicyReviewDue: event(
    { review_on: CalendarDate, reason: UnpricedReason },
    // Before, every review was left to the team.
    { upcasts: [(v1) => ({ ...v1, reason: 'by_the_team' })] },
  ),
  PolicyReviewed: event({
    ...PolicyTerms.shape,
    next_review_on: CalendarDate.nullable(),
    next_review_at: z.iso.datetime().nullable(),
  }),
  /** The pricing of a review by itself, for one of the people: the steps of the whole are with those of the first. */
  PolicyReviewPriced: event(
    {
      customer_id: CustomerId,
      life: z.union([z.literal(1), z.literal(2)]),
      review_on: CalendarDate,
      rate_tables: z.array(RateTableUsed),
      /** They reveal the age and the health of the person. */
      components: personal(
        z.array(z.object({ cover_index: z.int(), term_years: z.int().nullable(), steps: z.array(PriceStep) })),
      ),
    },
    { subject: ({ customer_id }) => customer_id },
  ),
  /** A claim was paid, with which cover ends. */
  PolicyEndedByClaim: event({ claim_id: z.uuid(), ended_on: CalendarDate }),
  PolicySuspended: event({ reason: SuspensionReason, overdue_pence: Pence }),
  /** Covered again. What is due next is named, since what ended was due no more. */
  PolicyReinstated: event({
    from: z.enum(['suspended', 'lapsed']),
    next_collection_on: CalendarDate.nullable(),
    /** Where that was moved to a working day: the day from which later collections are counted. */
    collected_from: CalendarDate.optional(),
    next_collection_at: z.iso.datetime().nullable(),
    end_at: z.iso.datetime().nullable(),
    review_at: z.iso.datetime().nullable(),
    indexation_at: z.iso.datetime().nullable(),
  }),
  /** Cover has ended because premiums were not paid. */
  PolicyLapsed: event({ customer_id: CustomerId, lapsed_on: CalendarDate, overdue_pence: Pence }),
  /** The overdue premiums, since the oldest was due. Null: none. They are looked at again when they suspend or end cover. */
  ArrearsChanged: event({
    since: CalendarDate.nullable(),
    overdue_pence: Pence,
    check_at: z.iso.datetime().nullable(),
  }),
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
  /** The firm's own system sent an update of the policy. Its content is kept with its event. */
  PolicyUpdated: event({
    inbound_event_id: z.uuid(),
    custom_integration_id: CustomIntegrationId,
    integration_connection_id: IntegrationConnectionId,
    /** That system's name for it. */
    update_type: z.string(),
  }),
}
export type PolicyEvent = EventOf<typeof policyEvents>
