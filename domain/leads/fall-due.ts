import { aboutOf } from './about.ts'
import type { Circumstances, FallDue } from './commands.ts'
import type { LeadEvent } from './events.ts'
import { isTerminal } from './record.ts'
import type { LeadState } from './state.ts'

/** The events of a timer whose moment has come, where it still matters. */
export const fallDue = (act: FallDue, state: LeadState, circumstances: Circumstances): readonly LeadEvent[] => {
  const { record } = state
  const { now } = circumstances
  const about = aboutOf(state, circumstances)
  const isOver = (at: string | null): at is string => at !== null && at <= now

  switch (act.type) {
    case 'NextActionDue': {
      const { next_action, next_action_overdue } = record
      if (!next_action || next_action_overdue || !isOver(next_action.due_at)) return []
      return [{ type: 'LeadNextActionFellDue', ...about, next_action }]
    }
    case 'FirstContactDue': {
      const { first_contact_due_at: due_at, first_contacted_at } = record
      if (!isOver(due_at) || first_contacted_at !== null || isTerminal(record.shown.status)) return []
      const minutes_overdue = Math.floor((Date.parse(act.noticed_at) - Date.parse(due_at)) / 60_000)
      return [{ type: 'LeadFirstContactOverdue', ...about, due_at, minutes_overdue }]
    }
    case 'SnoozeOver': {
      const { snoozed_until } = record
      return isOver(snoozed_until) ? [{ type: 'LeadSnoozeEnded', ...about, snoozed_until }] : []
    }
    case 'GoDormant':
      if (!isOver(record.dormant_at) || record.shown.status !== 'open') return []
      return [
        {
          type: 'LeadStatusChanged',
          ...about,
          from: 'open',
          to: 'dormant',
          reason: null,
          dormant_at: null,
          first_contact_due_at: record.first_contact_due_at,
        },
      ]
  }
}
