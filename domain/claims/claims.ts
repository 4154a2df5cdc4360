import { z } from 'zod'
import { notFound, Rejection } from '../rejection.ts'
import type { CoverType } from '../values.ts'
import { laterOf } from '../dates.ts'
import { differencesOf, refuseOtherContent } from '../same-key.ts'
import { hasEnded } from '../policies/ended.ts'
import type { PolicyStreamEvent } from '../policies/record.ts'
import type { PolicyState } from '../policies/state.ts'
import { writeOffOpen } from '../premiums/write-off.ts'
import type { ClaimEvent, ClaimId } from './events.ts'
import { statusAfter, type Claim, type ClaimStatus } from './record.ts'

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

export const ClaimDecision = z.enum(['request_evidence', 'approve', 'decline', 'pay', 'close', 'reopen'])
export type ClaimDecision = z.infer<typeof ClaimDecision>

/** The decisions of which the team must say why. */
export const needNote: readonly ClaimDecision[] = ['decline', 'pay']

export type DecideClaim = {
  readonly type: 'DecideClaim'
  readonly claim_id: ClaimId
  readonly decision: ClaimDecision
  /** Null: what was said before. */
  readonly amount_pence: number | null
  readonly note: string | null
  /** Cover ends with the payment. */
  readonly ends_policy: boolean
  readonly today: string
}

type Covers = PolicyState['components']

const invalid = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

export const openClaim = (command: OpenClaim, policy: PolicyState): readonly ClaimEvent[] => {
  const { type: _type, today, ...given } = command
  const opened = policy.opened_claims.find(({ claim_id }) => claim_id === given.claim_id)
  if (opened) {
    refuseOtherContent('opened a claim', differencesOf(given, opened))
    return []
  }
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

/** When a cover has ended, or will; null when it has no end. */
const endOf = (
  { ends_on, expires_on }: Covers[number],
  { cancelled_on, lapsed_on }: Pick<PolicyState, 'cancelled_on' | 'lapsed_on'>,
): string | null => {
  const dates = [cancelled_on, lapsed_on, ends_on, expires_on].filter((date) => date !== null)
  return dates.toSorted()[0] ?? null
}

/** When the last of these covers has ended, or will; null when one has no end. */
const lastEnd = (covers: Covers, policy: PolicyState): string | null => {
  const ends = covers.map((cover) => endOf(cover, policy))
  return ends.reduce((last, end) => (last === null || end === null ? null : laterOf(last, end)), ends[0] ?? null)
}

/** A cover that had ended by the day claimed for pays nothing. */
const coversOf = ({ claim_type, cover_index, happened_on }: Claim, policy: PolicyState): Covers =>
  policy.components.filter((cover) => {
    const end = endOf(cover, policy)
    const isMeant = cover_index === null ? cover.cover_type === claim_type : cover.cover_index === cover_index
    return isMeant && (end === null || happened_on < end)
  })

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

const eventBy = {
  request_evidence: 'ClaimEvidenceRequested',
  approve: 'ClaimApproved',
  decline: 'ClaimDeclined',
  pay: 'ClaimPaid',
  close: 'ClaimClosed',
  reopen: 'ClaimReopened',
} as const satisfies Record<ClaimDecision, ClaimEvent['type']>

/** The amount paid of a claim plus the amount approved and not paid yet. */
const committed = ({ status, amount_pence, paid_pence }: Claim): number =>
  paid_pence + (status === 'approved' ? (amount_pence ?? 0) : 0)

type Indexes = ReadonlySet<number>

const indexesOf = (covers: Covers): Indexes => new Set(covers.map(({ cover_index }) => cover_index))

const isAccelerated = ({ cover_type, ci_payout_basis }: Covers[number]): boolean =>
  cover_type === 'critical_illness' && ci_payout_basis === 'accelerated'

const amountOf = (covers: Covers): number =>
  covers.reduce((sum, { cover_amount_pence }) => sum + (cover_amount_pence ?? Infinity), 0)

/**
 * The pence left of lump sums, over all claims: an accelerated critical illness cover pays out of the life cover. A claim may
 * be on several covers, and which of them has paid it is left open: whichever covers are looked at together, claims on
 * nothing else take no more than they pay together. Covers without an amount, such as a plan's, have no limit.
 */
const lumpSumLeft = (claim: Claim, policy: PolicyState): number => {
  const { claims, components } = policy
  const ofType = (type: CoverType): Covers => components.filter(({ cover_type }) => cover_type === type)
  const life = ofType('life')
  const isPaidOutOfLife = (cover: Covers[number]): boolean =>
    cover.cover_type === 'life' || (life.length > 0 && isAccelerated(cover))
  const payTogether = (covers: Covers): number =>
    amountOf(covers.filter((cover) => !isPaidOutOfLife(cover))) +
    Math.min(amountOf(life), amountOf(covers.filter(isPaidOutOfLife)))

  const others = claims.filter(({ claim_id }) => claim_id !== claim.claim_id)
  const all = [...others.map((each) => ({ pence: committed(each), each })), { pence: claim.paid_pence, each: claim }]
  const used = all.map(({ pence, each }) => ({ pence, from: indexesOf(coversOf(each, policy)) }))
  const leftOf = (indexes: Indexes): number => {
    const paid = used.filter(({ from }) => from.size > 0 && from.isSubsetOf(indexes))
    return (
      payTogether(components.filter(({ cover_index }) => indexes.has(cover_index))) -
      paid.reduce((sum, { pence }) => sum + pence, 0)
    )
  }

  // Covers that neither a claim on several nor the life cover ties together have no less left than each of them alone.
  const tied = [components.filter(isPaidOutOfLife)].map(indexesOf)
  for (const { from } of used) if (from.size > 1) tied.push(from)
  const together = tied.reduce<readonly Indexes[]>(
    (sets, more) => distinct([...sets, ...sets.map((indexes) => indexes.union(more))]),
    [indexesOf(coversOf(claim, policy))],
  )
  return Math.max(0, Math.min(...together.map(leftOf)))
}

const distinct = (sets: readonly Indexes[]): readonly Indexes[] => [
  ...new Map(sets.map((indexes) => [[...indexes].toSorted((one, other) => one - other).join(), indexes])).values(),
]

/** A monthly benefit is claimed month by month, each at most the benefit of a month; of lump sums no more than is left. */
const refuseBeyondCover = (amount_pence: number | null, claim: Claim, policy: PolicyState): void => {
  const covers = coversOf(claim, policy)
  const isMonthly = covers.some(({ monthly_benefit_pence }) => monthly_benefit_pence !== null)
  const most = isMonthly
    ? covers.reduce((sum, cover) => sum + (cover.monthly_benefit_pence ?? cover.cover_amount_pence ?? Infinity), 0)
    : lumpSumLeft(claim, policy)
  if (amount_pence === null || amount_pence <= most) return
  const what = isMonthly ? 'the benefit of a month' : 'what is left of what is covered'
  throw invalid('amount_pence', `must be at most ${most}, ${what}`)
}

/** A repeated decision changes nothing; another amount or note, or the end of cover, must not be lost without a word. */
const saysNothingElse = (command: DecideClaim, claim: Claim, policy: PolicyState): boolean => {
  const { decision, amount_pence, note, ends_policy } = command
  return (
    (amount_pence === null || amount_pence === claim.amount_pence) &&
    (note === null || note === claim.note) &&
    (decision !== 'pay' || !ends_policy || hasEnded(policy))
  )
}

export const decideClaim = (command: DecideClaim, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { claim_id, decision, note, ends_policy, today } = command
  if (note === null && needNote.includes(decision)) throw invalid('note', 'is required to decline and to pay')
  const claim = policy.claims.find((each) => each.claim_id === claim_id)
  if (!claim) throw notFound('claim')
  if (claim.status === statusAfter[eventBy[decision]] && saysNothingElse(command, claim, policy)) return []
  if (!possibleFrom[decision].includes(claim.status))
    throw new Rejection(
      'conflict',
      `A claim that is ${claim.status} cannot be decided so (${decision}). What can be decided: ${decisionsFrom(claim.status).join(', ')}.`,
    )
  const amount_pence = command.amount_pence ?? claim.amount_pence
  if ((decision === 'approve' || decision === 'pay') && amount_pence === null)
    throw invalid('amount_pence', 'is required, since none was claimed')
  if (decision === 'approve' || decision === 'pay') refuseBeyondCover(amount_pence, claim, policy)
  const about = { claim_id, claim_type: claim.claim_type, customer_id: policy.customer.id, amount_pence, note }
  const decided: ClaimEvent =
    decision === 'pay' ? { type: eventBy.pay, ...about, paid_on: today } : { type: eventBy[decision], ...about }
  if (decision !== 'pay' || !ends_policy || hasEnded(policy)) return [decided]
  return [decided, { type: 'PolicyEndedByClaim', claim_id, ended_on: today }, ...writeOffOpen(policy)]
}
