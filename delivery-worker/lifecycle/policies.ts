import { lifecycle } from '#domain/workflows/events.ts'
import { renderPolicy, type Policy, type PolicyRecord } from '#domain/policies/record.ts'
import { idOf, type EventOf, type Json } from '#domain/event.ts'
import { subjectKind, type Subject } from '../capability.ts'
import { peopleShown, pick, readDocuments } from '../sending/snapshot.ts'
import { componentFields } from './quotes.ts'

const { events: sent, names } = lifecycle.policy

type Facts = { readonly product_id: string; readonly policy_id: string; readonly policy_number: string }

export const policies = subjectKind<typeof sent, Facts>({
  type: 'policy',
  categories: ['policy'],
  events: sent,
  readModels: ['policies'],
  idOf: (_event, { stream }) => idOf(stream),
  remember: (facts, event) => {
    if (event.type !== 'PolicyBound') return facts
    const { product_id, policy_id, policy_number } = event
    return { product_id, policy_id, policy_number }
  },
  people: peopleShown,
  happening: (event, { policy_id, policy_number }) => {
    const { aggregate, ...payload } = payloadOf(event, policy_number)
    return { type: names[event.type], payload: { policy_id, ...payload }, ...(aggregate && { aggregate }) }
  },
  readSnapshots: async (pool, subjects) => {
    const policyOf = await readDocuments<PolicyRecord>(pool, 'policies', subjects)
    return (id) => {
      const policy = policyOf(id)
      return policy && policySnapshot(policy)
    }
  },
})

export const policySnapshot = (policy: PolicyRecord): Json => ({ policy: shown(policy) })

/** The data of a payload beside the policy, and which part of the policy it happened to. */
const payloadOf = (event: EventOf<typeof sent>, policy_number: string): Json & { readonly aggregate?: Subject } => {
  switch (event.type) {
    case 'PolicyBound':
      return { policy_number }
    case 'PolicyActivated':
    case 'PolicyExpired':
      return {}
    case 'PolicyCancelled': {
      const { reason, effective_on, cooling_off, refund_pence } = event
      return { reason, effective_on, cooling_off, refund_pence }
    }
    case 'PolicySuspended':
      return { reason: event.reason, overdue_pence: event.overdue_pence }
    case 'PolicyReinstated':
      return { from: event.from }
    case 'PolicyLapsed':
      return { lapsed_on: event.lapsed_on, overdue_pence: event.overdue_pence }
    case 'PolicyAmended':
    case 'PolicyCoverEnded':
      return { premium_pence: event.premium_pence }
    case 'PolicyIndexed':
      return { premium_pence: event.premium_pence, next_indexation_on: event.next_indexation_on }
    case 'PolicyReviewed':
      return { premium_pence: event.premium_pence, next_review_on: event.next_review_on }
    // There is no mandate at the provider that could be told of by its id.
    case 'PolicyMandateRefused':
      return { mandate_id: null, reason: event.failure_code }
    case 'PolicyUpdated':
      return { update_type: event.update_type }
    case 'PolicyDocumentIssued':
      return { document_id: event.document_id, version_id: event.version_id, kind: event.kind }
    case 'PremiumDue':
      return { ...premium(event), attempt: 1 }
    case 'PremiumCollected':
    case 'PremiumRetried':
    case 'PremiumWrittenOff':
      return { ...premium(event), attempt: event.attempt }
    case 'PremiumFailed':
      return { ...premium(event), attempt: event.attempt, failure_code: event.failure_code }
    case 'PremiumRefunded':
    case 'PremiumRefundPaidOtherwise':
      return { ...premium(event), attempt: event.attempt, amount_pence: event.refund_pence }
    case 'PremiumRefundFailed': {
      const { attempt, refund_pence: amount_pence, failure_code } = event
      return { ...premium(event), attempt, amount_pence, failure_code }
    }
    case 'ClaimOpened':
    case 'ClaimEvidenceRequested':
    case 'ClaimApproved':
    case 'ClaimDeclined':
    case 'ClaimPaid':
    case 'ClaimClosed':
    case 'ClaimReopened': {
      const { claim_id, claim_type, amount_pence } = event
      return { aggregate: { type: 'claim', id: claim_id }, claim_id, claim_type, amount_pence }
    }
  }
}

type OfPremium = { readonly premium_id: string; readonly amount_pence: number; readonly due_on: string }
const premium = ({ premium_id, amount_pence, due_on }: OfPremium) => ({
  aggregate: { type: 'premium', id: premium_id },
  premium_id,
  amount_pence,
  due_on,
})

/** The addresses of documents are those below the base address of the API. */
const shown = (record: PolicyRecord): Json => {
  const policy = renderPolicy(record, '')
  return {
    ...pick(policy, fields),
    components: policy.components.map((component) => pick(component, [...componentFields, 'status', 'ends_on'])),
  }
}

/** Sent data is named field by field. A field that gives an answer away is not named, such as a loading. */
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
