import type { PolicyRules } from '#domain/policy-rules/events.ts'
import { policyRulesFold, policyRulesOf } from '#domain/policy-rules/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** An organisation's rules for its policies. */
export type LivePolicyRules = (organisation_id: OrganisationId) => PolicyRules

/** Follows what organisations declare; resolves when it knows all there is. */
export const followPolicyRules = async (folds: LiveFolds): Promise<LivePolicyRules> =>
  policyRulesOf(await folds.follow(policyRulesFold, new Map<string, PolicyRules>()))
