import { expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { publishedLeadEvent } from '#domain/lead-feed/record.ts'
import { leadEvents, type LeadEvent } from '#domain/leads/events.ts'
import { samples } from '../stored-events/samples.ts'

/** What receivers are told of a stored event: its published type and the parts of its payload, in the feed and in webhooks. */
const told: Readonly<Record<LeadEvent['type'], readonly [type: string, payload: readonly string[]] | undefined>> = {
  LeadCreated: ['lead.created', ['source', 'source_reference', 'ingest_id']],
  LeadFactsRecorded: ['lead.facts_recorded', ['keys', 'ingest_id']],
  LeadStageChanged: ['lead.stage_changed', ['from', 'to', 'from_kind', 'to_kind']],
  LeadOwnerAssigned: ['lead.owner_assigned', ['from', 'to']],
  LeadStatusChanged: ['lead.status_changed', ['from', 'to', 'reason']],
  LeadOutcomeReasonSet: ['lead.outcome_reason_set', ['reason', 'note']],
  LeadVulnerabilityFlagged: ['lead.vulnerability_flagged', ['flagged']],
  LeadNextActionFellDue: ['lead.next_action_due', ['type', 'summary', 'due_at']],
  LeadFirstContactOverdue: ['lead.first_contact_overdue', ['due_at', 'minutes_overdue']],
  LeadScored: ['lead.grade_changed', ['from', 'to', 'score']],
  LeadTpsScreened: ['lead.tps_screened', ['status', 'screened_at', 'expires_at']],
  LeadTaskCompleted: ['lead.task_completed', ['task_id', 'title']],
  LeadSnoozeEnded: ['lead.snooze_ended', ['snoozed_until']],
  LeadRunByHand: ['lead.manual_run', ['workflow_id', 'user_name']],
  ContactDetailsChanged: ['contact.details_changed', ['changes']],
  LeadActivityRecorded: ['activity.form', ['activity_id', 'kind', 'summary', 'channel', 'direction', 'related']],
  // Only the team is concerned with these.
  LeadSentAgain: undefined,
  LeadFactsProposed: undefined,
  LeadProposalsSettled: undefined,
  LeadNextActionSet: undefined,
  LeadTpsScreeningPlanned: undefined,
  LeadTaskAdded: undefined,
  LeadSnoozed: undefined,
  LeadMarked: undefined,
}

const stored = samples.flatMap(({ event }) =>
  Object.hasOwn(leadEvents, event.type) ? [fromStored(leadEvents, event)] : [],
)
const ofType = <Type extends LeadEvent['type']>(type: Type): Extract<LeadEvent, { type: Type }> => {
  const found = stored.find((event): event is Extract<LeadEvent, { type: Type }> => event.type === type)
  if (!found) throw new Error(`There is no sample of ${type}.`)
  return found
}

test.each(stored)('$type is told by its published name, or not at all', (event) => {
  const published = publishedLeadEvent(event)

  expect(published && [published.type, Object.keys(published.payload)]).toEqual(told[event.type])
})

test('a change of the score that leaves the grade is not told', () => {
  const scored = ofType('LeadScored')

  expect(publishedLeadEvent({ ...scored, from_grade: 'C', grade: 'C' })).toBeUndefined()
  expect(publishedLeadEvent({ ...scored, from_grade: 'C', grade: 'B' })?.payload).toMatchObject({ from: 'C', to: 'B' })
})

test('an owner is told by id and name, and nobody as null', () => {
  const assigned = { ...ofType('LeadOwnerAssigned'), from: null, from_name: null, to_name: 'Olive Owner' }
  const to = { id: assigned.to, name: 'Olive Owner' }

  expect(publishedLeadEvent(assigned)?.payload).toEqual({ from: null, to })
  // An erased person of the team has no name any more.
  expect(publishedLeadEvent({ ...assigned, to_name: null })?.payload).toEqual({ from: null, to: { ...to, name: '' } })
})

test('a change of details tells which have changed and not what they are', () => {
  const changed = { ...ofType('ContactDetailsChanged'), changed: ['email' as const, 'phone' as const] }

  expect(publishedLeadEvent(changed)?.payload).toEqual({ changes: { email: true, phone: true } })
})
