import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { fourEyesEvents, type FourEyesRule } from './events.ts'
import { noFourEyes } from './record.ts'

export type SetFourEyes = {
  readonly type: 'SetFourEyes'
  readonly organisation_id: OrganisationId
  readonly rule: FourEyesRule
}

/** For what an organisation asks for a second user. */
export const fourEyes: Decider<SetFourEyes, typeof fourEyesEvents, FourEyesRule | undefined> = {
  category: 'four_eyes',
  events: fourEyesEvents,
  initialState: undefined,
  decide: ({ organisation_id, rule: given }, before) => {
    // A rule that was proposed to a version before names fewer acts.
    const rule = { ...noFourEyes, ...given }
    return isSameJson(rule, before ?? noFourEyes) ? [] : [{ type: 'FourEyesSet', organisation_id, rule }]
  },
  evolve: (_before, { rule }) => rule,
}

const refundLimit = ({ refund_above_pence }: FourEyesRule): number => refund_above_pence ?? Infinity

/** True where a rule asks for a second user less often than the one before: that is an act that it asks for, too. */
export const isLooser = (rule: FourEyesRule, before: FourEyesRule): boolean =>
  (['release', 'rate_table', 'payment_account', 'sign_in_provider', 'erasure'] as const).some(
    (name) => before[name] && !rule[name],
  ) || refundLimit(rule) > refundLimit(before)
