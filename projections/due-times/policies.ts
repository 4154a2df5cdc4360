import type { PolicyEvent } from '#domain/policies/events.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { policyTimers } from '#domain/timer-kinds.ts'

type Kind = (typeof policyTimers)[number]
type DueTimes = { readonly [kind in Kind]?: string | null }

const nothing: DueTimes = Object.fromEntries(policyTimers.map((kind) => [kind, null]))

/** The due times that an event gives the timers of a policy, by kind; null: due no more. */
export const policyDueTimes = (event: PolicyEvent, occurred_at: string): DueTimes => {
  switch (event.type) {
    case 'PolicyBound': {
      const { time_zone, start_date, end_date } = event
      return {
        policy_start: startOfDayIn(time_zone, start_date),
        ...(end_date !== null && { policy_end: startOfDayIn(time_zone, end_date) }),
        ...(event.provider_mandate === null && event.mandate_id === null && { policy_mandate: occurred_at }),
        policy_premium: startOfDayIn(time_zone, event.first_collection_on),
        ...(event.next_review_on !== null && { policy_review: startOfDayIn(time_zone, event.next_review_on) }),
        ...(event.next_indexation_on !== null && {
          policy_indexation: startOfDayIn(time_zone, event.next_indexation_on),
        }),
      }
    }
    case 'PolicyActivated':
      return { policy_start: null }
    case 'PolicyMandateRecorded':
    case 'PolicyMandateRefused':
      return { policy_mandate: null }
    case 'PolicyMandateDelayed':
      return { policy_mandate: event.retry_at }
    case 'PolicyMandateRequested':
      return { policy_mandate: occurred_at }
    case 'ArrearsChanged':
      return { policy_arrears: event.check_at }
    case 'PolicyReinstated':
      return {
        policy_premium: event.next_collection_at,
        policy_end: event.end_at,
        policy_review: event.review_at,
        policy_indexation: event.indexation_at,
      }
    case 'PolicyAmended':
      return { policy_premium: event.next_collection_at }
    case 'PolicyIndexed':
      return { policy_indexation: event.next_indexation_at }
    case 'PolicyIndexationDelayed':
      return { policy_indexation: event.retry_at }
    case 'PolicyReviewDue':
      return { policy_review: null }
    case 'PolicyReviewed':
      return { policy_review: event.next_review_at }
    case 'PolicyCancelled':
    case 'PolicyExpired':
    case 'PolicyLapsed':
    case 'PolicyEndedByClaim':
      return nothing
    case 'PolicyPartnerRecorded':
    case 'PolicyUpdated':
    case 'PolicyDocumentIssued':
    case 'PolicyMandateChanged':
    case 'PolicySuspended':
    case 'PolicyReviewPriced':
    case 'PolicyCoverEnded':
      return {}
  }
}
