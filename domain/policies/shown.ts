import { z } from 'zod'
import { ApplicationCustomer } from '../customers/record.ts'
import { QuoteComponent } from '../rating/events.ts'
import { ApplicationId, CalendarDate, CurrencyCode, Pence, PolicyId, ProductId, QuoteId, ReleaseId } from '../values.ts'
import { CancellationReason, FirstPremium, MandateStatus } from './events.ts'

export const PolicyStatus = z
  .enum(['pending_start', 'active', 'suspended', 'lapsed', 'cancelled', 'expired', 'claimed'])
  .describe('suspended: premiums are in arrears. claimed: the benefit was paid, and cover has ended.')
export type PolicyStatus = z.infer<typeof PolicyStatus>

export const PolicyComponent = QuoteComponent.extend({
  status: z.enum(['pending_start', 'active', 'ended']),
  ends_on: CalendarDate.nullable(),
}).meta({ id: 'PolicyComponent' })
export type PolicyComponent = z.infer<typeof PolicyComponent>

export const PolicyDocument = z
  .object({
    document_id: z.uuid(),
    version_id: z.uuid(),
    kind: z.string(),
    name: z.string(),
    url: z.string(),
    issued_at: z.iso.datetime(),
  })
  .meta({ id: 'PolicyDocument' })
export type PolicyDocument = z.infer<typeof PolicyDocument>

/** A policy as it is shown. */
export const Policy = z
  .object({
    id: PolicyId,
    display_id: z.string(),
    policy_number: z.string().describe('The prefix, eight digits and a check digit (Luhn).'),
    status: PolicyStatus,
    application_id: ApplicationId,
    quote_id: QuoteId,
    product_id: ProductId,
    product_release_id: ReleaseId,
    customer: ApplicationCustomer,
    joint_customer: ApplicationCustomer.nullable(),
    currency_code: CurrencyCode,
    premium_pence: Pence.describe('A month.'),
    premium_frequency: z.literal('monthly'),
    annual_premium_pence: Pence,
    cover_amount_pence: Pence.nullable(),
    term_years: z.int().nullable(),
    components: z.array(PolicyComponent),
    start_date: CalendarDate,
    end_date: CalendarDate.nullable().describe('null: for the whole of life, and group plans.'),
    cooling_off_ends_on: CalendarDate.nullable(),
    collection_day: z.int(),
    first_collection_on: CalendarDate.describe(
      'On the collection day or, where no bank works on it, on the next working day.',
    ),
    next_collection_on: CalendarDate.nullable().describe('As the first. null: nothing is due any more.'),
    payment_method: z.object({
      type: z.literal('direct_debit'),
      account_number_last4: z.string().nullable(),
      mandate_id: z.string().nullable().describe('As the payment provider calls it.'),
      mandate_status: MandateStatus,
    }),
    first_premium: FirstPremium,
    documents: z
      .array(PolicyDocument)
      .describe('The schedule, the cancellation notice and the key documents of the product, once they are issued.'),
    next_review_on: CalendarDate.nullable(),
    next_indexation_on: CalendarDate.nullable(),
    cancelled_on: CalendarDate.nullable(),
    cancellation_reason: CancellationReason.nullable(),
    test: z.boolean().describe('Sold in a sandbox product, or with the test account of the payment provider.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Policy' })
export type Policy = z.infer<typeof Policy>
