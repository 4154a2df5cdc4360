import type { Decider } from '../decider.ts'
import { notFound, Rejection } from '../rejection.ts'
import { recordActivity, recordActivityBeforeLead, recordFacts, settleProposals } from './facts.ts'
import { fallDue } from './fall-due.ts'
import { leadEvents, type LeadEvent } from './events.ts'
import type { Circumstances, LeadCommand, OneLeadCommand } from './commands.ts'
import { receiveLead } from './receive.ts'
import { scoreChange } from './score.ts'
import { evolve, type BeforeLead, type LeadStreamState } from './state.ts'
import { planScreening } from './screening.ts'
import { changeStatus, followOutcome, moveToStage } from './status.ts'
import { workLead } from './work.ts'

type Decision = readonly LeadEvent[]

const decideOne = (act: OneLeadCommand, state: LeadStreamState, circumstances: Circumstances): Decision => {
  if (act.type === 'ReceiveLead') return receiveLead(act, state?.record && state, circumstances)
  if (!state?.record) return decideBeforeLead(act, state, circumstances)

  switch (act.type) {
    case 'RecordFacts':
      return recordFacts(act, state, circumstances)
    case 'SettleProposals':
      return settleProposals(act, state, circumstances)
    case 'RecordActivity':
      return recordActivity(act, state, circumstances)
    case 'MoveToStage':
      return moveToStage(act.stage, state, circumstances)
    case 'ChangeStatus':
      return changeStatus(act, state, circumstances)
    case 'FollowOutcome':
      return followOutcome(act, state, circumstances)
    case 'NextActionDue':
    case 'FirstContactDue':
    case 'SnoozeOver':
    case 'GoDormant':
      return fallDue(act, state, circumstances)
    case 'AssignOwner':
    case 'SetOutcomeReason':
    case 'FlagVulnerability':
    case 'SetNextAction':
    case 'AddTask':
    case 'CompleteTask':
    case 'Snooze':
    case 'EndSnooze':
    case 'Mark':
    case 'RunWorkflow':
    case 'RecordDetailsChange':
    case 'RecordTps':
    case 'DeferTps':
      return workLead(act, state, circumstances)
  }
}

/** An activity of a person who is no lead is recorded; it makes them none, and nothing follows from it. */
const decideBeforeLead = (
  act: OneLeadCommand,
  state: BeforeLead | undefined,
  circumstances: Circumstances,
): Decision => {
  if (act.type === 'RecordActivity') return recordActivityBeforeLead(act, state, circumstances)
  if (act.type === 'FollowOutcome') return []
  throw notFound('lead')
}

/** Refused fields of one of several acts are named by its place. */
export const inAct = <Result>(index: number, work: () => Result): Result => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Rejection) || !error.fields) throw error
    const fields = Object.entries(error.fields).map(([field, reason]) => [`acts[${index}].${field}`, reason] as const)
    throw new Rejection(error.code, error.message, Object.fromEntries(fields))
  }
}

const decide = ({ acts, ...circumstances }: LeadCommand, before: LeadStreamState): Decision => {
  const recorded = { occurred_at: circumstances.now }
  const events: LeadEvent[] = []
  let state = before
  const take = (decided: Decision) => {
    events.push(...decided)
    state = decided.reduce<LeadStreamState>((so_far, event) => evolve(so_far, event, recorded), state)
  }
  for (const [index, act] of acts.entries()) take(inAct(index, () => decideOne(act, state, circumstances)))
  // What happened may have changed the score, and is all that can.
  if (events.length > 0 && state?.record) take(scoreChange(state, circumstances))
  if (events.length > 0 && state?.record) take(planScreening(events, state, circumstances))
  return events
}

export const lead: Decider<LeadCommand, typeof leadEvents, LeadStreamState> = {
  category: 'lead',
  events: leadEvents,
  initialState: undefined,
  decide,
  evolve,
}
