import type { LeadEvent } from '#domain/leads/events.ts'
import type { leadTimers } from '#domain/timer-kinds.ts'

/** The timers that a lead can have, one of each kind. */
type LeadTimer = (typeof leadTimers)[number]

/** When the timers that an event concerns are due from then on; null: not any more. */
export const leadDueTimes = (event: LeadEvent): Partial<Record<LeadTimer, string | null>> => {
  switch (event.type) {
    case 'LeadCreated':
      return { lead_first_contact: event.first_contact_due_at, lead_dormancy: event.dormant_at }
    case 'LeadActivityRecorded':
      return { lead_dormancy: event.dormant_at, ...(event.is_first_contact && { lead_first_contact: null }) }
    case 'LeadStatusChanged': {
      const isWorked = event.to === 'open' || event.to === 'dormant'
      const { dormant_at: lead_dormancy, first_contact_due_at: lead_first_contact } = event
      return { lead_dormancy, lead_first_contact, ...(!isWorked && { lead_tps: null }) }
    }
    case 'LeadFirstContactOverdue':
      return { lead_first_contact: null }
    case 'LeadNextActionSet':
      // Of a person who was erased there is no instant.
      return { lead_next_action: event.next_action?.due_at ?? null }
    case 'LeadNextActionFellDue':
      return { lead_next_action: null }
    case 'LeadSnoozed':
      return { lead_snooze: event.snoozed_until }
    case 'LeadSnoozeEnded':
      return { lead_snooze: null }
    case 'LeadTpsScreeningPlanned':
      return { lead_tps: event.due_at }
    case 'LeadTpsScreened':
      return { lead_tps: event.status === 'not_applicable' ? null : event.expires_at }
    case 'LeadSentAgain':
    case 'LeadFactsRecorded':
    case 'LeadFactsProposed':
    case 'LeadProposalsSettled':
    case 'LeadStageChanged':
    case 'LeadOwnerAssigned':
    case 'LeadOutcomeReasonSet':
    case 'LeadVulnerabilityFlagged':
    case 'LeadScored':
    case 'LeadTaskAdded':
    case 'LeadTaskCompleted':
    case 'LeadMarked':
    case 'LeadRunByHand':
    case 'ContactDetailsChanged':
      return {}
  }
}
