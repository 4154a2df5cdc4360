import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { LeadStatus } from '../leads/events.ts'
import type { CustomerId } from '../values.ts'
import { completeValues } from './calculate.ts'
import {
  outcomeEvents,
  type OutcomeEffect,
  type OutcomeEvent,
  type OutcomeModel,
  type OutcomeType,
  type Report,
} from './events.ts'
import { outcomeOf, type Outcome } from './record.ts'

type Recorded = Extract<OutcomeEvent, { type: 'OutcomeRecorded' }>
type Origin = Pick<Recorded, 'organisation_id' | 'outcome_id' | 'api_application_id' | 'source' | 'event_id' | 'by'>

export type RecordOutcome = {
  readonly type: 'RecordOutcome'
  readonly contact_id: CustomerId
  readonly report: Report
  readonly outcome_type: OutcomeType
  readonly model: Pick<OutcomeModel, 'measures'>
} & Origin

export type ReverseOutcome = {
  readonly type: 'ReverseOutcome'
  readonly outcome_id: string
  /** Of the reversal. */
  readonly reversal_id: string
  readonly note: string | null
  readonly api_application_id: Recorded['api_application_id']
  readonly source: Recorded['source']
  readonly by: Recorded['by']
  readonly now: string
}

/** An outcome as decisions need it. */
type Known = {
  readonly outcome: Outcome
  readonly recorded: Recorded | undefined
  readonly effect: OutcomeEffect
  readonly cancels: string | null
}

/** All outcomes of one person, in the order of recording. */
export type OutcomesState = { readonly known: readonly Known[] }

const find = ({ known }: OutcomesState, id: string) => known.find(({ outcome }) => outcome.id === id)

const decide = (command: RecordOutcome | ReverseOutcome, state: OutcomesState): readonly OutcomeEvent[] =>
  command.type === 'RecordOutcome' ? record(command, state) : reverse(command, state)

const record = (command: RecordOutcome, state: OutcomesState): readonly OutcomeEvent[] => {
  const { type: _type, contact_id, report, outcome_type, model, ...origin } = command
  if (find(state, command.outcome_id)) return []
  refuseRepeated(command, state)

  const { deal_ref, product, reason, note, currency, occurred_at } = report
  const { effect } = outcome_type
  const cancels = effect === 'cancel_sale' ? saleToCancel(state, deal_ref) : undefined
  return [
    {
      type: 'OutcomeRecorded',
      ...origin,
      contact_id,
      outcome_type: outcome_type.key,
      happened_at: occurred_at,
      deal_ref,
      product,
      reason,
      note,
      currency,
      ...completeValues(outcome_type, model, report.values),
      effect,
      repeatable: outcome_type.repeatable,
      cancels: cancels?.outcome.id ?? null,
      lead_status: statusAfter(effect, cancels, state),
      lead_stage: effect === 'stage' ? outcome_type.stage : null,
    },
  ]
}

const refuseRepeated = ({ outcome_type, report: { deal_ref } }: RecordOutcome, { known }: OutcomesState): void => {
  if (outcome_type.repeatable) return
  const isRepeated = known.some(
    ({ outcome }) =>
      outcome.type === outcome_type.key &&
      outcome.deal_ref === deal_ref &&
      !outcome.reversed &&
      outcome.reversal_of === null,
  )
  if (!isRepeated) return
  throw new Rejection(
    'not_repeatable',
    `An outcome of type ${outcome_type.key} is recorded for this lead and deal already. Reverse that one first.`,
  )
}

/** The sales that stand: neither reversed nor cancelled. */
const standingSales = ({ known }: OutcomesState): readonly Known[] => {
  const cancelled = new Set(known.filter(({ outcome }) => !outcome.reversed).map(({ cancels }) => cancels))
  return known.filter(({ outcome, effect }) => effect === 'won' && !outcome.reversed && !cancelled.has(outcome.id))
}

/** A cancellation names its sale by the deal; without one it is the latest that stands. */
const saleToCancel = (state: OutcomesState, deal_ref: string | null): Known | undefined => {
  const sales = standingSales(state)
  return deal_ref === null ? sales.at(-1) : sales.findLast(({ outcome }) => outcome.deal_ref === deal_ref)
}

const statusAfter = (effect: OutcomeEffect, cancels: Known | undefined, state: OutcomesState): LeadStatus | null => {
  if (effect === 'won' || effect === 'lost') return effect
  return cancels && standingSales(state).length === 1 ? 'lost' : null
}

const reverse = (command: ReverseOutcome, state: OutcomesState): readonly OutcomeEvent[] => {
  const { outcome_id, reversal_id, note, api_application_id, source, by, now } = command
  const known = find(state, outcome_id)
  if (!known)
    throw new Rejection(
      'not_found',
      'There is no outcome with this id. Check the event_id that it was sent with, or the id in the address.',
    )
  const { outcome, recorded } = known
  if (!recorded) throw new Rejection('already_reversed', 'This outcome is a reversal, which cannot be reversed.')
  if (outcome.reversed)
    throw new Rejection('already_reversed', 'This outcome is reversed already. Send it again with a new event_id.')

  const { organisation_id, contact_id, outcome_type, deal_ref, product, currency, values, missing_values } = recorded
  return [
    {
      type: 'OutcomeReversed',
      organisation_id,
      outcome_id: reversal_id,
      api_application_id,
      source,
      event_id: null,
      contact_id,
      outcome_type,
      deal_ref,
      product,
      currency,
      values,
      missing_values,
      by,
      happened_at: now,
      reversal_of: outcome_id,
      note,
      closed_lead: recorded.lead_status !== null,
    },
  ]
}

const evolve = ({ known }: OutcomesState, event: OutcomeEvent): OutcomesState => {
  const outcome = outcomeOf(event)
  if (event.type === 'OutcomeRecorded')
    return { known: [...known, { outcome, recorded: event, effect: event.effect, cancels: event.cancels }] }
  const reversal: Known = { outcome, recorded: undefined, effect: 'none', cancels: null }
  const marked = known.map((each) =>
    each.outcome.id === event.reversal_of ? { ...each, outcome: { ...each.outcome, reversed: true } } : each,
  )
  return { known: [...marked, reversal] }
}

/** What became of a person: each outcome and reversal is decided on all there were before. */
export const outcomes: Decider<RecordOutcome | ReverseOutcome, typeof outcomeEvents, OutcomesState> = {
  category: 'outcomes',
  events: outcomeEvents,
  initialState: { known: [] },
  decide,
  evolve,
}

export const outcomeIn = (state: OutcomesState, id: string): Outcome | undefined => find(state, id)?.outcome
