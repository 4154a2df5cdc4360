import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { outcomeModelEvents, type OutcomeModel } from './events.ts'
import { seededModel } from './record.ts'

export type DeclareOutcomeModel = {
  readonly type: 'DeclareOutcomeModel'
  readonly organisation_id: OrganisationId
  /** A part that is left out stays. */
  readonly declared: Partial<OutcomeModel>
}

/** The outcomes that an organisation's leads can have, as it last declared them. */
export const outcomeModel: Decider<DeclareOutcomeModel, typeof outcomeModelEvents, OutcomeModel | undefined> = {
  category: 'outcome_model',
  events: outcomeModelEvents,
  initialState: undefined,
  decide: ({ organisation_id, declared }, before) => {
    const wanted = { ...(before ?? seededModel), ...declared }
    return isSameJson(wanted, before ?? seededModel)
      ? []
      : [{ type: 'OutcomeModelDeclared', organisation_id, model: wanted }]
  },
  evolve: (_before, event) => event.model,
}
