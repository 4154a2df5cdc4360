import { isSameJson } from '../canonical-json.ts'
import { Rejection } from '../rejection.ts'
import { aboutOf } from './about.ts'
import type { Circumstances, WorkLead } from './commands.ts'
import type { LeadEvent } from './events.ts'
import type { LeadState } from './state.ts'

type Work = Exclude<WorkLead, { type: 'MoveToStage' | 'ChangeStatus' | 'SettleProposals' }>

/** The most open tasks of a lead: all of them are part of its record. */
const mostOpenTasks = 200

/** The team's acts on a lead beside its stage and status. One already in effect changes nothing. */
export const workLead = (act: Work, state: LeadState, circumstances: Circumstances): readonly LeadEvent[] => {
  const { record, said } = state
  const about = aboutOf(state, circumstances)

  switch (act.type) {
    case 'AssignOwner':
      return assignOwner(act, state, circumstances)
    case 'SetOutcomeReason':
      if (isSameJson(said.reason ?? null, { reason: act.reason, note: act.note })) return []
      return [{ type: 'LeadOutcomeReasonSet', ...about, reason: act.reason, note: act.note }]
    case 'FlagVulnerability':
      if (act.flagged === record.vulnerable && (act.details === null || act.details === said.vulnerability)) return []
      return [{ type: 'LeadVulnerabilityFlagged', ...about, flagged: act.flagged, details: act.details }]
    case 'SetNextAction':
      return isSameJson(record.next_action, act.next_action) && !record.next_action_overdue
        ? []
        : [{ type: 'LeadNextActionSet', ...about, next_action: act.next_action }]
    case 'AddTask': {
      const { task_id, title, due_at } = act
      if (record.tasks.some(({ id }) => id === task_id)) return []
      if (record.tasks.filter(({ completed_at }) => completed_at === null).length < mostOpenTasks)
        return [{ type: 'LeadTaskAdded', ...about, task_id, title, due_at }]
      // Whoever works through so many sees on the timeline what this one would have said.
      if (act.mayBeLeftOut) return []
      throw new Rejection(
        'validation_failed',
        `This lead has ${mostOpenTasks} tasks that are not done, the most that a lead can have. Complete one first.`,
        { task_id: 'is one more than a lead can have' },
      )
    }
    case 'CompleteTask': {
      const task = record.tasks.find(({ id }) => id === act.task_id)
      if (!task)
        throw new Rejection('not_found', 'The lead has no task with this id. Check task_id.', {
          task_id: 'is the id of no task of this lead',
        })
      if (task.completed_at !== null) return []
      return [{ type: 'LeadTaskCompleted', ...about, task_id: task.id, title: task.title }]
    }
    case 'Snooze':
      if (act.until <= circumstances.now)
        throw new Rejection('validation_failed', 'Correct until: it must lie ahead.', { until: 'must lie ahead' })
      return record.snoozed_until === act.until ? [] : [{ type: 'LeadSnoozed', ...about, snoozed_until: act.until }]
    case 'EndSnooze': {
      const { snoozed_until } = record
      return snoozed_until === null ? [] : [{ type: 'LeadSnoozeEnded', ...about, snoozed_until }]
    }
    case 'Mark': {
      const held: Readonly<Record<string, unknown>> = record.marks
      const changed = Object.entries(act.marks).filter(([name, value]) => value !== held[name])
      return changed.length === 0 ? [] : [{ type: 'LeadMarked', ...about, marks: Object.fromEntries(changed) }]
    }
    case 'RunWorkflow': {
      const { run_id, workflow_id } = act
      return state.runs.includes(run_id) ? [] : [{ type: 'LeadRunByHand', ...about, run_id, workflow_id }]
    }
    case 'RecordDetailsChange':
      return act.changed.length === 0 ? [] : [{ type: 'ContactDetailsChanged', ...about, changed: [...act.changed] }]
    case 'RecordTps': {
      if (record.tps_planned?.due_at !== act.planned_at) return []
      const { status, phone_number, screened_at, expires_at } = act
      return [{ type: 'LeadTpsScreened', ...about, status, phone_number, screened_at, expires_at }]
    }
    case 'DeferTps': {
      const { planned_at, retry_at: due_at, trouble } = act
      if (record.tps_planned?.due_at !== planned_at) return []
      const failed_tries = due_at === null ? 0 : record.tps_planned.failed_tries + 1
      return [{ type: 'LeadTpsScreeningPlanned', ...about, due_at, failed_tries, trouble }]
    }
  }
}

const assignOwner = (
  { owner_id, seen_owner_id }: Extract<Work, { type: 'AssignOwner' }>,
  state: LeadState,
  circumstances: Circumstances,
): readonly LeadEvent[] => {
  const { team_members } = circumstances.pipeline
  const { owner_id: from } = state.record
  if (owner_id === from) return []
  const named = (id: string | null) => team_members.find((member) => member.id === id)
  if (seen_owner_id !== undefined && seen_owner_id !== from)
    throw new Rejection(
      'conflict',
      `By now ${named(from)?.full_name ?? 'nobody'} works this lead. Look at it again, and then assign it.`,
      { from_owner_id: 'is not who works it now' },
    )
  const owner = named(owner_id)
  if (owner_id !== null && !owner?.active)
    throw new Rejection('validation_failed', 'Correct owner_id: it must be the id of an active member of the team.', {
      owner_id: 'is no active member of the team; the pipeline of the organisation names them',
    })
  return [
    {
      type: 'LeadOwnerAssigned',
      ...aboutOf(state, circumstances),
      from,
      to: owner_id,
      from_name: named(from)?.full_name ?? null,
      to_name: owner?.full_name ?? null,
    },
  ]
}
