import type { PolicyEvent } from '#domain/policies/events.ts'

type DueTimes = { readonly policy_start?: string | null; readonly policy_end?: string | null }

/** When a date begins. */
const beginOf = (date: string): string => `${date}T00:00:00.000Z`

/** What an event makes due, by the kind of its timer; null: that is due no more. */
export const policyDueTimes = (event: PolicyEvent): DueTimes => {
  switch (event.type) {
    case 'PolicyBound':
      return {
        policy_start: beginOf(event.start_date),
        ...(event.end_date !== null && { policy_end: beginOf(event.end_date) }),
      }
    case 'PolicyActivated':
      return { policy_start: null }
    case 'PolicyCancelled':
    case 'PolicyExpired':
      return { policy_start: null, policy_end: null }
    case 'PolicyPartnerRecorded':
    case 'PolicyDocumentIssued':
      return {}
  }
}
