import { idOf } from '#domain/event.ts'
import { outcomeReportEvents } from '#domain/outcomes/events.ts'
import type { Reaction } from '../reaction.ts'
import { makeOutcomes, type OutcomesDeps } from './outcomes.ts'

const { OutcomeReported } = outcomeReportEvents

/** What came in an event of another system is recorded with its lead; nobody waits for the answer. */
export const whenOutcomeReportedRecordOutcome = (
  deps: OutcomesDeps,
): Reaction<{ OutcomeReported: typeof OutcomeReported }> => {
  const outcomes = makeOutcomes(deps)
  return {
    name: 'when-outcome-reported-record-outcome',
    categories: ['outcome_report'],
    events: { OutcomeReported },
    target: (_event, { stream }) => stream,
    react: async ({ source, contact_id }, { stream }, context) => {
      if (source === 'webhook' && contact_id !== null) await outcomes.settle(idOf(stream), context)
    },
  }
}
