import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { leadIntakeEvents, type LeadIntakeEvent } from './events.ts'
import { evolveLeadIntake, openIntake, type LeadIntake } from './record.ts'
import { refuseUnusableRules } from './rule-faults.ts'

/** Parts that are left out stay as they are. */
export type SetLeadIntake = {
  readonly type: 'SetLeadIntake'
  readonly organisation_id: OrganisationId
  readonly choices: Partial<LeadIntake>
}

const decide = (command: SetLeadIntake, held: LeadIntake): readonly LeadIntakeEvent[] => {
  const { rules, blocked_sources, trap_fields } = { ...held, ...command.choices }
  refuseUnusableRules(rules)
  const intake = { rules, blocked_sources: distinct(blocked_sources), trap_fields: distinct(trap_fields) }
  if (isSameJson(intake, held)) return []
  return [{ type: 'LeadIntakeSet', organisation_id: command.organisation_id, ...intake }]
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)].toSorted()

export const leadIntake: Decider<SetLeadIntake, typeof leadIntakeEvents, LeadIntake> = {
  category: 'lead_intake',
  events: leadIntakeEvents,
  initialState: openIntake,
  decide,
  evolve: evolveLeadIntake,
}
