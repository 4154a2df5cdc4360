import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { QuoteId, ReleaseId } from '../values.ts'

/** When the customer is given something: before the policy is set up, or right after. */
export const Given = z.enum(['before_bind', 'after_bind'])
export type Given = z.infer<typeof Given>

/** A version of a document about the product: a link, or a file that we serve. It never changes. */
export const KeyDocument = z.object({
  document_id: z.uuid(),
  version_id: z.uuid(),
  /** `initial_disclosure` is a step of its own: who we are, advised or not. */
  kind: z.string(),
  name: z.string(),
  given: Given,
  /** Null: a file of ours. */
  url: z.string().nullable(),
  file: z.object({ sha256: z.string(), media_type: z.string(), bytes: z.int() }).nullable(),
})
export type KeyDocument = z.infer<typeof KeyDocument>

/** The checkout terms of a release. */
export const Checkout = z.object({
  inline_bacs_mandate: z.boolean(),
  direct_debit_first: z.boolean(),
  /** Null: as the organisation. */
  stripe_test_mode: z.boolean().nullable(),
  policy_number_prefix: z.string(),
  /** The days of the month that premiums can be collected on. */
  collection_days: z.array(z.int()),
  /** Where required, a statement must be confirmed; while there is none the product cannot be bought on a form. */
  demands_and_needs: z.object({ required: z.boolean(), statement: z.string().nullable() }),
  key_documents: z.array(KeyDocument),
  /** The days are those of the release. */
  cancellation: z.object({ statement: z.string(), given: Given }).nullable(),
  /** The read-back before the purchase. */
  confirmation: z.object({ intro: z.string(), points: z.array(z.string()), question: z.string() }).nullable(),
})
export type Checkout = z.infer<typeof Checkout>

/** Steps that the customer sees and confirms before buying, in the order of the screen. */
export const SaleStep = z.enum([
  'initial_disclosure',
  'demands_and_needs',
  'key_documents_before_bind',
  'cancellation_rights_before_bind',
  'confirm_before_purchase',
])
export type SaleStep = z.infer<typeof SaleStep>

/** In hexadecimal. */
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Evidence of a step: what the screen showed, by digest and version. The texts themselves are in the release. */
export const ConfirmedStep = z.object({
  step: SaleStep,
  /** Of all that the step showed: a step with the same content is not owed again. */
  content_sha256: Sha256,
  /** Of the statement alone, where the step has one. */
  statement_sha256: Sha256.nullable(),
  documents: z.array(z.object({ document_id: z.uuid(), version_id: z.uuid() })),
  cancellation_days: z.int().nullable(),
})
export type ConfirmedStep = z.infer<typeof ConfirmedStep>

/** Stream `application-<application id>`, as all that leads to a sale. */
export const checkoutEvents = {
  StepsConfirmed: event({ quote_id: QuoteId, product_release_id: ReleaseId, steps: z.array(ConfirmedStep) }),
}
export type CheckoutEvent = EventOf<typeof checkoutEvents>
