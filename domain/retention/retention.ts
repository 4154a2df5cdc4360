import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { retentionEvents, type RetentionPeriods } from './events.ts'
import { evolvePeriods, type Periods } from './record.ts'

export type SetRetention = {
  readonly type: 'SetRetention'
  readonly organisation_id: OrganisationId
  /** All of them: a kind that is not among them is kept from now on. */
  readonly periods: RetentionPeriods
}

/** For how long an organisation keeps its records, by their kind; nothing is erased until a period is set. */
export const retention: Decider<SetRetention, typeof retentionEvents, Periods> = {
  category: 'retention',
  events: retentionEvents,
  initialState: { periods: {}, former: [] },
  decide: ({ organisation_id, periods }, before) =>
    isSameJson(periods, before.periods) ? [] : [{ type: 'RetentionSet', organisation_id, periods: { ...periods } }],
  evolve: evolvePeriods,
}
