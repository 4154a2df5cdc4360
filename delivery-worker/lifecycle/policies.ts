import { policyEvents } from '#domain/policies/events.ts'
import { claimEvents } from '#domain/claims/events.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { renderPolicy, type Policy, type PolicyComponent, type PolicyRecord } from '#domain/policies/record.ts'
import type { Json } from '#domain/event.ts'
import { subjectKind, type Happening } from '../capability.ts'
import { peopleShown, pick, readDocuments } from '../snapshot.ts'

const { PolicyBound, PolicyDocumentIssued, PolicyActivated, PolicyCancelled, PolicyExpired } = policyEvents
const { PolicyMandateRefused, PolicyUpdated, PolicySuspended, PolicyReinstated, PolicyLapsed } = policyEvents
const { PolicyAmended, PolicyIndexed, PolicyReviewed } = policyEvents
const { PremiumDue, PremiumCollected, PremiumFailed, PremiumRetried, PremiumRefunded, PremiumWrittenOff } =
  premiumEvents
const sent = {
  PolicyBound,
  PolicyDocumentIssued,
  PolicyActivated,
  PolicyCancelled,
  PolicyExpired,
  PolicyMandateRefused,
  PolicyUpdated,
  PolicySuspended,
  PolicyReinstated,
  PolicyLapsed,
  PremiumDue,
  PremiumCollected,
  PremiumFailed,
  PremiumRetried,
  PremiumRefunded,
  PremiumWrittenOff,
  PolicyAmended,
  PolicyIndexed,
  PolicyReviewed,
  ...claimEvents,
}

type Facts = { readonly product_id: string; readonly policy_id: string; readonly policy_number: string }

export const policies = subjectKind<typeof sent, Facts>({
  type: 'policy',
  categories: ['policy'],
  events: sent,
  readModels: ['policies'],
  idOf: (_event, { stream }) => stream.slice('policy-'.length),
  remember: (facts, event) => {
    if (event.type !== 'PolicyBound') return facts
    const { product_id, policy_id, policy_number } = event
    return { product_id, policy_id, policy_number }
  },
  people: peopleShown,
  happening: (event, { policy_id, policy_number }): Pick<Happening, 'type' | 'payload' | 'aggregate'> => {
    switch (event.type) {
      case 'PolicyBound':
        return { type: 'policy.bound', payload: { policy_id, policy_number } }
      case 'PolicyActivated':
        return { type: 'policy.activated', payload: { policy_id } }
      case 'PolicyExpired':
        return { type: 'policy.expired', payload: { policy_id } }
      case 'PolicyCancelled': {
        const { reason, effective_on, cooling_off, refund_pence } = event
        return { type: 'policy.cancelled', payload: { policy_id, reason, effective_on, cooling_off, refund_pence } }
      }
      case 'PolicySuspended':
        return {
          type: 'policy.suspended',
          payload: { policy_id, reason: event.reason, overdue_pence: event.overdue_pence },
        }
      case 'PolicyReinstated':
        return { type: 'policy.reinstated', payload: { policy_id, from: event.from } }
      case 'PolicyLapsed': {
        const { lapsed_on, overdue_pence } = event
        return { type: 'policy.lapsed', payload: { policy_id, lapsed_on, overdue_pence } }
      }
      case 'PremiumDue':
        return {
          type: 'premium.due',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt: 1 },
        }
      case 'PremiumCollected':
        return {
          type: 'premium.collected',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt: event.attempt },
        }
      case 'PremiumFailed': {
        const { attempt, failure_code } = event
        return {
          type: 'premium.failed',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt, failure_code },
        }
      }
      case 'PremiumRetried':
        return {
          type: 'premium.retried',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt: event.attempt },
        }
      case 'PremiumRefunded': {
        const { attempt, refund_pence: amount_pence } = event
        return {
          type: 'premium.refunded',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt, amount_pence },
        }
      }
      case 'PremiumWrittenOff':
        return {
          type: 'premium.written_off',
          aggregate: ofPremium(event),
          payload: { policy_id, ...premium(event), attempt: event.attempt },
        }
      case 'PolicyAmended':
        return { type: 'policy.amended', payload: { policy_id, premium_pence: event.premium_pence } }
      case 'PolicyIndexed': {
        const { premium_pence, next_indexation_on } = event
        return { type: 'policy.indexed', payload: { policy_id, premium_pence, next_indexation_on } }
      }
      case 'PolicyReviewed': {
        const { premium_pence, next_review_on } = event
        return { type: 'policy.reviewed', payload: { policy_id, premium_pence, next_review_on } }
      }
      case 'ClaimOpened':
      case 'ClaimEvidenceRequested':
      case 'ClaimApproved':
      case 'ClaimDeclined':
      case 'ClaimPaid':
      case 'ClaimClosed':
      case 'ClaimReopened': {
        const { claim_id, claim_type, amount_pence } = event
        const aggregate = { type: 'claim', id: claim_id }
        return { type: claimNames[event.type], aggregate, payload: { policy_id, claim_id, claim_type, amount_pence } }
      }
      // There is no mandate at the provider that could be told of by its id.
      case 'PolicyMandateRefused':
        return { type: 'mandate.failed', payload: { policy_id, mandate_id: null, reason: event.failure_code } }
      case 'PolicyUpdated':
        return { type: 'policy.updated', payload: { policy_id, update_type: event.update_type } }
      case 'PolicyDocumentIssued': {
        const { document_id, version_id, kind } = event
        return { type: 'policy.document_issued', payload: { policy_id, document_id, version_id, kind } }
      }
    }
  },
  readSnapshots: async (pool, subjects) => {
    const policyOf = await readDocuments<PolicyRecord>(pool, 'policies', subjects)
    return (id) => {
      const policy = policyOf(id)
      return policy && { policy: shown(policy) }
    }
  },
})

const claimNames = {
  ClaimOpened: 'claim.opened',
  ClaimEvidenceRequested: 'claim.evidence_requested',
  ClaimApproved: 'claim.approved',
  ClaimDeclined: 'claim.declined',
  ClaimPaid: 'claim.paid',
  ClaimClosed: 'claim.closed',
  ClaimReopened: 'claim.reopened',
} as const satisfies Readonly<Record<keyof typeof claimEvents, LifecycleEventType>>

type OfPremium = { readonly premium_id: string; readonly amount_pence: number; readonly due_on: string }
const ofPremium = ({ premium_id: id }: OfPremium) => ({ type: 'premium', id })
const premium = ({ premium_id, amount_pence, due_on }: OfPremium) => ({ premium_id, amount_pence, due_on })

/** The addresses of documents are those below the base address of the API. */
const shown = (record: PolicyRecord): Json => {
  const policy = renderPolicy(record, '')
  return {
    ...pick(policy, fields),
    components: policy.components.map((component) => pick(component, componentFields)),
  }
}

/** What is sent is named field by field. What gives an answer away is not named, such as a loading. */
const fields: readonly (keyof Policy)[] = [
  'id',
  'display_id',
  'policy_number',
  'status',
  'application_id',
  'quote_id',
  'product_id',
  'product_release_id',
  'customer',
  'joint_customer',
  'currency_code',
  'premium_pence',
  'premium_frequency',
  'annual_premium_pence',
  'cover_amount_pence',
  'term_years',
  'start_date',
  'end_date',
  'cooling_off_ends_on',
  'collection_day',
  'first_collection_on',
  'next_collection_on',
  'payment_method',
  'first_premium',
  'documents',
  'next_review_on',
  'next_indexation_on',
  'cancelled_on',
  'cancellation_reason',
  'test',
  'created_at',
  'updated_at',
]

const componentFields: readonly (keyof PolicyComponent)[] = [
  'cover_id',
  'cover_index',
  'cover_type',
  'title',
  'pricing_basis',
  'benefit_basis',
  'cover_amount_pence',
  'monthly_benefit_pence',
  'term_years',
  'expires_on',
  'premium_pence',
  'premium_basis',
  'review_period_years',
  'indexation_method',
  'ci_payout_basis',
  'members',
  'member_premium_pence',
  'minimum_premium_applied',
  'status',
  'ends_on',
]
