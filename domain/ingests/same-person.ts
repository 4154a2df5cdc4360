import type { CustomerId } from '../values.ts'
import type { MatchedBy, ReviewReason } from './events.ts'

/** Somebody who fits what was sent. */
export type Candidate = { readonly contact_id: CustomerId; readonly email: string | null }

/** The people whom each part of what was sent points to. */
export type Findings = {
  readonly contact_id: CustomerId | undefined
  readonly external_id: CustomerId | undefined
  readonly email: CustomerId | undefined
  readonly phone: readonly Candidate[]
  readonly name: readonly Candidate[]
  readonly sent: {
    readonly email: string | null
    /** Something that was sent can tell one person from another, or at least name one. */
    readonly isAnybody: boolean
    readonly external_id: string | null
  }
  /** The external id that the person found by something else has already. */
  readonly heldExternalId: (contact_id: CustomerId) => string | null
}

export type Who =
  | { readonly known: CustomerId; readonly matched_by: MatchedBy }
  | { readonly known: undefined }
  | { readonly review: ReviewReason; readonly candidates: readonly CustomerId[] }

/**
 * A lead's person: by our id or theirs, else by email address, else by phone, else by name with date of birth or postcode.
 * Two people, or identifiers that contradict each other, are for a person to judge.
 */
export const whoIsIt = (findings: Findings): Who => {
  const { contact_id, external_id, email, sent } = findings
  const strong = [...new Set([contact_id, external_id, email].filter((id) => id !== undefined))]
  if (strong.length > 1) return { review: 'conflicting_identifiers', candidates: strong }

  const [known] = strong
  if (known !== undefined) {
    if (external_id === undefined && hasAnotherId(known, findings))
      return { review: 'conflicting_identifiers', candidates: [known] }
    const matched_by = contact_id ? 'contact_id' : external_id ? 'external_id' : 'email'
    return { known, matched_by }
  }
  const weakly = weakMatch('phone', findings) ?? weakMatch('name', findings)
  if (weakly) return weakly
  return sent.isAnybody ? { known: undefined } : { review: 'nobody_named', candidates: [] }
}

/** A sender that keeps our id as its own says nothing against the id of another system. */
const hasAnotherId = (contact_id: CustomerId, { sent: { external_id }, heldExternalId }: Findings): boolean => {
  const held = heldExternalId(contact_id)
  if (external_id === null || held === null || held === external_id) return false
  return ![held, external_id].some((id) => id.toLowerCase() === contact_id)
}

const weakMatch = (matched_by: 'phone' | 'name', findings: Findings): Who | undefined => {
  const { email } = findings.sent
  const candidates = findings[matched_by]
  const [first, second] = candidates
  if (!first) return undefined
  const ids = candidates.map(({ contact_id }) => contact_id)
  if (second) return { review: 'several_people', candidates: ids }
  // Those who live together may share a telephone, and are told apart by their ids.
  if (hasAnotherId(first.contact_id, findings)) return { review: 'conflicting_identifiers', candidates: ids }
  // One of both sides without an email address says nothing against it.
  return email !== null && first.email !== null && first.email !== email
    ? { review: 'different_emails', candidates: ids }
    : { known: first.contact_id, matched_by }
}
