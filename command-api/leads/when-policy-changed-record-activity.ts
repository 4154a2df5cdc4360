import { claimEvents } from '#domain/claims/events.ts'
import { idOf, type EventOf } from '#domain/event.ts'
import type { ActivityKind } from '#domain/leads/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from './live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyActivated, PolicyCancelled, PolicyExpired, PolicyDocumentIssued } = policyEvents
const { PolicyAmended, PolicySuspended, PolicyLapsed, PolicyReinstated } = policyEvents
const { PremiumFailed } = premiumEvents
const { ClaimOpened } = claimEvents
const followed = {
  PolicyActivated,
  PolicyCancelled,
  PolicyExpired,
  PolicyDocumentIssued,
  PolicyAmended,
  PolicySuspended,
  PolicyLapsed,
  PolicyReinstated,
  PremiumFailed,
  ClaimOpened,
}

type Described = { readonly kind: ActivityKind; readonly summary: string }

const describe = (event: EventOf<typeof followed>, policy_number: string): Described => {
  switch (event.type) {
    case 'PolicyActivated':
      return { kind: 'policy_updated', summary: `Cover of policy ${policy_number} has started` }
    case 'PolicyCancelled':
      return {
        kind: 'policy_cancelled',
        summary: `Policy ${policy_number} was cancelled: ${event.reason.replaceAll('_', ' ')}`,
      }
    case 'PolicyExpired':
      return { kind: 'policy_updated', summary: `Policy ${policy_number} has come to its end` }
    case 'PolicyDocumentIssued':
      return { kind: 'document_sent', summary: `Issued ${event.kind.replaceAll('_', ' ')} of policy ${policy_number}` }
    case 'PolicyAmended':
      return { kind: 'policy_updated', summary: `Policy ${policy_number} was amended` }
    case 'PolicySuspended':
      return { kind: 'policy_updated', summary: `Cover of policy ${policy_number} is suspended` }
    case 'PolicyReinstated':
      return { kind: 'policy_updated', summary: `Policy ${policy_number} was reinstated` }
    case 'PolicyLapsed':
      return { kind: 'policy_lapsed', summary: `Policy ${policy_number} has lapsed: premiums were not paid` }
    case 'PremiumFailed':
      return { kind: 'premium_failed', summary: `Premium ${event.number} of policy ${policy_number} was not collected` }
    case 'ClaimOpened':
      return { kind: 'claim_opened', summary: `A claim on policy ${policy_number} was opened` }
  }
}

type Deps = {
  readonly leads: Leads
  readonly policyOf: (policy_id: string) => Promise<PolicyRecord | undefined>
}

/** A policy's events stand on the timeline of its person, lead or not. Its sale does by itself. */
export const whenPolicyChangedRecordActivity = ({ leads, policyOf }: Deps): Reaction<typeof followed> => ({
  name: 'when-policy-changed-record-activity',
  categories: ['policy'],
  events: followed,
  react: async (event, { stream, id }, context) => {
    const policy = await policyOf(idOf(stream))
    const contact_id = policy?.customer.id
    if (!contact_id) return
    const { kind, summary } = describe(event, policy.policy_number)
    const activity_id = derivedId('policy_activity', id)
    const related = { type: 'policy', id: policy.id }
    await leads.handle(
      {
        contact_id,
        acts: [{ type: 'RecordActivity', activity_id, kind, summary, related, happened_at: context.now }],
        by: { type: 'system', name: null },
      },
      context,
    )
  },
})
