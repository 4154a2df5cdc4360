import { recordsFold } from '../records-fold.ts'
import type { OrganisationId } from '../values.ts'
import { defaultCollectionRules, noContact, policyRulesEvents, type PolicyRules } from './events.ts'

/** The rules of an organisation that declared none. */
export const defaultPolicyRules: PolicyRules = {
  collection_rules: defaultCollectionRules,
  rpi: [],
  rpi_cap_percent: '10',
  contact: noContact,
}

/** The declared rules, for a process that keeps them in memory. */
export const policyRulesFold = recordsFold({
  name: 'policy rules',
  version: 2,
  categories: ['policy_rules'],
  events: policyRulesEvents,
  evolve: (_former: PolicyRules | undefined, { rules }) => rules,
  keyOf: ({ organisation_id }) => organisation_id,
})

export const policyRulesOf =
  (declared: ReadonlyMap<string, PolicyRules>) =>
  (organisation_id: OrganisationId): PolicyRules =>
    declared.get(organisation_id) ?? defaultPolicyRules
