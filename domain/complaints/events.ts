import { z } from 'zod'
import { ClaimId } from '../claims/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { ApplicationId, CalendarDate, CustomerId, OrganisationId, Pence, PolicyId, ProductId } from '../values.ts'

export const ComplaintId = z.uuid().toLowerCase().brand<'ComplaintId'>()
export type ComplaintId = z.infer<typeof ComplaintId>

export const ComplaintNoteId = z.uuid().toLowerCase().brand<'ComplaintNoteId'>()
export type ComplaintNoteId = z.infer<typeof ComplaintNoteId>

export const RedressId = z.uuid().toLowerCase().brand<'RedressId'>()
export type RedressId = z.infer<typeof RedressId>

/** The causes of the complaints return to the FCA (DISP 1 Annex 1R), and claims, which that return counts among `other`. */
export const ComplaintCause = z.enum([
  'advice_and_sale',
  'information_and_charges',
  'administration_and_service',
  'arrears',
  'claim',
  'other',
])
export type ComplaintCause = z.infer<typeof ComplaintCause>

export const ComplaintDecision = z.enum(['upheld', 'partly_upheld', 'rejected'])
export type ComplaintDecision = z.infer<typeof ComplaintDecision>

/** The letter by which the customer was told: a final response, or the shorter one that is enough within three business days. */
export const ComplaintResponse = z.enum(['final_response', 'summary_resolution'])
export type ComplaintResponse = z.infer<typeof ComplaintResponse>

const about = { contact_id: CustomerId }
const subject = { subject: ({ contact_id }: { readonly contact_id: string }) => contact_id }
const text = personal(z.string())
const Instant = z.iso.datetime()

/** Stream `complaint-<complaint id>`. */
export const complaintEvents = {
  ComplaintOpened: event(
    {
      complaint_id: ComplaintId,
      organisation_id: OrganisationId,
      ...about,
      /** The policy or the application that it concerns, if any. */
      policy_id: PolicyId.nullable(),
      application_id: ApplicationId.nullable(),
      /** Of that policy. */
      claim_id: ClaimId.nullable(),
      product_id: ProductId.nullable(),
      cause: ComplaintCause,
      received_at: Instant,
      description: text,
      /** The last day on which a summary resolution is enough. */
      summary_by: CalendarDate,
      /** The last day for a decision. */
      respond_by: CalendarDate,
      /** When that day is over, where the organisation is. */
      overdue_from: Instant,
    },
    subject,
  ),
  ComplaintNoteAdded: event({ ...about, note_id: ComplaintNoteId, note: text }, subject),
  ComplaintDecided: event(
    {
      ...about,
      decision: ComplaintDecision,
      response: ComplaintResponse,
      reason: text,
      /** When the customer was told. */
      decided_at: Instant,
      /** The last day on which the customer may go to the ombudsman. */
      refer_by: CalendarDate,
    },
    subject,
  ),
  /** The firm has made good: nothing is paid by this. */
  ComplaintRedressed: event(
    { ...about, redress_id: RedressId, amount_pence: Pence.nullable(), action: text.nullable() },
    subject,
  ),
  ComplaintReferred: event(
    {
      ...about,
      referred_on: CalendarDate,
      reference: text,
      /** Of one that was withdrawn, when its day for a decision is over after all; null: that is as before. */
      overdue_from: Instant.nullable(),
    },
    { ...subject, upcasts: [(v1) => ({ ...v1, overdue_from: null })] },
  ),
  ComplaintClosed: event(
    {
      ...about,
      /** The customer does not pursue it. */
      withdrawn: z.boolean(),
      /** The last day for which the record must be kept. */
      keep_until: CalendarDate,
    },
    subject,
  ),
  /** Eight weeks have passed, and it is not decided. */
  ComplaintFellOverdue: event(about, subject),
}
export type ComplaintEvent = EventOf<typeof complaintEvents>
