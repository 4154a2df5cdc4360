import { aboutOf } from './about.ts'
import type { Circumstances } from './commands.ts'
import type { LeadEvent } from './events.ts'
import { isTerminal } from './record.ts'
import type { LeadState } from './state.ts'

const isNewNumber = (event: LeadEvent): boolean =>
  event.type === 'ContactDetailsChanged' && event.changed.includes('phone_number')

/**
 * A lead that is worked has its number screened against the lists of those who want no calls: when it arrives, when the
 * number changes, and again when the screening is old. One that was never screened is so with the next that happens.
 */
export const planScreening = (
  events: readonly LeadEvent[],
  state: LeadState,
  circumstances: Circumstances,
): readonly LeadEvent[] => {
  const { tps, tps_planned, shown } = state.record
  if (!circumstances.screens_tps || isTerminal(shown.status)) return []
  // Who had screening planned for them now has an answer, or has been told when it is tried again.
  if (events.some(({ type }) => type === 'LeadTpsScreened' || type === 'LeadTpsScreeningPlanned')) return []
  const isChanged = events.some(isNewNumber)
  if (tps_planned && !isChanged) return []
  const due_at = isChanged || !tps ? circumstances.now : tps.status === 'not_applicable' ? null : tps.expires_at
  if (due_at === null || tps_planned?.due_at === due_at) return []
  return [{ type: 'LeadTpsScreeningPlanned', ...aboutOf(state, circumstances), due_at, failed_tries: 0, trouble: null }]
}
