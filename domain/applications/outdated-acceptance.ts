import type { ApplicationEvent } from './events.ts'
import { evolve, pricedInputs, type ApplicationState } from './state.ts'

/** These events; and if they change what an accepted quote was priced on, that it is outdated. */
export const withOutdatedAcceptance = (
  state: ApplicationState,
  events: readonly ApplicationEvent[],
): readonly ApplicationEvent[] => {
  if (state.record.status !== 'quoted') return events
  const recorded = { occurred_at: state.record.updated_at }
  const after = events.reduce((before, event) => evolve(before, event, recorded) ?? before, state)
  return pricedInputs(after) === pricedInputs(state)
    ? events
    : [...events, { type: 'AcceptanceOutdated', application_id: state.record.id }]
}
