import { z } from 'zod'
import type { Json } from '../event.ts'
import type { LeadEvent } from '../leads/events.ts'
import { CampaignId, CustomerId } from '../values.ts'
import type { LeadTriggerType } from '../workflows/events.ts'

/** Stands for the organisation's own team among those who see an event. */
export const team = '00000000-0000-0000-0000-000000000000'

/** An event of a lead, as receivers get it: in the feed and in webhooks alike. */
export const LeadFeedEvent = z
  .object({
    event_id: z.uuid(),
    event_type: z.string().describe('For example lead.stage_changed or activity.call. New types can be added.'),
    occurred_at: z.iso.datetime(),
    recorded_at: z.iso.datetime(),
    contact_id: CustomerId,
    external_system_id: z.string().nullable(),
    campaign_id: CampaignId.nullable(),
    campaign_key: z.string().nullable(),
    payload: z.record(z.string(), z.unknown()),
    actor: z.object({
      type: z.enum(['system', 'user', 'api', 'workflow', 'contact']),
      name: z.string().nullable(),
    }),
  })
  .meta({ id: 'LeadEvent' })
export type LeadFeedEvent = z.infer<typeof LeadFeedEvent>

export type Published = { readonly type: LeadTriggerType; readonly payload: Json }

const named = (id: string | null, name: string | null) => (id === null ? null : { id, name: name ?? '' })

/** The published name and payload of a stored event; undefined for one that only the team is concerned with. */
export const publishedLeadEvent = (event: LeadEvent): Published | undefined => {
  switch (event.type) {
    case 'LeadCreated': {
      const { source, source_reference, ingest_id } = event
      return { type: 'lead.created', payload: { source, source_reference, ingest_id } }
    }
    case 'LeadFactsRecorded':
      return { type: 'lead.facts_recorded', payload: { keys: event.keys, ingest_id: event.ingest_id } }
    case 'LeadStageChanged': {
      const { from, to } = event
      const payload = { from: from.key, to: to.key, from_kind: from.kind, to_kind: to.kind }
      return { type: 'lead.stage_changed', payload }
    }
    case 'LeadOwnerAssigned': {
      const payload = { from: named(event.from, event.from_name), to: named(event.to, event.to_name) }
      return { type: 'lead.owner_assigned', payload }
    }
    case 'LeadStatusChanged':
      return { type: 'lead.status_changed', payload: { from: event.from, to: event.to, reason: event.reason } }
    case 'LeadOutcomeReasonSet':
      return { type: 'lead.outcome_reason_set', payload: { reason: event.reason, note: event.note } }
    case 'LeadVulnerabilityFlagged':
      return { type: 'lead.vulnerability_flagged', payload: { flagged: event.flagged } }
    case 'LeadNextActionFellDue': {
      const { type, summary, due_at } = event.next_action
      return { type: 'lead.next_action_due', payload: { type, summary, due_at } }
    }
    case 'LeadFirstContactOverdue': {
      const { due_at, minutes_overdue } = event
      return { type: 'lead.first_contact_overdue', payload: { due_at, minutes_overdue } }
    }
    case 'LeadScored': {
      const { from_grade: from, grade: to, score } = event
      return from === to ? undefined : { type: 'lead.grade_changed', payload: { from, to, score } }
    }
    case 'LeadTpsScreened': {
      const { status, screened_at, expires_at } = event
      return { type: 'lead.tps_screened', payload: { status, screened_at, expires_at } }
    }
    case 'LeadTaskCompleted':
      return { type: 'lead.task_completed', payload: { task_id: event.task_id, title: event.title } }
    case 'LeadSnoozeEnded':
      return { type: 'lead.snooze_ended', payload: { snoozed_until: event.snoozed_until } }
    case 'LeadRunByHand':
      return { type: 'lead.manual_run', payload: { workflow_id: event.workflow_id, user_name: event.by.name } }
    case 'ContactDetailsChanged': {
      const changes = Object.fromEntries(event.changed.map((field) => [field, true] as const))
      return { type: 'contact.details_changed', payload: { changes } }
    }
    case 'LeadActivityRecorded': {
      const { activity_id, kind, summary, channel, direction, related } = event
      return { type: `activity.${kind}`, payload: { activity_id, kind, summary, channel, direction, related } }
    }
    case 'LeadSentAgain':
    case 'LeadFactsProposed':
    case 'LeadProposalsSettled':
    case 'LeadNextActionSet':
    case 'LeadTpsScreeningPlanned':
    case 'LeadTaskAdded':
    case 'LeadSnoozed':
    case 'LeadMarked':
      return undefined
  }
}
