import { Rejection } from '../rejection.ts'
import type { ClaimEvent, ClaimId } from '../claims/events.ts'
import type { Claim, ClaimStatus } from '../claims/record.ts'
import type { CoverType } from '../values.ts'
import { laterOf } from './dates.ts'
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

type Covers = PolicyState['components']

export const unknownClaim = () =>
  new Rejection('not_found', 'This policy has no claim with this id. Check the address.')

const invalid = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

export const openClaim = (command: OpenClaim, policy: PolicyState): readonly ClaimEvent[] => {
  const { type: _type, today, ...given } = command
  if (policy.claims.some(({ claim_id }) => claim_id === given.claim_id)) return []
  const { start_date, components, uncovered } = policy
  const { happened_on, cover_index } = given
  if (happened_on < start_date) throw invalid('happened_on', `must not be before cover begins, on ${start_date}`)
  if (happened_on > today) throw invalid('happened_on', 'must not be after today')
  const ofType = components.filter(({ cover_type }) => cover_type === given.claim_type)
  if (ofType.length === 0) throw invalid('claim_type', 'is not covered by this policy')
  const covers = ofType.filter((cover) => cover_index === null || cover.cover_index === cover_index)
  if (covers.length === 0) throw invalid('cover_index', 'is not a cover of this type')
  const until = lastEnd(covers, policy)
  if (until !== null && happened_on >= until) throw invalid('happened_on', `cover ended on ${until}`)
  const gap = uncovered.find(({ from, until: end }) => from <= happened_on && happened_on < end)
  if (gap)
    throw invalid('happened_on', `there was no cover from ${gap.from} until ${gap.until}, when it was reinstated`)
  return [{ type: 'ClaimOpened', ...given, customer_id: policy.customer.id }]
}

/** When the last of these covers has ended, or will; null when one has no end. */
const lastEnd = (covers: Covers, { cancelled_on, lapsed_on }: PolicyState): string | null => {
  const ends = covers.map(({ ends_on, expires_on }) => {
    const dates = [cancelled_on, lapsed_on, ends_on, expires_on].filter((date) => date !== null)
    return dates.toSorted()[0] ?? null
  })
  return ends.reduce((last, end) => (last === null || end === null ? null : laterOf(last, end)), ends[0] ?? null)
}

const possibleFrom: Readonly<Record<ClaimDecision, readonly ClaimStatus[]>> = {
  request_evidence: ['open'],
  approve: ['open', 'evidence_requested'],
  decline: ['open', 'evidence_requested', 'approved'],
  pay: ['approved'],
  close: ['open', 'evidence_requested', 'declined', 'paid'],
  reopen: ['declined', 'closed'],
}

const decisionsFrom = (status: ClaimStatus): readonly string[] =>
  Object.entries(possibleFrom).flatMap(([decision, from]) => (from.includes(status) ? [decision] : []))

const statusBy: Readonly<Record<ClaimDecision, ClaimStatus>> = {
  request_evidence: 'evidence_requested',
  approve: 'approved',
  decline: 'declined',
  pay: 'paid',
  close: 'closed',
  reopen: 'open',
}

/** What was paid of a claim, and what was approved and is still to be paid. */
const committed = ({ status, amount_pence, paid_pence }: Claim): number =>
  paid_pence + (status === 'approved' ? (amount_pence ?? 0) : 0)

const indexesOf = (covers: Covers): ReadonlySet<number> => new Set(covers.map(({ cover_index }) => cover_index))

const isAccelerated = ({ cover_type, ci_payout_basis }: Covers[number]): boolean =>
  cover_type === 'critical_illness' && ci_payout_basis === 'accelerated'

/**
 * What is left of lump sums, however many claims there are: what an accelerated critical illness cover pays comes out of the
 * life cover. Covers without an amount, such as a plan's, have no limit.
 */
const lumpSumLeft = (claim: Claim, { claims, components }: PolicyState): number => {
  const coversOf = ({ claim_type, cover_index }: Claim): Covers =>
    components.filter((cover) =>
      cover_index === null ? cover.cover_type === claim_type : cover.cover_index === cover_index,
    )
  const others = claims
    .filter(({ claim_id }) => claim_id !== claim.claim_id)
    .map((each) => ({ pence: committed(each), from: indexesOf(coversOf(each)) }))
  const all = [...others, { pence: claim.paid_pence, from: indexesOf(coversOf(claim)) }]
  /** Of these covers together, once what is claimed of any of them alone or of all of them is paid. */
  const leftOf = (covers: Covers, payFor: Covers = covers): number => {
    const indexes = indexesOf([...covers, ...payFor])
    const used = all.filter(({ from }) => from.size > 0 && [...from].every((index) => indexes.has(index)))
    const amount = covers.reduce((sum, { cover_amount_pence }) => sum + (cover_amount_pence ?? Infinity), 0)
    return amount - used.reduce((sum, { pence }) => sum + pence, 0)
  }

  const covers = coversOf(claim)
  const ofType = components.filter(({ cover_type }) => cover_type === claim.claim_type)
  const life = components.filter(({ cover_type }) => cover_type === 'life')
  const accelerated = components.filter(isAccelerated)
  const isPaidOutOfLife = claim.claim_type === 'life' || (covers.length > 0 && covers.every(isAccelerated))
  const limits = [leftOf(covers), leftOf(ofType)]
  if (isPaidOutOfLife && life.length > 0) limits.push(leftOf(life, accelerated))
  return Math.max(0, Math.min(...limits))
}

/** A monthly benefit is claimed month by month, each at most the benefit of a month; of lump sums no more than is left. */
const refuseBeyondCover = (amount_pence: number | null, claim: Claim, policy: PolicyState): void => {
  const covers = policy.components.filter(({ cover_type, cover_index }) =>
    claim.cover_index === null ? cover_type === claim.claim_type : cover_index === claim.cover_index,
  )
  const isMonthly = covers.some(({ monthly_benefit_pence }) => monthly_benefit_pence !== null)
  const most = isMonthly
    ? covers.reduce((sum, cover) => sum + (cover.monthly_benefit_pence ?? cover.cover_amount_pence ?? Infinity), 0)
    : lumpSumLeft(claim, policy)
  if (amount_pence === null || amount_pence <= most) return
  const what = isMonthly ? 'the benefit of a month' : 'what is left of what is covered'
  throw invalid('amount_pence', `must be at most ${most}, ${what}`)
}

export const decideClaim = (command: DecideClaim, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { claim_id, decision, note, ends_policy, today } = command
  const claim = policy.claims.find((each) => each.claim_id === claim_id)
  if (!claim) throw unknownClaim()
  if (claim.status === statusBy[decision]) return []
  if (!possibleFrom[decision].includes(claim.status))
    throw new Rejection(
      'conflict',
      `A claim that is ${claim.status} cannot be decided so (${decision}). What can be decided: ${decisionsFrom(claim.status).join(', ')}.`,
    )
  const amount_pence = command.amount_pence ?? claim.amount_pence
  if ((decision === 'approve' || decision === 'pay') && amount_pence === null)
    throw invalid('amount_pence', 'is required, since none was claimed')
  if (decision === 'approve' || decision === 'pay') refuseBeyondCover(amount_pence, claim, policy)
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
