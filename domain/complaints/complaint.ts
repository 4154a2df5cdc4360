import { daysAfter, monthsAfter, yearsAfter } from '../dates.ts'
import type { Decider } from '../decider.ts'
import { notFound, Rejection } from '../rejection.ts'
import { differencesOf, refuseOtherContent } from '../same-key.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import type { ApplicationId, CustomerId, OrganisationId, PolicyId, ProductId } from '../values.ts'
import { workingDayFrom, type BankCalendar } from '../working-days.ts'
import type { ClaimId } from '../claims/events.ts'
import {
  complaintEvents,
  type ComplaintCause,
  type ComplaintDecision,
  type ComplaintEvent,
  type ComplaintId,
  type ComplaintNoteId,
  type ComplaintResponse,
  type RedressId,
} from './events.ts'
import { evolveComplaint, type Complaint } from './record.ts'

export type OpenComplaint = {
  readonly type: 'OpenComplaint'
  readonly complaint_id: ComplaintId
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly policy_id: PolicyId | null
  readonly application_id: ApplicationId | null
  readonly claim_id: ClaimId | null
  readonly product_id: ProductId | null
  readonly cause: ComplaintCause
  /** Null: now. */
  readonly received_at: string | null
  readonly description: string
  readonly time_zone: string
  readonly now: string
  readonly calendar: BankCalendar
}

export type DecideComplaint = {
  readonly type: 'DecideComplaint'
  readonly decision: ComplaintDecision
  readonly response: ComplaintResponse
  readonly reason: string
  /** Null: now. */
  readonly decided_at: string | null
  readonly time_zone: string
  readonly now: string
}

type RedressComplaint = {
  readonly type: 'RedressComplaint'
  readonly redress_id: RedressId
  readonly amount_pence: number | null
  readonly action: string | null
}

type ReferComplaint = {
  readonly type: 'ReferComplaint'
  readonly referred_on: string
  readonly reference: string
  readonly time_zone: string
  readonly today: string
}

export type ComplaintCommand =
  | OpenComplaint
  | { readonly type: 'NoteComplaint'; readonly note_id: ComplaintNoteId; readonly note: string }
  | DecideComplaint
  | RedressComplaint
  | ReferComplaint
  | { readonly type: 'CloseComplaint'; readonly withdrawn: boolean; readonly today: string }
  | { readonly type: 'CallOverdueComplaint'; readonly now: string }

const respondWithinDays = 56
const summaryWithinWorkingDays = 3
const referWithinMonths = 6
const keptYears = 3
const mostNotes = 1_000
const mostRedress = 100

const invalid = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

const open = (command: OpenComplaint, complaint: Complaint | undefined): readonly ComplaintEvent[] => {
  const { type: _type, time_zone, now, calendar, complaint_id, received_at: said, product_id, ...given } = command
  if (complaint) {
    refuseOtherContent(
      'opened a complaint',
      differencesOf({ ...given, ...(said !== null && { received_at: said }) }, complaint),
    )
    return []
  }
  const received_at = said ?? now
  if (received_at > now) throw invalid('received_at', 'must not be after now')
  const received_on = dateIn(time_zone, received_at)
  const respond_by = daysAfter(received_on, respondWithinDays)
  return [
    {
      type: 'ComplaintOpened',
      complaint_id,
      ...given,
      product_id,
      received_at,
      summary_by: workingDaysAfter(calendar, received_on, summaryWithinWorkingDays),
      respond_by,
      overdue_from: startOfDayIn(time_zone, daysAfter(respond_by, 1)),
    },
  ]
}

const workingDaysAfter = (calendar: BankCalendar, date: string, days: number): string =>
  days === 0 ? date : workingDaysAfter(calendar, workingDayFrom(calendar, daysAfter(date, 1)), days - 1)

const decideOn = (command: DecideComplaint, complaint: Complaint): readonly ComplaintEvent[] => {
  const { decision, response, reason, time_zone, now } = command
  const before = complaint.decision
  const said = { decision, response, reason, ...(command.decided_at !== null && { decided_at: command.decided_at }) }
  if (before && differencesOf(said, before).length === 0) return []
  if (complaint.state === 'decided' || complaint.state === 'closed')
    throw new Rejection(
      'conflict',
      `A complaint that is ${complaint.state} cannot be decided. It can be decided again once it is referred to the ombudsman.`,
    )
  const decided_at = command.decided_at ?? now
  if (decided_at > now) throw invalid('decided_at', 'must not be after now')
  if (decided_at < complaint.received_at)
    throw invalid('decided_at', `must not be before the complaint was received, at ${complaint.received_at}`)
  const decided_on = dateIn(time_zone, decided_at)
  if (response === 'summary_resolution' && decided_on > complaint.summary_by)
    throw invalid('response', `must be final_response: a summary resolution was possible until ${complaint.summary_by}`)
  const refer_by = complaint.refer_by ?? monthsAfter(decided_on, referWithinMonths)
  const { contact_id } = complaint
  return [{ type: 'ComplaintDecided', contact_id, decision, response, reason, decided_at, refer_by }]
}

const redress = (command: RedressComplaint, complaint: Complaint): readonly ComplaintEvent[] => {
  const { type: _type, ...given } = command
  const { redress_id, amount_pence, action } = given
  const recorded = complaint.redress.find((each) => each.redress_id === redress_id)
  if (recorded) {
    refuseOtherContent('recorded redress', differencesOf(given, recorded))
    return []
  }
  if (amount_pence === null && action === null)
    throw invalid('amount_pence', 'is required where action does not say what was done')
  if (!complaint.decision && !complaint.referral)
    throw new Rejection('conflict', 'Decide the complaint first, and then say how it was made good.')
  if (complaint.redress.length >= mostRedress)
    throw new Rejection('conflict', `A complaint holds at most ${mostRedress} entries of redress.`)
  return [{ type: 'ComplaintRedressed', contact_id: complaint.contact_id, ...given }]
}

const refer = (command: ReferComplaint, complaint: Complaint): readonly ComplaintEvent[] => {
  const { referred_on, reference, time_zone, today } = command
  const { referral, contact_id, received_at } = complaint
  if (referral) {
    if (differencesOf({ referred_on, reference }, referral).length === 0) return []
    throw new Rejection(
      'conflict',
      `The complaint was referred to the ombudsman on ${referral.referred_on} already. Add a note for what has changed.`,
    )
  }
  if (referred_on > today) throw invalid('referred_on', 'must not be after today')
  const received_on = dateIn(time_zone, received_at)
  if (referred_on < received_on)
    throw invalid('referred_on', `must not be before the complaint was received, on ${received_on}`)
  const { withdrawn, decision, overdue_at, overdue_from } = complaint
  const isOwedAgain = withdrawn && !decision && overdue_at === null
  const due = { overdue_from: isOwedAgain ? overdue_from : null }
  return [{ type: 'ComplaintReferred', contact_id, referred_on, reference, ...due }]
}

const close = (
  { withdrawn, today }: Extract<ComplaintCommand, { type: 'CloseComplaint' }>,
  complaint: Complaint,
): readonly ComplaintEvent[] => {
  if (complaint.state === 'closed') {
    if (complaint.withdrawn === withdrawn) return []
    throw new Rejection('conflict', 'The complaint is closed already. Add a note for what has changed.')
  }
  if (complaint.state === 'open' && !withdrawn)
    throw new Rejection('conflict', 'Decide the complaint first, or say that the customer has withdrawn it.')
  return [
    {
      type: 'ComplaintClosed',
      contact_id: complaint.contact_id,
      withdrawn,
      keep_until: yearsAfter(today, keptYears),
    },
  ]
}

const note = (
  { note_id, note: said }: Extract<ComplaintCommand, { type: 'NoteComplaint' }>,
  complaint: Complaint,
): readonly ComplaintEvent[] => {
  const added = complaint.notes.find((each) => each.note_id === note_id)
  if (added) {
    refuseOtherContent('added a note', differencesOf({ note: said }, added))
    return []
  }
  if (complaint.notes.length >= mostNotes)
    throw new Rejection('conflict', `A complaint holds at most ${mostNotes} notes.`)
  return [{ type: 'ComplaintNoteAdded', contact_id: complaint.contact_id, note_id, note: said }]
}

const callOverdue = (now: string, complaint: Complaint): readonly ComplaintEvent[] => {
  const { state, decision, overdue_at, overdue_from, contact_id } = complaint
  const isOwed = state !== 'closed' && !decision && overdue_at === null
  return isOwed && now >= overdue_from ? [{ type: 'ComplaintFellOverdue', contact_id }] : []
}

const decide = (command: ComplaintCommand, complaint: Complaint | undefined): readonly ComplaintEvent[] => {
  if (command.type === 'OpenComplaint') return open(command, complaint)
  if (!complaint) throw notFound('complaint')
  switch (command.type) {
    case 'NoteComplaint':
      return note(command, complaint)
    case 'DecideComplaint':
      return decideOn(command, complaint)
    case 'RedressComplaint':
      return redress(command, complaint)
    case 'ReferComplaint':
      return refer(command, complaint)
    case 'CloseComplaint':
      return close(command, complaint)
    case 'CallOverdueComplaint':
      return callOverdue(command.now, complaint)
  }
}

export const complaint: Decider<ComplaintCommand, typeof complaintEvents, Complaint | undefined> = {
  category: 'complaint',
  events: complaintEvents,
  initialState: undefined,
  decide,
  evolve: evolveComplaint,
}
