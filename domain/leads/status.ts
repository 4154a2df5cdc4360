import { Rejection } from '../rejection.ts'
import { firstStageOf, stageOf } from '../pipeline/record.ts'
import type { Stage } from '../pipeline/events.ts'
import { aboutOf, dormantAt } from './about.ts'
import type { Circumstances, FollowOutcome, WorkLead } from './commands.ts'
import type { LeadEvent, LeadStatus } from './events.ts'
import { isTerminal } from './record.ts'
import type { LeadState } from './state.ts'

type Decision = readonly LeadEvent[]

const toStage = (to: Stage | undefined, state: LeadState, circumstances: Circumstances): Decision => {
  const from = state.record.shown.stage
  if (!to || to.key === from.key) return []
  return [
    { type: 'LeadStageChanged', ...aboutOf(state, circumstances), from, to: { key: to.key, kind: to.kind } } as const,
  ]
}

const toStatus = (to: LeadStatus, reason: string | null, state: LeadState, circumstances: Circumstances): Decision => {
  const from = state.record.shown.status
  if (from === to) return []
  const dormant_at = to === 'open' ? dormantAt(circumstances.now, circumstances.pipeline) : null
  // One that is opened again before anybody made contact is waited for as before.
  const first_contact_due_at = isTerminal(to) ? null : state.record.first_contact_due_at
  return [
    {
      type: 'LeadStatusChanged',
      ...aboutOf(state, circumstances),
      from,
      to,
      reason,
      dormant_at,
      first_contact_due_at,
    },
  ]
}

/** The stage that goes with a status: none for a lead that is ruled out, which stays where it was. */
const stageFor = (status: LeadStatus, state: LeadState, { pipeline }: Circumstances): Stage | undefined => {
  if (status === 'won' || status === 'lost') return firstStageOf(pipeline, status)
  const isOpen = state.record.shown.stage.kind === 'open'
  return status === 'open' && !isOpen ? firstStageOf(pipeline, 'open') : undefined
}

const statusWithStage = (
  status: LeadStatus,
  reason: string | null,
  state: LeadState,
  circumstances: Circumstances,
): Decision => {
  const changed = toStatus(status, reason, state, circumstances)
  const isAtKind = state.record.shown.stage.kind === status
  return changed.length === 0 || isAtKind
    ? changed
    : [...changed, ...toStage(stageFor(status, state, circumstances), state, circumstances)]
}

/** A person moves a lead to a stage; one that means won or lost makes it so, and an open one opens it again. */
export const moveToStage = (key: string, state: LeadState, circumstances: Circumstances): Decision => {
  const stage = stageOf(circumstances.pipeline, key)
  if (!stage)
    throw new Rejection('validation_failed', `There is no stage ${key}. Use one of the organisation's stages.`, {
      stage: `must be one of ${circumstances.pipeline.stages.map((each) => each.key).join(', ')}`,
    })
  const { status } = state.record.shown
  const moved = toStage(stage, state, circumstances)
  if (moved.length === 0) return []
  if (stage.kind !== 'open') return [...moved, ...toStatus(stage.kind, null, state, circumstances)]
  return isTerminal(status) ? [...moved, ...toStatus('open', null, state, circumstances)] : moved
}

/** Ended leads are opened again by a person and go nowhere else. */
export const changeStatus = (
  { status, reason }: Extract<WorkLead, { type: 'ChangeStatus' }>,
  state: LeadState,
  circumstances: Circumstances,
): Decision => {
  const from = state.record.shown.status
  const isAllowed = from === status || !isTerminal(from) || status === 'open'
  if (!isAllowed)
    throw new Rejection('invalid_transition', `The lead is ${from}. Open it again before you make it ${status}.`, {
      status: `cannot follow ${from}`,
    })
  return statusWithStage(status, reason, state, circumstances)
}

/** An outcome or a policy moves any lead to won or lost, and open ones to a stage; a sale that is cancelled only a won one. */
export const followOutcome = (
  { status, stage, reason, from }: FollowOutcome,
  state: LeadState,
  circumstances: Circumstances,
): Decision => {
  if (from !== undefined && from !== state.record.shown.status) return []
  if (status !== null) return statusWithStage(status, reason, state, circumstances)
  const to = stage === null ? undefined : stageOf(circumstances.pipeline, stage)
  return isTerminal(state.record.shown.status) ? [] : toStage(to, state, circumstances)
}

export const wakeUp = (state: LeadState, circumstances: Circumstances): Decision =>
  state.record.shown.status === 'dormant' ? toStatus('open', null, state, circumstances) : []
