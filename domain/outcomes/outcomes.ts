import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { LeadStatus } from '../leads/events.ts'
import type { ApiApplicationId, CustomerId, OrganisationId } from '../values.ts'
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
type Origin = Pick<
  Recorded,
  'organisation_id' | 'outcome_id' | 'api_application_id' | 'source' | 'event_id' | 'by' | 'seen_by'
>

export type RecordOutcome = {
  readonly type: 'RecordOutcome'
  readonly contact_id: CustomerId
  readonly report: Report
  readonly outcome_type: OutcomeType
  readonly model: Pick<OutcomeModel, 'measures'>
  /** It cancels no sale but those that this application reported. Left out: whichever it is about. */
  readonly cancelsOf?: ApiApplicationId | undefined
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

/** Applications have sent the person in: they see all outcomes from now on, and what was recorded before too. */
export type ShowOutcomes = {
  readonly type: 'ShowOutcomes'
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly to: readonly ApiApplicationId[]
}

type OutcomesCommand = RecordOutcome | ReverseOutcome | ShowOutcomes

/** An outcome as decisions need it. */
type Known = {
  readonly outcome: Outcome
  readonly recorded: Recorded | undefined
  readonly effect: OutcomeEffect
  readonly cancels: string | null
}

/** All outcomes of one person, in the order of recording. */
export type OutcomesState = {
  readonly known: readonly Known[]
  /** The applications that see all of them. */
  readonly seen_by: readonly ApiApplicationId[]
}

/** The most reported outcomes of one person: all of them are read when another one is decided on. */
const mostReported = 2_000

/** The most outcomes in one event. */
const shownAtOnce = 500

const find = ({ known }: OutcomesState, id: string) => known.find(({ outcome }) => outcome.id === id)

const decide = (command: OutcomesCommand, state: OutcomesState): readonly OutcomeEvent[] => {
  switch (command.type) {
    case 'RecordOutcome':
      return record(command, state)
    case 'ReverseOutcome':
      return reverse(command, state)
    case 'ShowOutcomes':
      return show(command, state)
  }
}

/** Earlier outcomes are shown to whoever sees them from now on. */
const show = ({ organisation_id, contact_id, to }: Omit<ShowOutcomes, 'type'>, state: OutcomesState) => {
  const { known } = state
  const seen_by = to.filter((each) => !state.seen_by.includes(each))
  if (seen_by.length === 0) return []
  const shown = known.map(({ outcome: { id, type, deal_ref } }) => ({ outcome_id: id, outcome_type: type, deal_ref }))
  return Array.from({ length: Math.ceil(shown.length / shownAtOnce) }, (_, page): OutcomeEvent => {
    const outcomes = shown.slice(page * shownAtOnce, (page + 1) * shownAtOnce)
    return { type: 'OutcomesShown', organisation_id, contact_id, seen_by, outcomes }
  })
}

const record = (command: RecordOutcome, state: OutcomesState): readonly OutcomeEvent[] => {
  const { type: _type, contact_id, report, outcome_type, model, cancelsOf, ...origin } = command
  if (find(state, command.outcome_id)) return []
  refuseRepeated(command, state)
  refuseTooMany(command, state)

  const { deal_ref, product, reason, note, currency, occurred_at } = report
  const { effect } = outcome_type
  const cancels = effect === 'cancel_sale' ? saleToCancel(state, deal_ref, cancelsOf) : undefined
  return [
    ...show({ ...origin, contact_id, to: origin.seen_by }, state),
    {
      type: 'OutcomeRecorded',
      ...origin,
      seen_by: [...new Set([...state.seen_by, ...origin.seen_by])],
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

/** Those of our own policies are few, and always recorded. */
const refuseTooMany = ({ source }: RecordOutcome, { known }: OutcomesState): void => {
  if (source === 'policy' || known.filter(({ recorded }) => recorded).length < mostReported) return
  throw new Rejection(
    'validation_failed',
    `This lead has ${mostReported} outcomes, the most that can be reported of one lead. Check whether it is the right lead.`,
    { lead: 'has as many outcomes as a lead can have' },
  )
}

/** The sales that stand: neither reversed nor cancelled. */
const salesInForce = ({ known }: OutcomesState): readonly Known[] => {
  const cancelled = new Set(known.filter(({ outcome }) => !outcome.reversed).map(({ cancels }) => cancels))
  return known.filter(({ outcome, effect }) => effect === 'won' && !outcome.reversed && !cancelled.has(outcome.id))
}

/** A cancellation names its sale by the deal; without one it is the latest that stands. */
const saleToCancel = (
  state: OutcomesState,
  deal_ref: string | null,
  cancelsOf: ApiApplicationId | undefined,
): Known | undefined => {
  const sales = salesInForce(state).filter(
    ({ recorded }) => cancelsOf === undefined || recorded?.api_application_id === cancelsOf,
  )
  return deal_ref === null ? sales.at(-1) : sales.findLast(({ outcome }) => outcome.deal_ref === deal_ref)
}

const statusAfter = (effect: OutcomeEffect, cancels: Known | undefined, state: OutcomesState): LeadStatus | null => {
  if (effect === 'won') return effect
  // Another deal may be lost: the lead stays won while a sale of theirs stands.
  if (effect === 'lost') return salesInForce(state).length === 0 ? effect : null
  return cancels && salesInForce(state).length === 1 ? 'lost' : null
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
      seen_by: [...state.seen_by],
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

const evolve = ({ known, seen_by: before }: OutcomesState, event: OutcomeEvent): OutcomesState => {
  const seen_by = [...new Set([...before, ...event.seen_by])]
  if (event.type === 'OutcomesShown') return { known, seen_by }
  const outcome = outcomeOf(event)
  if (event.type === 'OutcomeRecorded')
    return { known: [...known, { outcome, recorded: event, effect: event.effect, cancels: event.cancels }], seen_by }
  const reversal: Known = { outcome, recorded: undefined, effect: 'none', cancels: null }
  const marked = known.map((each) =>
    each.outcome.id === event.reversal_of ? { ...each, outcome: { ...each.outcome, reversed: true } } : each,
  )
  return { known: [...marked, reversal], seen_by }
}

/** The outcomes of a person: each outcome and reversal is decided on all there were before. */
export const outcomes: Decider<OutcomesCommand, typeof outcomeEvents, OutcomesState> = {
  category: 'outcomes',
  events: outcomeEvents,
  initialState: { known: [], seen_by: [] },
  decide,
  evolve,
}

/** The reporter of an outcome or, for a reversal, of the reversed one; null: no API application. Undefined: no such outcome. */
export const reporterOf = (state: OutcomesState, id: string): ApiApplicationId | null | undefined => {
  const known = find(state, id)
  const reversed = known?.outcome.reversal_of ? find(state, known.outcome.reversal_of) : known
  return reversed?.recorded?.api_application_id
}

export const outcomeIn = (state: OutcomesState, id: string): Outcome | undefined => find(state, id)?.outcome
