import { z } from 'zod'
import { ClaimId } from '../claims/events.ts'
import type { Recorded } from '../decider.ts'
import { ApplicationId, CalendarDate, CustomerId, OrganisationId, Pence, PolicyId, ProductId } from '../values.ts'
import {
  ComplaintCause,
  ComplaintDecision,
  ComplaintId,
  ComplaintNoteId,
  ComplaintResponse,
  RedressId,
  type ComplaintEvent,
} from './events.ts'

export const ComplaintState = z.enum(['open', 'decided', 'referred', 'closed'])
export type ComplaintState = z.infer<typeof ComplaintState>

/** A complaint as it stands, with its clocks. */
export const Complaint = z
  .object({
    id: ComplaintId,
    organisation_id: OrganisationId,
    contact_id: CustomerId.describe('The customer or contact who complains: `customer.id` elsewhere.'),
    policy_id: PolicyId.nullable(),
    application_id: ApplicationId.nullable(),
    claim_id: ClaimId.nullable(),
    product_id: ProductId.nullable().describe('That of the policy or application.'),
    cause: ComplaintCause,
    state: ComplaintState,
    description: z.string(),
    received_at: z.iso.datetime(),
    opened_at: z.iso.datetime().describe('When it was recorded.'),
    summary_by: CalendarDate.describe('The last day on which a summary resolution is enough.'),
    respond_by: CalendarDate.describe('The last day for the decision: eight weeks after it was received.'),
    overdue_from: z.iso.datetime().describe('When that day is over, where the firm is.'),
    overdue: z.boolean().describe('It is not decided, and that day is over.'),
    overdue_at: z.iso
      .datetime()
      .nullable()
      .describe('When that day was over without a decision, also of one that was decided or withdrawn late.'),
    decision: z
      .object({
        decision: ComplaintDecision,
        response: ComplaintResponse,
        reason: z.string(),
        decided_at: z.iso.datetime().describe('When the customer was told.'),
      })
      .nullable(),
    refer_by: CalendarDate.nullable().describe(
      'The last day on which the customer may go to the ombudsman: six months after the decision.',
    ),
    redress: z.array(
      z.object({
        redress_id: RedressId,
        amount_pence: Pence.nullable(),
        action: z.string().nullable(),
        recorded_at: z.iso.datetime(),
      }),
    ),
    referral: z.object({ referred_on: CalendarDate, reference: z.string() }).nullable(),
    notes: z.array(z.object({ note_id: ComplaintNoteId, note: z.string(), added_at: z.iso.datetime() })),
    withdrawn: z.boolean(),
    closed_at: z.iso.datetime().nullable(),
    keep_until: CalendarDate.nullable().describe(
      'The last day for which the record is kept: three years after it was closed. Its words go before where its person is erased.',
    ),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Complaint' })
export type Complaint = z.infer<typeof Complaint>

/** The states of a complaint for which the details of its person are still needed. */
export const unsettledStates: readonly ComplaintState[] = ComplaintState.options.filter((state) => state !== 'closed')

export const evolveComplaint = (
  complaint: Complaint | undefined,
  event: ComplaintEvent,
  { occurred_at }: Recorded,
): Complaint | undefined => {
  if (event.type === 'ComplaintOpened') return opened(event, occurred_at)
  return complaint && { ...complaint, ...changeBy(complaint, event, occurred_at), updated_at: occurred_at }
}

type Of<Type> = Extract<ComplaintEvent, { type: Type }>

const opened = (event: Of<'ComplaintOpened'>, opened_at: string): Complaint => {
  const { type: _type, complaint_id: id, ...given } = event
  return {
    id,
    ...given,
    state: 'open',
    opened_at,
    overdue: false,
    overdue_at: null,
    decision: null,
    refer_by: null,
    redress: [],
    referral: null,
    notes: [],
    withdrawn: false,
    closed_at: null,
    keep_until: null,
    updated_at: opened_at,
  }
}

const changeBy = (
  complaint: Complaint,
  event: Exclude<ComplaintEvent, Of<'ComplaintOpened'>>,
  at: string,
): Partial<Complaint> => {
  switch (event.type) {
    case 'ComplaintNoteAdded':
      return { notes: [...complaint.notes, { note_id: event.note_id, note: event.note, added_at: at }] }
    case 'ComplaintDecided': {
      const { decision, response, reason, decided_at, refer_by } = event
      const state = complaint.state === 'open' ? 'decided' : complaint.state
      return { state, decision: { decision, response, reason, decided_at }, refer_by, ...answeredBy(complaint, event) }
    }
    case 'ComplaintRedressed': {
      const { redress_id, amount_pence, action } = event
      return { redress: [...complaint.redress, { redress_id, amount_pence, action, recorded_at: at }] }
    }
    case 'ComplaintReferred': {
      const { referred_on, reference } = event
      return {
        state: 'referred',
        referral: { referred_on, reference },
        overdue: complaint.decision === null && complaint.overdue_at !== null,
        withdrawn: false,
        closed_at: null,
        keep_until: null,
      }
    }
    case 'ComplaintClosed':
      return {
        state: 'closed',
        withdrawn: event.withdrawn,
        overdue: false,
        overdue_at: complaint.overdue_at ?? (complaint.decision ? null : lateFrom(complaint, at)),
        closed_at: at,
        keep_until: event.keep_until,
      }
    case 'ComplaintFellOverdue':
      return { overdue: true, overdue_at: complaint.overdue_from }
  }
}

/** Since when a complaint was late at this moment, by its day alone: it is recorded only later that it fell overdue. */
const lateFrom = ({ overdue_from }: Complaint, at: string): string | null => (at >= overdue_from ? overdue_from : null)

/** One that was decided in time, and only recorded late, was never overdue. A second decision changes nothing of that. */
const answeredBy = (complaint: Complaint, { decided_at }: Of<'ComplaintDecided'>): Partial<Complaint> => ({
  overdue: false,
  overdue_at: complaint.decision ? complaint.overdue_at : lateFrom(complaint, decided_at),
})
