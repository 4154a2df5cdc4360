import { sumOf } from '../money.ts'
import { refundedPence, type MadeRefund, type Payment } from '../payments/payment.ts'
import type { PremiumEvent, PremiumRefundId, RefundReason } from './events.ts'
import { about } from './premium-of.ts'
import type { Premium, PremiumRefund } from './record.ts'
import { isGift, isOwed, penceOf } from './refund-record.ts'
import { reduced } from './refunds.ts'
import {
  attemptOf,
  excessReason,
  inTurn,
  isAsked,
  pendingPence,
  sumsOf,
  type Decision,
  type Facts,
  type Step,
} from './sums.ts'

type Match = { readonly payment: Payment; readonly refund: MadeRefund; readonly entries: readonly PremiumRefund[] }

/**
 * Every refund at the provider, and where it is recorded. Where the provider's id was not recorded, its amount tells; what was
 * given back by hand may have been recorded together.
 */
const matched = ({ refunds }: Premium, payments: readonly Payment[]): readonly Match[] => {
  const unnamed = new Set(
    refunds.filter(
      ({ status, provider_refunds, failed_provider_refunds }) =>
        status === 'refunded' && provider_refunds.length + failed_provider_refunds.length === 0,
    ),
  )
  const candidatesOf = ({ attempt }: Payment) =>
    [...unnamed].filter((each) => each.attempt === null || each.attempt === attempt)
  const take = (entries: readonly PremiumRefund[]) => {
    for (const entry of entries) unnamed.delete(entry)
    return entries
  }
  const first = payments.flatMap((payment) =>
    payment.refunds.map((refund) => {
      const id = refund.provider_refund_id
      const named = refunds.filter(
        (each) => each.provider_refunds.includes(id) || each.failed_provider_refunds.includes(id),
      )
      if (named.length > 0) return { payment, refund, entries: named }
      const candidates = candidatesOf(payment)
      const same =
        candidates.find(({ refund_id }) => refund_id === refund.refund_id) ??
        candidates.find(({ refund_pence }) => refund_pence === refund.refund_pence)
      return { payment, refund, entries: take(same ? [same] : partsOf(candidates, refund.refund_pence)) }
    }),
  )
  const left = new Map([...unnamed].map((entry) => [entry, entry.refund_pence]))
  return first.map((each) => {
    const { payment, refund, entries } = each
    if (entries.length > 0) return each
    const together = candidatesOf(payment).find((entry) => (left.get(entry) ?? 0) >= refund.refund_pence)
    if (!together) return each
    left.set(together, refund.has_failed ? 0 : (left.get(together) ?? 0) - refund.refund_pence)
    return { ...each, entries: [together] }
  })
}

const partsOf = (candidates: readonly PremiumRefund[], pence: number): readonly PremiumRefund[] => {
  const parts: PremiumRefund[] = []
  let left = pence
  for (const each of candidates)
    if (each.refund_pence <= left) {
      parts.push(each)
      left -= each.refund_pence
    }
  return left === 0 ? parts : []
}

const refunded = (
  premium: Premium,
  { payment, refund: { provider_refund_id } }: Pick<Match, 'payment' | 'refund'>,
  { refund_id, refund_pence, reason }: Pick<PremiumRefund, 'refund_id' | 'refund_pence' | 'reason'>,
): PremiumEvent => ({
  type: 'PremiumRefunded',
  ...about(premium),
  attempt: attemptOf(payment),
  refund_id,
  refund_pence,
  reason,
  provider_refund_id,
})

/**
 * A refund counts towards the sum owed, whoever made it; then towards the sum paid too much. Only the rest was a gift, by
 * which less is owed for the premium.
 */
export const recordRefunds: Step = (premium, known) => {
  const found = matched(premium, known.payments).filter(
    ({ refund, entries }) => entries.length === 0 && (!refund.has_failed || isOurs(premium, refund)),
  )
  // What was made by hand counts towards what nobody else has given back.
  const rank = ({ refund }: Match) => (isOurs(premium, refund) ? 0 : 1)
  const unrecorded = found.toSorted((one, other) => rank(one) - rank(other))
  const steps = unrecorded.map((match, place): Step => {
    const later = sumOf(unrecorded.slice(place), ({ refund }) => (refund.has_failed ? 0 : refund.refund_pence))
    return (record) => recordRefund(record, match, known, later)
  })
  return inTurn(premium, known, steps)
}

const isOurs = ({ refunds }: Premium, { refund_id, provider_refund_id }: MadeRefund): boolean =>
  refunds.some(
    (each) =>
      each.refund_id === refund_id && isOwed(each) && !each.failed_provider_refunds.includes(provider_refund_id),
  )

/** `unrecorded_pence` is given back at the provider, this one included, and stands nowhere in the record yet. */
const recordRefund = (premium: Premium, match: Match, known: Facts, unrecorded_pence: number): Decision => {
  const { refund } = match
  // A gift that has come back is owed to nobody.
  const owed = premium.refunds.filter((each) => isOwed(each) && !isGift(each))
  const named = owed.find(({ refund_id }) => refund_id === refund.refund_id)
  const same = owed.filter(({ refund_pence }) => refund_pence === refund.refund_pence)
  const towards = named ? [named] : same.length > 0 ? same.slice(0, 1) : owed
  const decided: PremiumEvent[] = []
  let left = refund.refund_pence
  for (const each of towards) {
    if (left === 0) break
    // What the provider is about to give back is not given back by hand as well.
    const coming = named ? 0 : pendingPence(each, known.payments)
    const pence = Math.min(left, each.refund_pence - coming)
    if (pence <= 0) continue
    const isWhole = pence === each.refund_pence
    const part = { ...each, refund_pence: pence, refund_id: partId(known, match, decided.length) }
    decided.push(refunded(premium, match, isWhole ? each : part))
    if (!isWhole) decided.push(reduced(premium, attemptOf(match.payment), each, each.refund_pence - pence))
    left -= pence
  }
  const { surplus, asked, coming } = sumsOf(premium, known)
  // Whoever gives back the whole of a payment while another is under way does so that it is not paid twice.
  const isWhole = refundedPence(match.payment) === match.payment.captured_pence
  const expected = unrecorded_pence + (isWhole ? coming : 0)
  const tooMuch = Math.min(left, Math.max(0, surplus + expected + asked - sumOf(owed, penceOf)))
  const byHand = (refund_pence: number, reason: RefundReason): void => {
    if (refund_pence > 0)
      decided.push(refunded(premium, match, { refund_id: partId(known, match, decided.length), refund_pence, reason }))
  }
  byHand(tooMuch, excessReason(premium, known))
  byHand(left - tooMuch, 'provider')
  return decided
}

const partId = ({ refundIdOf }: Facts, { refund: { provider_refund_id } }: Match, place: number): PremiumRefundId =>
  refundIdOf(place === 0 ? provider_refund_id : `${provider_refund_id} ${place}`)

/**
 * A refund that has come back to the provider is owed again, and left to the team. Where the provider has not said yet
 * whether it was made a second time, it is asked that first.
 */
export const recordFailedRefunds: Step = (premium, { payments, now }) =>
  matched(premium, payments).flatMap(({ payment, refund, entries }) => {
    const { provider_refund_id, has_failed } = refund
    if (!has_failed) return []
    return entries
      .filter((each) => each.status === 'refunded' && !each.failed_provider_refunds.includes(provider_refund_id))
      .flatMap((entry): Decision => {
        const { premium_id } = premium
        const { refund_id, refund_pence } = entry
        const failure_code = refund.failure_code ?? 'refund_failed'
        const on = { ...about(premium), refund_id, attempt: attemptOf(payment), refund_pence }
        const failed = { type: 'PremiumRefundFailed', ...on, failure_code, provider_refund_id } as const
        const unanswered = { failure_code: 'unanswered', attempt: 1, retry_at: now }
        return isAsked(entry, payments)
          ? [failed, { type: 'PremiumRefundDelayed', premium_id, refund_id, ...unanswered }]
          : [failed]
      })
  })
