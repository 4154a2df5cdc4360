import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { policyRulesEvents, type PolicyRules } from './events.ts'
import { defaultPolicyRules } from './record.ts'

export type DeclarePolicyRules = {
  readonly type: 'DeclarePolicyRules'
  readonly organisation_id: OrganisationId
  readonly rules: PolicyRules
}

/**
 * An organisation's rules for its policies, as it last declared them. A policy keeps the rules of collection it was sold
 * with.
 */
export const policyRules: Decider<DeclarePolicyRules, typeof policyRulesEvents, PolicyRules | undefined> = {
  category: 'policy_rules',
  events: policyRulesEvents,
  initialState: undefined,
  decide: ({ organisation_id, rules }, before) =>
    isSameJson(rules, before ?? defaultPolicyRules) ? [] : [{ type: 'PolicyRulesDeclared', organisation_id, rules }],
  evolve: (_before, { rules }) => rules,
}
