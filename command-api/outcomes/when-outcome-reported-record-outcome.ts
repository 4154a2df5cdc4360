import { idOf } from '#domain/event.ts'
import { outcomeReportEvents } from '#domain/outcomes/events.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { OutcomesDeps } from './outcome-streams.ts'
import { makeOutcomes } from './outcomes.ts'

const { OutcomeReported, HeldOutcomeMatched, HeldOutcomeCorrected } = outcomeReportEvents

const settled = { OutcomeReported, HeldOutcomeMatched, HeldOutcomeCorrected }

/**
 * An outcome in an event of another system is recorded with its lead; nobody waits for the answer. So is one that the team has
 * matched or corrected, if the process ended before it was recorded: it is held no more, so that nobody would look at it
 * again. A reporter over the API repeats what was not answered.
 */
export const whenOutcomeReportedRecordOutcome = (deps: OutcomesDeps): Reaction<typeof settled> => {
  const outcomes = makeOutcomes(deps)
  return {
    name: 'when-outcome-reported-record-outcome',
    categories: ['outcome_report'],
    events: settled,
    target: (_event, { stream }) => stream,
    react: async (event, { stream }, context) => {
      if (event.contact_id === null || (event.type === 'OutcomeReported' && event.source !== 'webhook')) return
      await outcomes.settle(idOf(stream), context)
    },
  }
}
