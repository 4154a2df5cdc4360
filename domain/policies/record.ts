import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { claimEvents, type ClaimEvent } from '../claims/events.ts'
import { CollectionRules } from '../policy-rules/events.ts'
import { premiumEvents, type PremiumEvent } from '../premiums/events.ts'
import { ApiApplicationId, CalendarDate, OrganisationId, Pence } from '../values.ts'
import {
  GivenAfterBind,
  type PolicyDocumentKind,
  ProviderMandate,
  SuspensionReason,
  policyEvents,
  type PolicyEvent,
  type PolicyTerms,
} from './events.ts'
import { Policy, type PolicyComponent, type PolicyDocument } from './shown.ts'

export { inForce } from './ended.ts'
export { Policy, PolicyComponent, PolicyStatus } from './shown.ts'

export const Arrears = z.object({
  /** The due date of the oldest failed and unpaid premium; null: there is none. */
  since: CalendarDate.nullable(),
  overdue_pence: Pence,
  check_at: z.iso.datetime().nullable(),
})
export type Arrears = z.infer<typeof Arrears>

/** Every event of a policy's stream. */
export const policyStreamEvents = { ...policyEvents, ...premiumEvents, ...claimEvents }
export type PolicyStreamEvent = PolicyEvent | PremiumEvent | ClaimEvent

/** A policy folded from its events: what is shown of it, and what only the service itself needs. */
export const PolicyRecord = Policy.omit({ display_id: true, premium_frequency: true }).extend({
  organisation_id: OrganisationId,
  api_application_id: ApiApplicationId,
  card_payment_id: z.uuid().nullable(),
  time_zone: z.string(),
  collection_rules: CollectionRules,
  provider_mandate: ProviderMandate.nullable(),
  /** Failed tries to make the mandate. */
  mandate_attempts: z.int(),
  /** The number of mandates the team has asked for. */
  mandate_requests: z.int(),
  /** The time at which the bank details of the team's mandate request were saved; null: no others than those of the sale. */
  bank_details_saved_at: z.iso.datetime().nullable(),
  /** Covers whose own term is over, which the premium does not hold any more. */
  ended_covers: z.array(z.int()),
  suspended_for: SuspensionReason.nullable(),
  lapsed_on: CalendarDate.nullable(),
  /** The review that was left to the team. */
  review_called_on: CalendarDate.nullable(),
  /** The latest review, where it was priced by itself and the team has not decided otherwise. */
  review_priced_on: CalendarDate.nullable(),
  arrears: Arrears,
  given_after_bind: z.array(GivenAfterBind),
  /** To be given back since it was cancelled. */
  refund_pence: Pence,
  documents: z.array(
    z.object({
      kind: z.string(),
      document_id: z.uuid(),
      version_id: z.uuid(),
      sha256: z.string().nullable(),
      bytes: z.int().nullable(),
      key_document: z.object({ name: z.string(), url: z.string() }).nullable(),
      issued_at: z.iso.datetime(),
    }),
  ),
})
export type PolicyRecord = z.infer<typeof PolicyRecord>

/** The policy after an event, for the command side and the read model alike. */
export const evolvePolicy = (
  policy: PolicyRecord | undefined,
  event: PolicyStreamEvent,
  { occurred_at }: Recorded,
): PolicyRecord | undefined => {
  if (event.type === 'PolicyBound') return bound(event, occurred_at)
  return policy && { ...policy, ...changeBy(policy, event, occurred_at), updated_at: occurred_at }
}

type Of<Type> = Extract<PolicyStreamEvent, { type: Type }>

const isPremiumEvent = (event: PolicyStreamEvent): event is PremiumEvent => event.type in premiumEvents
const isClaimEvent = (event: PolicyStreamEvent): event is ClaimEvent => event.type in claimEvents

const bound = (event: Of<'PolicyBound'>, created_at: string): PolicyRecord => ({
  id: event.policy_id,
  organisation_id: event.organisation_id,
  api_application_id: event.api_application_id,
  policy_number: event.policy_number,
  status: 'pending_start',
  application_id: event.application_id,
  quote_id: event.quote_id,
  product_id: event.product_id,
  product_release_id: event.product_release_id,
  customer: { id: event.customer_id, ...event.customer },
  joint_customer: null,
  currency_code: event.currency_code,
  premium_pence: event.premium_pence,
  annual_premium_pence: event.annual_premium_pence,
  cover_amount_pence: event.cover_amount_pence,
  term_years: event.term_years,
  components: event.components.map((component) => ({
    ...component,
    status: 'pending_start',
    ends_on: component.expires_on,
  })),
  start_date: event.start_date,
  end_date: event.end_date,
  cooling_off_ends_on: event.cooling_off_ends_on,
  collection_day: event.collection_day,
  first_collection_on: event.first_collection_on,
  next_collection_on: event.first_collection_on,
  payment_method: {
    type: 'direct_debit',
    account_number_last4: event.account_number_last4,
    mandate_id: event.mandate_id,
    mandate_status: event.mandate_status,
  },
  first_premium: event.first_premium,
  card_payment_id: event.card_payment_id,
  time_zone: event.time_zone,
  collection_rules: event.collection_rules,
  provider_mandate: event.provider_mandate,
  mandate_attempts: 0,
  mandate_requests: 0,
  bank_details_saved_at: null,
  ended_covers: [],
  suspended_for: null,
  lapsed_on: null,
  review_called_on: null,
  review_priced_on: null,
  arrears: { since: null, overdue_pence: 0, check_at: null },
  documents: [],
  next_review_on: event.next_review_on,
  next_indexation_on: event.next_indexation_on,
  cancelled_on: null,
  cancellation_reason: null,
  given_after_bind: event.given_after_bind,
  refund_pence: 0,
  test: event.test,
  created_at,
  updated_at: created_at,
})

const changeBy = (
  policy: PolicyRecord,
  event: Exclude<PolicyStreamEvent, Of<'PolicyBound'>>,
  occurred_at: string,
): Partial<PolicyRecord> => {
  if (isPremiumEvent(event)) return changeByPremium(policy, event)
  // Claims are shown by themselves.
  if (isClaimEvent(event)) return {}
  switch (event.type) {
    case 'PolicyPartnerRecorded':
      return { joint_customer: { id: event.customer_id, ...event.partner } }
    case 'PolicyDocumentIssued': {
      const { type: _type, ...document } = event
      return { documents: [...policy.documents, { ...document, issued_at: occurred_at }] }
    }
    case 'PolicyMandateRecorded': {
      const { mandate_id, account_number_last4, status: mandate_status } = event
      const { provider_customer_id, provider_payment_method_id, provider_mandate_id } = event
      return {
        payment_method: { type: 'direct_debit', mandate_id, account_number_last4, mandate_status },
        provider_mandate: { provider_customer_id, provider_payment_method_id, provider_mandate_id },
        mandate_attempts: 0,
      }
    }
    case 'PolicyMandateChanged':
      return { payment_method: { ...policy.payment_method, mandate_status: event.status } }
    case 'PolicyMandateDelayed':
      return { mandate_attempts: event.attempt }
    case 'PolicyMandateRefused':
      return {
        payment_method: { ...policy.payment_method, mandate_status: 'failed' },
        mandate_attempts: event.attempt,
      }
    case 'PolicyMandateRequested':
      return {
        // News of the one that has ended is no news of the one to come.
        payment_method: { ...policy.payment_method, mandate_id: null, mandate_status: 'pending' },
        mandate_requests: policy.mandate_requests + 1,
        bank_details_saved_at: event.bank_details_saved_at,
      }
    case 'PolicyActivated':
      return { status: 'active', components: withStatus(policy.components, 'active') }
    case 'PolicyAmended': {
      const { collection_day, next_collection_on } = event
      return { ...withTerms(policy, event), collection_day, next_collection_on }
    }
    case 'PolicyCoverEnded': {
      const { cover_indexes, premium_pence, annual_premium_pence } = event
      const ended_covers = [...policy.ended_covers, ...cover_indexes]
      const components = policy.components.map((component) =>
        cover_indexes.includes(component.cover_index) ? { ...component, status: 'ended' as const } : component,
      )
      return { premium_pence, annual_premium_pence, ended_covers, components }
    }
    case 'PolicyIndexed':
      return { ...withTerms(policy, event), next_indexation_on: event.next_indexation_on }
    case 'PolicyReviewDue':
      return { review_called_on: event.review_on }
    case 'PolicyReviewed':
      return { ...withTerms(policy, event), next_review_on: event.next_review_on, review_priced_on: null }
    case 'PolicyReviewPriced':
      return { review_priced_on: event.review_on }
    case 'PolicyEndedByClaim':
      return {
        ...ended,
        status: 'claimed',
        suspended_for: null,
        components: endedOn(policy, event.ended_on),
      }
    case 'PolicySuspended':
      return { status: 'suspended', suspended_for: event.reason }
    case 'PolicyReinstated':
      return {
        status: 'active',
        suspended_for: null,
        lapsed_on: null,
        next_collection_on: event.next_collection_on,
        components: event.from === 'lapsed' ? policy.components.map(reinstated(policy)) : policy.components,
      }
    case 'PolicyLapsed':
      return {
        status: 'lapsed',
        suspended_for: null,
        lapsed_on: event.lapsed_on,
        next_collection_on: null,
        components: endedOn(policy, event.lapsed_on),
      }
    case 'ArrearsChanged': {
      const { type: _type, ...arrears } = event
      return { arrears }
    }
    case 'PolicyCancelled':
      return {
        suspended_for: null,
        ...ended,
        status: 'cancelled',
        components: endedOn(policy, event.effective_on),
        cancelled_on: event.effective_on,
        cancellation_reason: event.reason,
        refund_pence: event.refund_pence,
      }
    case 'PolicyExpired':
      return { ...ended, status: 'expired', components: withStatus(policy.components, 'ended') }
    case 'PolicyIndexationDelayed':
    case 'PolicyUpdated':
      return {}
  }
}

/** The premiums as the policy shows them: the next due date, and the result of the first. */
const changeByPremium = ({ first_premium }: PolicyRecord, event: PremiumEvent): Partial<PolicyRecord> => {
  if (event.type === 'PremiumDue') return { next_collection_on: event.next_due_on }
  if (event.type === 'PremiumCollected' && event.number === 1)
    return { first_premium: { method: event.method, status: 'succeeded', paid_at: event.collected_at } }
  return event.type === 'PremiumFailed' && event.number === 1
    ? { first_premium: { ...first_premium, status: 'failed' } }
    : {}
}

/** Nothing is due any more. */
const ended = { next_collection_on: null, next_review_on: null, next_indexation_on: null } as const

const withStatus = (components: PolicyRecord['components'], status: PolicyComponent['status']) =>
  components.map((component) => ({ ...component, status }))

/** A cover ended before does not end later. */
const endedOn = ({ components }: PolicyRecord, date: string): PolicyRecord['components'] =>
  withStatus(components, 'ended').map((component) => ({
    ...component,
    ends_on: component.ends_on !== null && component.ends_on < date ? component.ends_on : date,
  }))

const reinstated =
  ({ ended_covers }: PolicyRecord) =>
  (component: PolicyComponent): PolicyComponent => ({
    ...component,
    status: ended_covers.includes(component.cover_index) ? 'ended' : 'active',
    ends_on: component.expires_on,
  })

/** The amount of the policy is that of the cover that was bought for it. */
const coverAmount = (
  { cover_amount_pence: former, components }: PolicyRecord,
  terms: PolicyTerms['components'],
): number | null => {
  const cover = components.find(({ cover_amount_pence }) => cover_amount_pence === former)
  return terms.find(({ cover_index }) => cover_index === cover?.cover_index)?.cover_amount_pence ?? former
}

const withTerms = (policy: PolicyRecord, { premium_pence, annual_premium_pence, components }: PolicyTerms) => ({
  premium_pence,
  annual_premium_pence,
  cover_amount_pence: coverAmount(policy, components),
  components: policy.components.map((component) => ({
    ...component,
    ...components.find(({ cover_index }) => cover_index === component.cover_index),
  })),
})

const documentNames: Readonly<Record<string, string>> = {
  policy_schedule: 'Policy schedule',
  cancellation_notice: 'Your right to cancel',
} satisfies Readonly<Record<PolicyDocumentKind, string>>

/** Key documents are where the product says; what was rendered for the policy is below it. */
const documentShown =
  (policy_id: string, baseUrl: string) =>
  ({ document_id, version_id, kind, key_document, issued_at }: PolicyRecord['documents'][number]): PolicyDocument => {
    const own = `/api/v1/policies/${policy_id}/documents/${version_id}`
    const { name, url } = key_document ?? { name: documentNames[kind] ?? kind, url: own }
    return { document_id, version_id, kind, name, url: url.startsWith('/') ? `${baseUrl}${url}` : url, issued_at }
  }

/** Whoever set it up, and whoever is told of it, knows it by the provider's id. */
const mandateShown = ({ payment_method, provider_mandate }: PolicyRecord): string | null =>
  payment_method.mandate_id === null ? null : (provider_mandate?.provider_mandate_id ?? null)

/** The policy as callers see it. `baseUrl` is that of our own documents. */
export const renderPolicy = (record: PolicyRecord, baseUrl: string): Policy => ({
  id: record.id,
  display_id: `pol_${record.id}`,
  policy_number: record.policy_number,
  status: record.status,
  application_id: record.application_id,
  quote_id: record.quote_id,
  product_id: record.product_id,
  product_release_id: record.product_release_id,
  customer: record.customer,
  joint_customer: record.joint_customer,
  currency_code: record.currency_code,
  premium_pence: record.premium_pence,
  premium_frequency: 'monthly',
  annual_premium_pence: record.annual_premium_pence,
  cover_amount_pence: record.cover_amount_pence,
  term_years: record.term_years,
  components: record.components,
  start_date: record.start_date,
  end_date: record.end_date,
  cooling_off_ends_on: record.cooling_off_ends_on,
  collection_day: record.collection_day,
  first_collection_on: record.first_collection_on,
  next_collection_on: record.next_collection_on,
  payment_method: { ...record.payment_method, mandate_id: mandateShown(record) },
  first_premium: record.first_premium,
  documents: record.documents.map(documentShown(record.id, baseUrl)),
  next_review_on: record.next_review_on,
  next_indexation_on: record.next_indexation_on,
  cancelled_on: record.cancelled_on,
  cancellation_reason: record.cancellation_reason,
  test: record.test,
  created_at: record.created_at,
  updated_at: record.updated_at,
})
