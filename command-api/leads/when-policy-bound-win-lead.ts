import { policyEvents } from '#domain/policies/events.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from './live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyBound } = policyEvents

type Deps = {
  readonly leads: Leads
  readonly policyOf: (policy_id: string) => Promise<PolicyRecord | undefined>
}

/** A sale stands on the timeline of whoever bought, and makes them a lead won, if they were a lead. */
export const whenPolicyBoundWinLead = ({ leads, policyOf }: Deps): Reaction<{ PolicyBound: typeof PolicyBound }> => ({
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
    // Told late, it does not undo what followed from a cancellation.
    const isSold = (await policyOf(policy_id))?.status !== 'cancelled'
    const won = { type: 'FollowOutcome', status: 'won', stage: null, reason: null } as const
    const acts = isSold ? [activity, won] : [activity]
    await leads.handle({ contact_id: customer_id, acts, by: { type: 'system', name: null } }, context)
  },
})
