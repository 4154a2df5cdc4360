import { outcomeEvents } from '#domain/outcomes/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads, OneLeadCommand } from '../leads/live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { OutcomeRecorded, OutcomeReversed } = outcomeEvents

const followed = { OutcomeRecorded, OutcomeReversed }

/**
 * The lead follows what became of it: its stage or status, and the timeline. A reversal changes nothing about the lead, but
 * somebody is asked to look at one that the outcome had closed. A person who is no lead has nothing to follow with.
 */
export const whenOutcomeRecordedFollowOutcome = (leads: Leads): Reaction<typeof followed> => ({
  name: 'when-outcome-recorded-follow-outcome',
  categories: ['outcomes'],
  events: followed,
  target: ({ contact_id }) => leads.stream(contact_id),
  react: async (event, _recorded, context) => {
    const { contact_id, outcome_id, outcome_type, by } = event
    const lead = await leads.find(OrganisationId.parse(context.organisation_id), contact_id)
    if (!lead) return
    const isReversal = event.type === 'OutcomeReversed'
    const activity: OneLeadCommand = {
      type: 'RecordActivity',
      activity_id: derivedId('outcome_activity', outcome_id),
      kind: isReversal ? 'outcome_reversed' : 'outcome',
      summary: isReversal ? `Outcome reversed: ${outcome_type}` : `Outcome: ${outcome_type}`,
      related: { type: 'outcome', id: outcome_id },
      happened_at: event.happened_at,
    }
    const acts: OneLeadCommand[] = isReversal
      ? event.closed_lead
        ? [
            {
              type: 'AddTask',
              task_id: derivedId('outcome_task', outcome_id),
              title: `The outcome ${outcome_type}, which closed this lead, was reversed: look at the lead`,
              due_at: null,
              mayBeLeftOut: true,
            },
          ]
        : []
      : [
          {
            type: 'FollowOutcome',
            status: event.lead_status,
            stage: event.lead_stage,
            reason: event.reason,
            // One that somebody works again, or has ruled out, is not closed by what becomes of its former sale.
            ...(event.effect === 'cancel_sale' && { from: 'won' }),
          },
        ]
    await leads.handle({ contact_id, acts: [activity, ...acts], by }, context)
  },
})
