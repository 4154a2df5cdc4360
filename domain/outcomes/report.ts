import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId } from '../values.ts'
import {
  outcomeReportEvents,
  type HeldReason,
  type LeadReference,
  type OutcomeReportEvent,
  type Report,
} from './events.ts'

type Reported = Extract<OutcomeReportEvent, { type: 'OutcomeReported' }>
type By = Reported['by']

export type OutcomeReportCommand =
  | ({ readonly type: 'ReportOutcome' } & Omit<Reported, 'type'>)
  | { readonly type: 'MatchHeldOutcome'; readonly contact_id: CustomerId; readonly by: By }
  | { readonly type: 'DiscardHeldOutcome'; readonly by: By }

/** An outcome as it was reported, and what became of it. */
export type ReportState = Omit<Reported, 'type' | 'held'> & {
  readonly reported_at: string
  readonly status: 'matched' | 'held' | 'discarded'
  readonly held: HeldReason | null
}

const decide = (command: OutcomeReportCommand, state: ReportState | undefined): readonly OutcomeReportEvent[] => {
  if (command.type === 'ReportOutcome') {
    if (!state) return [{ ...command, type: 'OutcomeReported' }]
    refuseOtherContent(command, state)
    return []
  }
  if (!state) throw new Rejection('not_found', 'There is no held outcome with this id. Check the address.')
  const { by } = command
  const isSame = command.type === 'MatchHeldOutcome' && state.contact_id === command.contact_id
  if (isSame || (command.type === 'DiscardHeldOutcome' && state.status === 'discarded')) return []
  if (state.status !== 'held') throw new Rejection('conflict', `The outcome is ${state.status}: it is held no more.`)
  return command.type === 'MatchHeldOutcome'
    ? [{ type: 'HeldOutcomeMatched', contact_id: command.contact_id, by }]
    : [{ type: 'HeldOutcomeDiscarded', by }]
}

type Content = { readonly report: Report; readonly lead: LeadReference }

/** An event id stands for one content. */
export const refuseOtherContent = ({ report, lead }: Content, earlier: Content): void => {
  if (isSameJson({ report, lead }, { report: earlier.report, lead: earlier.lead })) return
  throw new Rejection(
    'event_id_conflict',
    'This event_id was used for an outcome with other content. To correct an outcome, reverse it and send it with a new event_id.',
    { event_id: 'was used for other content' },
  )
}

const evolve = (
  state: ReportState | undefined,
  event: OutcomeReportEvent,
  { occurred_at }: { readonly occurred_at: string },
): ReportState | undefined => {
  switch (event.type) {
    case 'OutcomeReported': {
      const { type: _type, ...reported } = event
      return { ...reported, reported_at: occurred_at, status: event.contact_id === null ? 'held' : 'matched' }
    }
    case 'HeldOutcomeMatched':
      return state && { ...state, status: 'matched', contact_id: event.contact_id, held: null }
    case 'HeldOutcomeDiscarded':
      return state && { ...state, status: 'discarded' }
  }
}

/** A report of an outcome: known by its event id, held while its lead is not known. */
export const outcomeReport: Decider<OutcomeReportCommand, typeof outcomeReportEvents, ReportState | undefined> = {
  category: 'outcome_report',
  events: outcomeReportEvents,
  initialState: undefined,
  decide,
  evolve,
}
