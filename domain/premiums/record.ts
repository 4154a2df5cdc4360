import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { sumOf } from '../money.ts'
import { CalendarDate, Pence } from '../values.ts'
import { PremiumId, PremiumMethod, PremiumRefundId, type PremiumEvent, type premiumEvents } from './events.ts'
import { evolveRefunds, givenPence, isGiven, penceOf, PremiumRefund } from './refund-record.ts'

export { PremiumRefund } from './refund-record.ts'

export const PremiumStatus = z
  .enum(['due', 'requested', 'collected', 'failed', 'written_off'])
  .describe('due: about to be collected. requested: the banks have not answered yet.')
export type PremiumStatus = z.infer<typeof PremiumStatus>

/** One month's premium of a policy, as it stands. */
export const Premium = z
  .object({
    premium_id: PremiumId,
    number: z.int(),
    amount_pence: Pence,
    due_on: CalendarDate,
    covers_from: CalendarDate,
    method: PremiumMethod,
    status: PremiumStatus,
    attempt: z.int(),
    attempts: z.int().describe('How often it was to be collected: an earlier attempt may be the one that pays.'),
    payment_intent_id: z.string().nullable(),
    collected_at: z.iso.datetime().nullable(),
    failure_code: z.string().nullable(),
    disputed_on: CalendarDate.nullable().describe('When the payer’s bank took back what was collected.'),
    disputed_attempts: z.array(z.int()).describe('What these have collected was taken back by the payer’s bank.'),
    also_paid_by: z
      .array(
        z.object({
          attempt: z.int(),
          method: PremiumMethod,
          payment_intent_id: z.string().nullable(),
          reinstated_at: z.iso.datetime(),
          /** The refund where another attempt pays the premium; null since refunds are planned by amounts. */
          refund_id: PremiumRefundId.nullable(),
        }),
      )
      .describe('Other attempts whose payment is the firm’s as well, such as after a dispute that was won.'),
    retry_at: z.iso.datetime().nullable().describe('When something is done about it next.'),
    /** Tries in a row in which nothing could be done. */
    delays: z.int(),
    /** The start of its wait for collection. */
    asked_at: z.iso.datetime(),
    refunded_pence: Pence.describe('Given back, by whomever; without what was paid twice.'),
    refunds: z.array(PremiumRefund),
    note: z.string().nullable().describe('Why the team had it collected again, or wrote it off, in words.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Premium' })
export type Premium = z.infer<typeof Premium>

export const evolvePremium = (
  premium: Premium | undefined,
  event: PremiumEvent,
  { occurred_at }: Recorded,
): Premium | undefined => {
  if (event.type === 'PremiumDue') return due(event, occurred_at)
  return premium && { ...premium, ...changeBy(premium, event, occurred_at), updated_at: occurred_at }
}

/** The premiums of a policy, in the order in which they were due. */
export const evolvePremiums = (
  premiums: readonly Premium[],
  event: PremiumEvent,
  recorded: Recorded,
): readonly Premium[] => {
  if (event.type === 'PremiumDue') return [...premiums, due(event, recorded.occurred_at)]
  return premiums.map((each) =>
    each.premium_id === event.premium_id ? (evolvePremium(each, event, recorded) ?? each) : each,
  )
}

type Of<Type extends keyof typeof premiumEvents> = Extract<PremiumEvent, { type: Type }>

const due = ({ type: _type, next_due_on: _on, next_due_at: _at, ...given }: Of<'PremiumDue'>, at: string): Premium => ({
  ...given,
  status: 'due',
  attempt: 1,
  attempts: 1,
  payment_intent_id: null,
  collected_at: null,
  failure_code: null,
  disputed_on: null,
  disputed_attempts: [],
  also_paid_by: [],
  retry_at: null,
  delays: 0,
  asked_at: at,
  refunded_pence: 0,
  refunds: [],
  note: null,
  created_at: at,
  updated_at: at,
})

/** Failure code of a premium that was collected before. */
export const disputeCode = 'disputed'

/** The payer's bank has taken back what this attempt had collected. */
const takenBack = (
  premium: Premium,
  event: Of<'PremiumFailed' | 'PremiumTakenBack'>,
  occurred_at: string,
): Partial<Premium> => {
  const { attempt, disputed_on } = event
  const disputed_attempts = [...premium.disputed_attempts.filter((each) => each !== attempt), attempt]
  const also_paid_by = withoutAttempt(premium, event)
  return { disputed_on: disputed_on ?? occurred_at.slice(0, 10), disputed_attempts, also_paid_by }
}

const withoutAttempt = ({ also_paid_by }: Premium, { attempt }: { readonly attempt: number }) =>
  also_paid_by.filter((each) => each.attempt !== attempt)

const changeBy = (
  premium: Premium,
  event: Exclude<PremiumEvent, Of<'PremiumDue'>>,
  occurred_at: string,
): Partial<Premium> => {
  switch (event.type) {
    case 'PremiumRequested': {
      const { attempt, payment_intent_id, check_at } = event
      return { status: 'requested', attempt, payment_intent_id, retry_at: check_at, delays: 0 }
    }
    case 'PremiumDelayed':
      return { failure_code: event.failure_code, delays: event.failures, retry_at: event.retry_at }
    case 'PremiumCollected': {
      const { attempt, method, payment_intent_id, collected_at } = event
      const collected = { ...settled, status: 'collected' as const, failure_code: null }
      const also_paid_by = withoutAttempt(premium, event)
      return { ...collected, attempt, method, payment_intent_id, collected_at, also_paid_by }
    }
    case 'PremiumFailed': {
      const { failure_code, retry_at } = event
      const dispute = failure_code === disputeCode ? takenBack(premium, event, occurred_at) : {}
      return { status: 'failed', failure_code, retry_at, delays: 0, ...dispute }
    }
    case 'PremiumRetried': {
      const { attempt, note = premium.note } = event
      const retried = { status: 'due', attempt, attempts: attempt, payment_intent_id: null } as const
      return { ...retried, ...settled, asked_at: occurred_at, note }
    }
    case 'PremiumReinstated': {
      const { attempt, method, payment_intent_id, reinstated_at, refund_id } = event
      const other = { attempt, method, payment_intent_id, reinstated_at, refund_id }
      return { also_paid_by: [...withoutAttempt(premium, event), other] }
    }
    case 'PremiumTakenBack':
      return takenBack(premium, event, occurred_at)
    case 'PremiumPaymentsChanged': {
      const { disputed_attempts, attempt, method, payment_intent_id, collected_at } = event
      const also_paid_by = event.also_paid_by.map(({ collected_at: reinstated_at, ...other }) => ({
        ...other,
        reinstated_at,
        refund_id: null,
      }))
      const pays = premium.status === 'collected' ? { attempt, method, payment_intent_id, collected_at } : {}
      return { ...pays, also_paid_by, disputed_attempts }
    }
    case 'PremiumWrittenOff':
      return { ...settled, status: 'written_off', note: event.note ?? premium.note }
    case 'PremiumRefundOwed':
    case 'PremiumRefundReduced':
    case 'PremiumRefunded':
    case 'PremiumRefundDelayed':
    case 'PremiumRefundFailed':
    case 'PremiumRefundRequested':
    case 'PremiumRefundPaidOtherwise':
    case 'PremiumRefundWaived': {
      const refunds = evolveRefunds(premium.refunds, event)
      return { refunds, refunded_pence: sumOf(refunds, givenPence) }
    }
  }
}

const settled = { retry_at: null, delays: 0 } as const

/** The refundable rest of a premium: a refund owed already counts as given. */
export const refundable = ({ status, amount_pence, refunds }: Premium): number => {
  const counted = refunds.filter((refund) => refund.status !== 'waived' && refund.reason !== 'paid_twice')
  return status === 'collected' ? Math.max(0, amount_pence - sumOf(counted, penceOf)) : 0
}

/** Of these payments none was given back yet for another: each can pay the premium. */
const paymentsHeld = ({ also_paid_by, refunds }: Premium): Premium['also_paid_by'] =>
  also_paid_by.filter((other) => !refunds.some((refund) => refund.refund_id === other.refund_id && isGiven(refund)))

/** The date from which an unpaid premium is overdue: one taken back later, from then on. */
export const overdueSince = ({ due_on, disputed_on }: Premium): string =>
  disputed_on !== null && disputed_on > due_on ? disputed_on : due_on

/** A premium has failed and is still not paid. */
export const isOverdue = (premium: Premium): boolean => {
  const { status, attempt } = premium
  const isAskedAgain = attempt > 1 && (status === 'due' || status === 'requested')
  return status === 'failed' || (isAskedAgain && paymentsHeld(premium).length === 0)
}
