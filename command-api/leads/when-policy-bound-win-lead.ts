import { policyEvents } from '#domain/policies/events.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from '../live-leads.ts'
import type { Reaction } from '../reaction.ts'

const { PolicyBound } = policyEvents

/** A sale stands on the timeline of whoever bought, and makes them a lead won, if they were a lead. */
export const whenPolicyBoundWinLead = (leads: Leads): Reaction<{ PolicyBound: typeof PolicyBound }> => ({
  name: 'when-policy-bound-win-lead',
  categories: ['policy'],
  events: { PolicyBound },
  target: ({ customer_id }) => leads.stream(customer_id),
  react: async ({ customer_id, policy_id, policy_number }, _recorded, context) => {
    const activity = {
      type: 'RecordActivity',
      activity_id: derivedId('policy_activity', policy_id),
      kind: 'policy_bound',
      summary: `Bought policy ${policy_number}`,
      related: { type: 'policy', id: policy_id },
      happened_at: context.now,
    } as const
    const won = { type: 'FollowOutcome', status: 'won', stage: null, reason: null } as const
    await leads.handle({ contact_id: customer_id, acts: [activity, won], by: { type: 'system', name: null } }, context)
  },
})
