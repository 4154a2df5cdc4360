import { isSameJson } from '../canonical-json.ts'
import { daysAfter } from '../dates.ts'
import { comingPence, heldPence, isDisputed, type Payment } from '../payments/payment.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { workingDayFrom } from '../working-days.ts'
import type { PremiumEvent } from './events.ts'
import { planRefunds } from './plan-refunds.ts'
import { about } from './premium-of.ts'
import { disputeCode, type Premium } from './record.ts'
import { recordFailedRefunds, recordRefunds } from './record-refunds.ts'
import { attemptOf, inTurn, payingOf, sumsOf, type Decision, type Facts, type Step } from './sums.ts'
import { writtenOff } from './write-off.ts'

/**
 * Settles a premium by its payments at the provider. Called again it decides nothing more; it is called after any notice, and
 * after every act of the team.
 */
export const settle = (premium: Premium, known: Facts): Decision =>
  // What has come back is owed again before anything counts towards what is owed. What is found there may have come back, too.
  inTurn(premium, known, [
    recordFailedRefunds,
    recordRefunds,
    recordFailedRefunds,
    recordStatus,
    planRefunds,
    recordPayments,
  ])

/** Records payment or failure. Money that has come is recorded, whatever was decided meanwhile. */
const recordStatus: Step = (premium, known) => {
  const { payments, now } = known
  const { missing } = sumsOf(premium, known)
  const { status } = premium
  const pays = payingOf(payments)
  if (missing === 0 && pays)
    return status === 'collected' ? [] : [{ type: 'PremiumCollected', ...about(premium), ...shown(pays, now) }]
  if (status === 'collected') return lost(premium, known)
  if (status !== 'due' && status !== 'requested') return []
  const current = payments.find(({ attempt }) => attempt === premium.attempt)
  // It may be taken back before anybody has recorded that it was collected.
  if (current?.status === 'captured') return lost(premium, known)
  if (current?.status !== 'failed' && current?.status !== 'cancelled') return []
  return failed(premium, known, current.failure_code ?? 'payment_failed')
}

/** A payment as its premium shows it: a card payment is known by our own id. */
const shown = (payment: Payment, now: string) => ({
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
 * Asking for it again is left to the team.
 */
const lost = (premium: Premium, { policy, payments, now }: Facts): Decision => {
  const { customer, time_zone, has_ended } = policy
  const disputed = payments.findLast(isDisputed)
  const coming = payments.flatMap((payment) => (comingPence(payment) > 0 ? requested(premium, payment, now) : []))
  const underWay = has_ended ? [] : coming.slice(-1)
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

/** Asked for, where the provider has taken it on. */
const requested = (premium: Premium, payment: Payment, now: string): Decision => {
  const { payment_intent_id } = payment
  if (payment_intent_id === null) return []
  const attempt = attemptOf(payment)
  return [{ type: 'PremiumRequested', ...about(premium), attempt, payment_intent_id, check_at: checkAt(now) }]
}

const failed = (premium: Premium, { policy, now, calendar }: Facts, failure_code: string): Decision => {
  const { customer, time_zone, has_ended, collection_rules } = policy
  const { attempt } = premium
  const days = has_ended ? undefined : collection_rules.retry_after_days[attempt - 1]
  const retry_on = days === undefined ? null : workingDayFrom(calendar, daysAfter(dateIn(time_zone, now), days))
  const retry_at = retry_on === null ? null : startOfDayIn(time_zone, retry_on)
  const about_it = { ...about(premium), customer_id: customer.id, attempt, failure_code, retry_at }
  return [{ type: 'PremiumFailed', ...about_it, disputed_on: null }, ...(has_ended ? [writtenOff(premium)] : [])]
}

/** Records the payments of the premium, unless it has them already. */
const recordPayments: Step = (premium, { payments, now }) => {
  const pays = premium.status === 'collected' ? payingOf(payments) : undefined
  const others = payments.filter((payment) => payment !== pays && heldPence(payment) > 0)
  const after = {
    ...(pays ? shown(pays, now) : paysBy(premium)),
    also_paid_by: others.map((payment) => shown(payment, now)),
    disputed_attempts: payments.filter(isDisputed).map(attemptOf),
  }
  const before = {
    ...paysBy(premium),
    also_paid_by: premium.also_paid_by.map(({ reinstated_at: collected_at, refund_id: _refund, ...other }) => ({
      ...other,
      collected_at,
    })),
    disputed_attempts: premium.disputed_attempts,
  }
  return isSameJson(after, before) ? [] : [{ type: 'PremiumPaymentsChanged', premium_id: premium.premium_id, ...after }]
}

const paysBy = ({ attempt, method, payment_intent_id, collected_at }: Premium) => ({
  attempt,
  method,
  payment_intent_id,
  collected_at,
})
