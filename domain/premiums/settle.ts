import { isSameJson } from '../canonical-json.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { daysAfter } from '../dates.ts'
import { workingDayFrom, type BankCalendar } from '../working-days.ts'
import {
  askedPence,
  comingPence,
  heldPence,
  paidPence,
  refundedPence,
  type MadeRefund,
  type Payment,
} from '../payments/payment.ts'
import type { PremiumEvent, PremiumRefundId, RefundReason } from './events.ts'
import { disputeCode, evolvePremium, type Premium, type PremiumRefund } from './record.ts'

/** What of a policy says what is owed of its premiums. */
export type Obliged = {
  readonly application_id: Extract<PremiumEvent, { type: 'PremiumRefundOwed' }>['application_id']
  readonly card_payment_id: string | null
  readonly customer: { readonly id: Extract<PremiumEvent, { type: 'PremiumFailed' }>['customer_id'] }
  readonly cancelled_on: string | null
  readonly cancellation_reason: string | null
  readonly time_zone: string
  readonly collection_rules: { readonly retry_after_days: readonly number[] }
  /** Cover has come to its end, for whatever reason. */
  readonly has_ended: boolean
}

/** All that is known when a premium is settled. */
export type Known = {
  readonly policy: Obliged
  /** Every payment of the premium, in the order of the attempts. */
  readonly payments: readonly Payment[]
  readonly now: string
  /** It is collected again on a working day. */
  readonly calendar: BankCalendar
  /** The id of a refund that follows from what it is called. */
  readonly refundIdOf: (name: string) => PremiumRefundId
}

type Decision = readonly PremiumEvent[]
type Step = (premium: Premium, known: Known) => Decision

const sumOf = <Item>(items: readonly Item[], penceOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + penceOf(item), 0)

const about = ({ premium_id, number, amount_pence, due_on }: Premium) => ({ premium_id, number, amount_pence, due_on })

/** Whether the premium pays for a time that is not covered; by which kind of end. */
const notCovered = (
  { covers_from }: Premium,
  { cancelled_on, cancellation_reason }: Obliged,
): 'cooling_off' | 'policy_ended' | undefined => {
  if (cancelled_on === null) return undefined
  if (cancellation_reason === 'cooling_off') return 'cooling_off'
  return covers_from < cancelled_on ? undefined : 'policy_ended'
}

const penceOf = ({ refund_pence }: PremiumRefund): number => refund_pence
const isOwed = ({ status }: PremiumRefund): boolean => status === 'owed'
const isGiven = ({ status }: PremiumRefund): boolean => status === 'refunded' || status === 'paid_otherwise'
const isByTeam = ({ reason }: PremiumRefund): boolean => reason === 'operator'
/** Nobody owed it: somebody has given it back at the provider all the same. */
const isGift = ({ reason }: PremiumRefund): boolean => reason === 'provider'

const isAsked = (refund: PremiumRefund, payments: readonly Payment[]): boolean =>
  payments.some(({ asked }) => asked?.refund_id === refund.refund_id)

/** Whether the provider was asked to give back what is owed no more, such as what was given back by hand meanwhile. */
export const isNeedless = ({ refunds }: Premium, { asked }: Payment): boolean =>
  asked !== null && !refunds.some((each) => isOwed(each) && each.refund_id === asked.refund_id)

const pendingPence = ({ refund_id }: PremiumRefund, payments: readonly Payment[]): number =>
  sumOf(
    payments.filter(({ asked }) => asked?.refund_id === refund_id),
    askedPence,
  )

/**
 * What a premium comes to. All of it are sums of what has happened.
 *
 * `surplus`: what the firm has beyond what it may keep, or less. `excess`: the same, where it is more than nothing. `asked`: what
 * the provider was asked to give back, without an answer yet. `missing`: what is still to be paid. `coming`: what may be yet.
 */
export const sumsOf = (premium: Premium, { payments, policy }: Pick<Known, 'payments' | 'policy'>) => {
  const { refunds, amount_pence } = premium
  const otherwise = sumOf(
    refunds.filter(({ status }) => status === 'paid_otherwise'),
    penceOf,
  )
  // What was asked for, and is owed no more since, is not going to be given back.
  const needless = payments.filter((payment) => isNeedless(premium, payment))
  const asked = sumOf(payments, askedPence) - sumOf(needless, askedPence)
  const net = sumOf(payments, heldPence) + sumOf(needless, askedPence) - otherwise
  const isCovered = notCovered(premium, policy) === undefined
  const owed = isCovered ? amount_pence : 0
  const gifts = sumOf(
    refunds.filter((refund) => isGift(refund) && isGiven(refund)),
    penceOf,
  )
  const byTeam = refunds.filter(isByTeam)
  const promised = sumOf(
    byTeam.filter((refund) => isOwed(refund) || isGiven(refund)),
    penceOf,
  )
  const given = sumOf(
    byTeam.filter((refund) => isGiven(refund) || (isOwed(refund) && isAsked(refund, payments))),
    penceOf,
  )
  const isKept = (refund: PremiumRefund) =>
    refund.status === 'waived' && refund.waived_as === 'not_owed' && !isByTeam(refund) && !isGift(refund)
  const kept = sumOf(refunds.filter(isKept), penceOf)
  const surplus = net - Math.max(0, owed - promised - gifts) - kept
  // Where the firm has given back more than was paid, nothing is missing since.
  const left = owed - given - gifts
  return {
    surplus,
    excess: Math.max(0, surplus),
    asked,
    missing: Math.max(0, (isCovered ? left : Math.max(0, left)) - net),
    coming: sumOf(payments, comingPence),
  }
}

/** The payment that pays the premium: the first that stands. */
export const payingOf = (payments: readonly Payment[]): Payment | undefined =>
  payments.find((payment) => heldPence(payment) > 0) ?? payments.find((payment) => paidPence(payment) > 0)

/**
 * What follows for a premium from what stands at the provider. Called again it decides nothing more; it is called after any
 * news, and after every act of the team.
 */
export const settle = (premium: Premium, known: Known): Decision => {
  let record = premium
  const decided: PremiumEvent[] = []
  for (const step of [recordRefunds, recordFailedRefunds, recordStanding, planRefunds, recordPayments])
    for (const event of step(record, known)) {
      decided.push(event)
      record = evolvePremium(record, event, { occurred_at: known.now }) ?? record
    }
  return decided
}

type Told = { readonly payment: Payment; readonly refund: MadeRefund; readonly entries: readonly PremiumRefund[] }

/**
 * Every refund at the provider, and where it is recorded. Where the provider's id was not recorded, its amount tells; what was
 * given back by hand may have been recorded together.
 */
const toldOf = ({ refunds }: Premium, payments: readonly Payment[]): readonly Told[] => {
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
  const told = payments.flatMap((payment) =>
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
  return told.map((each) => {
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

const attemptOf = ({ attempt }: Payment): number => attempt ?? 1

const refunded = (
  premium: Premium,
  { payment, refund: { provider_refund_id } }: Pick<Told, 'payment' | 'refund'>,
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
 * What is given back counts towards what is owed, whoever gave it back; then towards what was paid too much. Only the rest was a
 * gift, by which less is owed for the premium.
 */
const recordRefunds: Step = (premium, known) => {
  const found = toldOf(premium, known.payments).filter(
    ({ refund, entries }) => entries.length === 0 && (!refund.has_failed || isOurs(premium, refund)),
  )
  // What was made by hand counts towards what nobody else has given back.
  const isByHand = ({ refund }: Told) => !isOurs(premium, refund)
  const unrecorded = [...found.filter((each) => !isByHand(each)), ...found.filter(isByHand)]
  const decided: PremiumEvent[] = []
  let record = premium
  for (const [place, told] of unrecorded.entries()) {
    const later = sumOf(unrecorded.slice(place), ({ refund }) => (refund.has_failed ? 0 : refund.refund_pence))
    for (const event of recordRefund(record, told, known, later)) {
      decided.push(event)
      record = evolvePremium(record, event, { occurred_at: known.now }) ?? record
    }
  }
  return decided
}

const isOurs = ({ refunds }: Premium, { refund_id, provider_refund_id }: MadeRefund): boolean =>
  refunds.some(
    (each) =>
      each.refund_id === refund_id && isOwed(each) && !each.failed_provider_refunds.includes(provider_refund_id),
  )

/** `unrecorded_pence` is given back at the provider, this one included, and stands nowhere in the record yet. */
const recordRefund = (premium: Premium, told: Told, known: Known, unrecorded_pence: number): Decision => {
  const { refund } = told
  const owed = premium.refunds.filter(isOwed)
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
    const part = { ...each, refund_pence: pence, refund_id: partId(known, told, decided.length) }
    decided.push(refunded(premium, told, isWhole ? each : part))
    if (!isWhole) decided.push(reduced(premium, attemptOf(told.payment), each, each.refund_pence - pence))
    left -= pence
  }
  const { surplus, asked, coming } = sumsOf(premium, known)
  // Whoever gives back the whole of a payment while another is under way does so that it is not paid twice.
  const isWhole = refundedPence(told.payment) === told.payment.captured_pence
  const expected = unrecorded_pence + (isWhole ? coming : 0)
  const tooMuch = Math.min(left, Math.max(0, surplus + expected + asked - sumOf(owed, penceOf)))
  const byHand = (refund_pence: number, reason: RefundReason): void => {
    if (refund_pence > 0)
      decided.push(refunded(premium, told, { refund_id: partId(known, told, decided.length), refund_pence, reason }))
  }
  byHand(tooMuch, excessReason(premium, known))
  byHand(left - tooMuch, 'provider')
  return decided
}

const partId = ({ refundIdOf }: Known, { refund: { provider_refund_id } }: Told, place: number): PremiumRefundId =>
  refundIdOf(place === 0 ? provider_refund_id : `${provider_refund_id} ${place}`)

const excessReason = (premium: Premium, { policy }: Known): RefundReason => notCovered(premium, policy) ?? 'paid_twice'

const reduced = (
  premium: Premium,
  attempt: number,
  { refund_id }: PremiumRefund,
  refund_pence: number,
): PremiumEvent => ({ type: 'PremiumRefundReduced', ...about(premium), refund_id, attempt, refund_pence })

/** What was given back has come back to the provider: it is owed again, and left to the team. */
const recordFailedRefunds: Step = (premium, { payments }) =>
  toldOf(premium, payments).flatMap(({ payment, refund, entries }) => {
    const { provider_refund_id, has_failed } = refund
    if (!has_failed) return []
    return entries
      .filter((each) => each.status === 'refunded' && !each.failed_provider_refunds.includes(provider_refund_id))
      .map(({ refund_id, refund_pence }): PremiumEvent => {
        const failure_code = refund.failure_code ?? 'refund_failed'
        const on = { ...about(premium), refund_id, attempt: attemptOf(payment), refund_pence }
        return { type: 'PremiumRefundFailed', ...on, failure_code, provider_refund_id }
      })
  })

/** Whether it is paid. Money that has come is recorded, whatever was decided meanwhile. */
const recordStanding: Step = (premium, known) => {
  const { payments, now } = known
  const { missing } = sumsOf(premium, known)
  const { status } = premium
  const pays = payingOf(payments)
  if (missing === 0 && pays) return status === 'collected' ? [] : [collected(premium, pays, now)]
  if (status === 'collected') return lost(premium, known)
  if (status !== 'due' && status !== 'requested') return []
  const current = payments.find(({ attempt }) => attempt === premium.attempt)
  // It may be taken back before anybody has recorded that it was collected.
  if (current?.status === 'captured') return lost(premium, known)
  if (current?.status !== 'failed' && current?.status !== 'cancelled') return []
  return failed(premium, known, current.failure_code ?? 'payment_failed')
}

const collected = (premium: Premium, payment: Payment, now: string): PremiumEvent => ({
  type: 'PremiumCollected',
  ...about(premium),
  attempt: attemptOf(payment),
  method: payment.method,
  payment_intent_id: payment.method === 'card' ? null : payment.payment_intent_id,
  collected_at: payment.captured_at ?? now,
})

const day = 24 * 60 * 60 * 1000
/** Bacs takes up to seven working days with a new mandate; before, the provider mostly tells by itself. */
export const checkAt = (now: string): string => new Date(Date.parse(now) + 8 * day).toISOString()

/**
 * The payer's bank has taken it back, or somebody has given it back by hand since another is under way: that is waited for.
 * Whether it is asked for again is left to the team.
 */
const lost = (premium: Premium, { policy, payments, now }: Known): Decision => {
  const { customer, time_zone, has_ended } = policy
  const disputed = payments.findLast(({ disputes }) => disputes.some(({ status }) => status !== 'won'))
  const coming = payments.findLast((payment) => comingPence(payment) > 0 && payment.payment_intent_id !== null)
  const underWay: Decision = coming && !has_ended ? [requested(premium, coming, now)] : []
  if (!disputed && underWay.length > 0) return underWay
  const taken: PremiumEvent = {
    type: 'PremiumFailed',
    ...about(premium),
    customer_id: customer.id,
    attempt: disputed?.attempt ?? premium.attempt,
    failure_code: disputed ? disputeCode : 'refunded',
    retry_at: null,
    disputed_on: disputed ? dateIn(time_zone, now) : null,
  }
  return [taken, ...underWay, ...(has_ended ? [writtenOff(premium)] : [])]
}

const requested = (premium: Premium, payment: Payment, now: string): PremiumEvent => ({
  type: 'PremiumRequested',
  ...about(premium),
  attempt: attemptOf(payment),
  payment_intent_id: payment.payment_intent_id ?? '',
  check_at: checkAt(now),
})

const failed = (premium: Premium, { policy, now, calendar }: Known, failure_code: string): Decision => {
  const { customer, time_zone, has_ended, collection_rules } = policy
  const { attempt } = premium
  const days = has_ended ? undefined : collection_rules.retry_after_days[attempt - 1]
  const retry_on = days === undefined ? null : workingDayFrom(calendar, daysAfter(dateIn(time_zone, now), days))
  const retry_at = retry_on === null ? null : startOfDayIn(time_zone, retry_on)
  const about_it = { ...about(premium), customer_id: customer.id, attempt, failure_code, retry_at }
  return [{ type: 'PremiumFailed', ...about_it, disputed_on: null }, ...(has_ended ? [writtenOff(premium)] : [])]
}

const writtenOff = (premium: Premium): PremiumEvent => ({
  type: 'PremiumWrittenOff',
  ...about(premium),
  attempt: premium.attempt,
  reason: 'policy_ended',
})

/** What the firm has too much of is owed; what is owed, and is not there any more, is not. */
const planRefunds: Step = (premium, known) => {
  const { payments } = known
  const { excess, asked, coming } = sumsOf(premium, known)
  const owed = premium.refunds.filter(isOwed)
  const more = excess + asked - sumOf(owed, penceOf)
  if (more > 0 && coming === 0) return oweRefunds(premium, known, more)
  if (more >= 0) return []
  // What is with the provider cannot be called back. What was paid twice is not any more, before what is not covered is.
  const free = owed.filter((each) => !isAsked(each, payments)).toReversed()
  const rank = (each: PremiumRefund) => (isGift(each) ? 0 : each.reason === 'paid_twice' ? 1 : 2)
  return waiveRefunds(
    premium,
    known,
    free.toSorted((one, other) => rank(one) - rank(other)),
    -more,
  )
}

/** From the newest payment that holds it. */
const oweRefunds = (premium: Premium, known: Known, pence: number): Decision => {
  const { policy, payments } = known
  const decided: PremiumEvent[] = []
  const owe = ({ method }: Payment, refund_pence: number, reason: RefundReason): void => {
    if (refund_pence === 0) return
    const refund_id = newRefundId(premium, known, decided.length)
    const card_payment_id = method === 'card' ? policy.card_payment_id : null
    const { application_id } = policy
    const on = { ...about(premium), refund_id, application_id, card_payment_id, refund_pence, reason }
    decided.push({ type: 'PremiumRefundOwed', ...on })
  }
  let left = pence
  let reserved = sumOf(
    premium.refunds.filter((each) => isOwed(each) && !isAsked(each, payments)),
    penceOf,
  )
  for (const payment of payments.toReversed()) {
    const held = Math.max(0, heldPence(payment))
    const free = Math.max(0, held - reserved)
    reserved = Math.max(0, reserved - held)
    const given = Math.min(free, left)
    const twice = Math.min(given, paidTwice(premium, known, decided))
    owe(payment, twice, 'paid_twice')
    owe(payment, given - twice, excessReason(premium, known))
    left -= given
  }
  return decided
}

/** What would be too much, also if the time were covered, and is not owed as such yet. */
const paidTwice = (premium: Premium, known: Known, decided: Decision): number => {
  const covered = { ...known.policy, cancelled_on: null }
  const { excess, asked } = sumsOf(premium, { ...known, policy: covered })
  const owed = [...premium.refunds.filter(isOwed), ...decided].filter(
    (each) => 'reason' in each && (each.reason === 'paid_twice' || each.reason === 'operator'),
  )
  return Math.max(0, excess + asked - sumOf(owed, (each) => ('refund_pence' in each ? each.refund_pence : 0)))
}

/** What is given back since it is not covered is given back once, under the id of the premium. */
const newRefundId = ({ premium_id, refunds }: Premium, { refundIdOf }: Known, place: number): PremiumRefundId => {
  const count = refunds.length + place
  return refundIdOf(count === 0 ? premium_id : `${premium_id} ${count}`)
}

const waiveRefunds = (premium: Premium, known: Known, refunds: readonly PremiumRefund[], pence: number): Decision => {
  const decided: PremiumEvent[] = []
  let left = pence
  for (const refund of refunds) {
    if (left === 0) break
    const part = Math.min(left, refund.refund_pence)
    left -= part
    decided.push(...waive(premium, known, refund, part))
  }
  return decided
}

const waive = (premium: Premium, { policy }: Known, refund: PremiumRefund, pence: number): Decision => {
  const { premium_id, status } = premium
  const { refund_id, refund_pence, failed_attempts, is_left } = refund
  // What the team has promised is left to them; of what is asked for no more, nothing is given back.
  if (isByTeam(refund) && status !== 'written_off') {
    const delayed = { failure_code: disputeCode, attempt: failed_attempts + 1, retry_at: null }
    return is_left ? [] : [{ type: 'PremiumRefundDelayed', premium_id, refund_id, ...delayed }]
  }
  if (pence < refund_pence && !isByTeam(refund))
    return [reduced(premium, premium.attempt, refund, refund_pence - pence)]
  const on = { ...about(premium), refund_id, customer_id: policy.customer.id, attempt: premium.attempt, refund_pence }
  const why = isGift(refund) ? 'not_owed' : 'taken_back'
  return [{ type: 'PremiumRefundWaived', ...on, why, reason: null }]
}

/** Which payments stand for it, unless that is what it says already. */
const recordPayments: Step = (premium, { payments }) => {
  const pays = premium.status === 'collected' ? payingOf(payments) : undefined
  const shown = (payment: Payment) => ({
    attempt: attemptOf(payment),
    method: payment.method,
    payment_intent_id: payment.method === 'card' ? null : payment.payment_intent_id,
    collected_at: payment.captured_at ?? premium.created_at,
  })
  const now = {
    ...(pays ? shown(pays) : paysBy(premium)),
    also_paid_by: payments.filter((payment) => payment !== pays && heldPence(payment) > 0).map(shown),
    disputed_attempts: payments
      .filter(({ disputes }) => disputes.some(({ status }) => status !== 'won'))
      .map((payment) => attemptOf(payment)),
  }
  const before = {
    ...paysBy(premium),
    also_paid_by: premium.also_paid_by.map(({ reinstated_at: collected_at, refund_id: _refund, ...other }) => ({
      ...other,
      collected_at,
    })),
    disputed_attempts: premium.disputed_attempts,
  }
  return isSameJson(now, before) ? [] : [{ type: 'PremiumPaymentsChanged', premium_id: premium.premium_id, ...now }]
}

const paysBy = ({ attempt, method, payment_intent_id, collected_at }: Premium) => ({
  attempt,
  method,
  payment_intent_id,
  collected_at,
})
