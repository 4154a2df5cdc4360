import type { PolicyEvent } from '#domain/policies/events.ts'
import { startOfDayIn } from '#domain/time-zone.ts'

type Kind = 'policy_start' | 'policy_end' | 'policy_mandate'
type DueTimes = { readonly [kind in Kind]?: string | null }

const nothing: DueTimes = { policy_start: null, policy_end: null, policy_mandate: null }

/** What an event makes due, by the kind of its timer; null: that is due no more. */
export const policyDueTimes = (event: PolicyEvent, occurred_at: string): DueTimes => {
  switch (event.type) {
    case 'PolicyBound': {
      const { time_zone, start_date, end_date } = event
      return {
        policy_start: startOfDayIn(time_zone, start_date),
        ...(end_date !== null && { policy_end: startOfDayIn(time_zone, end_date) }),
        ...(event.provider_mandate === null && event.mandate_id === null && { policy_mandate: occurred_at }),
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
    case 'PolicyCancelled':
    case 'PolicyExpired':
      return nothing
    case 'PolicyPartnerRecorded':
    case 'PolicyUpdated':
    case 'PolicyDocumentIssued':
    case 'PolicyMandateChanged':
      return {}
  }
}
