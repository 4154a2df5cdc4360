import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection, type Fields } from '../rejection.ts'
import type { CustomerId } from '../values.ts'
import {
  outcomeReportEvents,
  type HeldReason,
  type LeadReference,
  type OutcomeReportEvent,
  type Report,
} from './events.ts'

type Reported = Extract<OutcomeReportEvent, { type: 'OutcomeReported' }>
type Invalid = Extract<OutcomeReportEvent, { type: 'InvalidOutcomeReported' }>
type Corrected = Extract<OutcomeReportEvent, { type: 'HeldOutcomeCorrected' }>
type By = Reported['by']

export type OutcomeReportCommand =
  | ({ readonly type: 'ReportOutcome' } & Omit<Reported, 'type'>)
  | ({ readonly type: 'ReportInvalidOutcome' } & Omit<Invalid, 'type'>)
  | { readonly type: 'HoldMatchedOutcome'; readonly faults: Fields }
  | ({ readonly type: 'CorrectHeldOutcome' } & Omit<Corrected, 'type'>)
  | { readonly type: 'MatchHeldOutcome'; readonly contact_id: CustomerId; readonly by: By }
  | { readonly type: 'DiscardHeldOutcome'; readonly by: By }

/** An outcome as it was reported, and what became of it. */
export type ReportState = Omit<Reported, 'type' | 'held' | 'report'> & {
  /** Null while what was sent cannot be recorded. */
  readonly report: Report | null
  /** As it was reported, whatever was corrected since. */
  readonly sent: Content
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
  if (command.type === 'ReportInvalidOutcome') return state ? [] : [{ ...command, type: 'InvalidOutcomeReported' }]
  if (!state) throw new Rejection('not_found', 'There is no held outcome with this id. Check the address.')
  if (command.type === 'HoldMatchedOutcome') return holdMatched(command.faults, state)
  if (isDone(command, state)) return []
  if (state.status !== 'held') throw new Rejection('conflict', `The outcome is ${state.status}: it is held no more.`)

  switch (command.type) {
    case 'CorrectHeldOutcome':
      return [{ ...command, type: 'HeldOutcomeCorrected' }]
    case 'DiscardHeldOutcome':
      return [{ type: 'HeldOutcomeDiscarded', by: command.by }]
    case 'MatchHeldOutcome':
      if (!state.report) throw unrecordable()
      return [{ type: 'HeldOutcomeMatched', contact_id: command.contact_id, by: command.by }]
  }
}

export const unrecordable = () =>
  new Rejection('conflict', 'What was sent cannot be recorded for any lead. Correct it, or discard it.')

const holdMatched = (faults: Fields, state: ReportState): readonly OutcomeReportEvent[] => {
  const { organisation_id, outcome_id, api_application_id, source, event_id, report, lead, by, status } = state
  if (status !== 'matched' || !report) return []
  const origin = { organisation_id, outcome_id, api_application_id, source, event_id, by }
  return [{ type: 'MatchedOutcomeHeld', ...origin, report, lead, faults }]
}

type Handling = Extract<
  OutcomeReportCommand,
  { type: 'MatchHeldOutcome' | 'DiscardHeldOutcome' | 'CorrectHeldOutcome' }
>

const isDone = (command: Handling, { status, contact_id, report, lead }: ReportState): boolean => {
  switch (command.type) {
    case 'MatchHeldOutcome':
      return contact_id === command.contact_id
    case 'DiscardHeldOutcome':
      return status === 'discarded'
    case 'CorrectHeldOutcome':
      return status === 'matched' && isSameJson([report, lead], [command.report, command.lead])
  }
}

type Content = { readonly report: Report | null; readonly lead: LeadReference }

/** An event id stands for one content. */
export const refuseOtherContent = ({ report, lead }: Content, { sent }: Pick<ReportState, 'sent'>): void => {
  if (isSameJson({ report, lead }, sent)) return
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
      const { report, lead } = event
      const status = event.contact_id === null ? 'held' : 'matched'
      return { ...reported, sent: { report, lead }, reported_at: occurred_at, status }
    }
    case 'InvalidOutcomeReported': {
      const { type: _type, sent: _sent, faults: _faults, ...reported } = event
      const sent = { report: null, lead: { contact_id: null, external_id: null, email: null, phone: null } }
      const held = { status: 'held', held: 'invalid' } as const
      return { ...reported, ...sent, sent, contact_id: null, reported_at: occurred_at, ...held }
    }
    case 'MatchedOutcomeHeld':
      return state && { ...state, status: 'held', contact_id: null, held: 'invalid' }
    case 'HeldOutcomeCorrected': {
      const { report, lead, contact_id, held } = event
      return state && { ...state, report, lead, contact_id, held, status: contact_id === null ? 'held' : 'matched' }
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
