import { leadEvents } from '#domain/leads/events.ts'
import { outcomeEvents } from '#domain/outcomes/events.ts'
import { outcomes } from '#domain/outcomes/outcomes.ts'
import { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Leads } from '../leads/live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { LeadCreated, LeadSentAgain } = leadEvents
const { OutcomeRecorded } = outcomeEvents

const followed = { LeadCreated, LeadSentAgain, OutcomeRecorded }

/**
 * An application sees the outcomes of the leads that it sent, also those that were recorded before it did. A lead may be
 * sent in while an outcome is recorded that does not know of it yet: so the outcome is looked at, too.
 */
export const whenLeadSentShowOutcomes = (writer: Writer, leads: Leads): Reaction<typeof followed> => {
  const { handle } = commandHandler(writer, outcomes)
  return {
    name: 'when-lead-sent-show-outcomes',
    categories: ['lead', 'outcomes'],
    events: followed,
    target: ({ contact_id }) => `${outcomes.category}-${contact_id}`,
    react: async (event, _recorded, context) => {
      const { contact_id } = event
      // Whoever had sent it before sees them already.
      if (event.type === 'LeadSentAgain' && event.shown === null) return
      const organisation_id = OrganisationId.parse(context.organisation_id)
      const to = (await leads.find(organisation_id, contact_id))?.record.senders ?? []
      if (event.type === 'OutcomeRecorded' && to.every((each) => event.seen_by.includes(each))) return
      await handle(contact_id, { type: 'ShowOutcomes', organisation_id, contact_id, to }, context)
    },
  }
}
