import { Rejection } from '../rejection.ts'
import type { ClaimEvent, ClaimId } from '../claims/events.ts'
import type { Claim, ClaimStatus } from '../claims/record.ts'
import type { CoverType } from '../values.ts'
import { hasEnded } from './ended.ts'
import { writeOffOpen } from './premiums.ts'
import type { PolicyStreamEvent } from './record.ts'
import type { PolicyState } from './state.ts'

/** The operator's acts. */
export type OpenClaim = {
  readonly type: 'OpenClaim'
  readonly claim_id: ClaimId
  readonly claim_type: CoverType
  readonly cover_index: number | null
  readonly happened_on: string
  readonly amount_pence: number | null
  readonly note: string | null
  /** The date now, where the organisation is. */
  readonly today: string
}

export type ClaimDecision = 'request_evidence' | 'approve' | 'decline' | 'pay' | 'close' | 'reopen'

export type DecideClaim = {
  readonly type: 'DecideClaim'
  readonly claim_id: ClaimId
  readonly decision: ClaimDecision
  /** Null: what was said before. */
  readonly amount_pence: number | null
  readonly note: string | null
  /** Whether cover ends with the payment. */
  readonly ends_policy: boolean
  readonly today: string
}

export const unknownClaim = () =>
  new Rejection('not_found', 'This policy has no claim with this id. Check the address.')

const invalid = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

export const openClaim = (command: OpenClaim, policy: PolicyState): readonly ClaimEvent[] => {
  const { type: _type, today, ...given } = command
  if (policy.claims.some(({ claim_id }) => claim_id === given.claim_id)) return []
  const { start_date, cancelled_on, lapsed_on, end_date, components } = policy
  const until = [cancelled_on, lapsed_on, end_date].flatMap((date) => date ?? []).toSorted()[0]
  if (given.happened_on < start_date || given.happened_on > today)
    throw invalid('happened_on', `must be from ${start_date} to today`)
  if (until !== undefined && given.happened_on >= until) throw invalid('happened_on', `cover ended on ${until}`)
  const covers = components.filter(({ cover_type }) => cover_type === given.claim_type)
  if (covers.length === 0) throw invalid('claim_type', 'is not covered by this policy')
  if (given.cover_index !== null && !covers.some(({ cover_index }) => cover_index === given.cover_index))
    throw invalid('cover_index', 'is not a cover of this type')
  return [{ type: 'ClaimOpened', ...given, customer_id: policy.customer.id }]
}

const possibleFrom: Readonly<Record<ClaimDecision, readonly ClaimStatus[]>> = {
  request_evidence: ['open'],
  approve: ['open', 'evidence_requested'],
  decline: ['open', 'evidence_requested', 'approved'],
  pay: ['approved'],
  close: ['open', 'evidence_requested', 'declined', 'paid'],
  reopen: ['declined', 'closed'],
}

const statusBy: Readonly<Record<ClaimDecision, ClaimStatus>> = {
  request_evidence: 'evidence_requested',
  approve: 'approved',
  decline: 'declined',
  pay: 'paid',
  close: 'closed',
  reopen: 'open',
}

export const decideClaim = (command: DecideClaim, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { claim_id, decision, note, ends_policy, today } = command
  const claim = policy.claims.find((each) => each.claim_id === claim_id)
  if (!claim) throw unknownClaim()
  if (claim.status === statusBy[decision]) return []
  if (!possibleFrom[decision].includes(claim.status))
    throw new Rejection('conflict', `A claim that is ${claim.status} cannot be decided so (${decision}).`)
  const amount_pence = command.amount_pence ?? claim.amount_pence
  if ((decision === 'approve' || decision === 'pay') && amount_pence === null)
    throw invalid('amount_pence', 'is required, since none was claimed')
  const about = { claim_id, claim_type: claim.claim_type, customer_id: policy.customer.id, amount_pence }
  const decided = eventBy(decision, { ...about, note }, today)
  if (decision !== 'pay' || !ends_policy || hasEnded(policy)) return [decided]
  return [decided, { type: 'PolicyEndedByClaim', claim_id, ended_on: today }, ...writeOffOpen(policy)]
}

type About = Pick<ClaimEvent, 'claim_id' | 'claim_type' | 'customer_id' | 'amount_pence'> & Pick<Claim, 'note'>

const eventBy = (decision: ClaimDecision, about: About, paid_on: string): ClaimEvent => {
  switch (decision) {
    case 'request_evidence':
      return { type: 'ClaimEvidenceRequested', ...about }
    case 'approve':
      return { type: 'ClaimApproved', ...about }
    case 'decline':
      return { type: 'ClaimDeclined', ...about }
    case 'pay':
      return { type: 'ClaimPaid', ...about, paid_on }
    case 'close':
      return { type: 'ClaimClosed', ...about }
    case 'reopen':
      return { type: 'ClaimReopened', ...about }
  }
}
