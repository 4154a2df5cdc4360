import { z } from 'zod'
import { sumOf } from '../money.ts'
import { CalendarDate, Pence } from '../values.ts'
import {
  PremiumId,
  PremiumMethod,
  PremiumRefundId,
  RefundReason,
  type PremiumEvent,
  type premiumEvents,
} from './events.ts'

export const PremiumStatus = z
  .enum(['due', 'requested', 'collected', 'failed', 'written_off'])
  .describe('due: about to be collected. requested: the banks have not answered yet.')
export type PremiumStatus = z.infer<typeof PremiumStatus>

export const PremiumRefund = z.object({
  refund_id: PremiumRefundId,
  refund_pence: Pence,
  reason: RefundReason,
  status: z
    .enum(['owed', 'refunded', 'paid_otherwise', 'waived'])
    .describe('refunded: by the payment provider. paid_otherwise: by the firm itself. waived: owed no more.'),
  attempt: z.int().nullable().describe('The attempt whose payment the provider gave it back from.'),
  card_payment_id: z.uuid().nullable().describe('The card payment that is given back for it; null: a debit is.'),
  paid_on: CalendarDate.nullable().describe('When it was paid otherwise.'),
  failure_code: z.string().nullable(),
  failed_attempts: z.int(),
  is_left: z.boolean().describe('It has failed so often, or after it was given back, that it is left to the team.'),
  provider_refunds: z.array(z.string()).describe('What the provider calls its refunds that it is made of.'),
  waived_as: z.enum(['not_owed', 'taken_back']).nullable().describe('Why it is owed no more.'),
  failed_provider_refunds: z
    .array(z.string())
    .describe('What the provider calls its refunds that have failed after they were made.'),
  note: z.string().nullable().describe('The reason that the team gave last, in words.'),
})
export type PremiumRefund = z.infer<typeof PremiumRefund>

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
          /** Of what is given back where another attempt pays the premium; null since refunds are planned by amounts. */
          refund_id: PremiumRefundId.nullable(),
        }),
      )
      .describe('Other attempts whose payment is the firm’s as well, such as after a dispute that was won.'),
    retry_at: z.iso.datetime().nullable().describe('When something is done about it next.'),
    /** How often in a row nothing could be done about it. */
    delays: z.int(),
    /** Since when it waits to be collected. */
    asked_at: z.iso.datetime(),
    refunded_pence: Pence.describe('Given back, by whomever; without what was paid twice.'),
    refunds: z.array(PremiumRefund),
    note: z.string().nullable().describe('Why the team had it collected again, or wrote it off, in words.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Premium' })
export type Premium = z.infer<typeof Premium>

type Recorded = { readonly occurred_at: string }

/** What the events of one premium add up to. */
export const evolvePremium = (
  premium: Premium | undefined,
  event: PremiumEvent,
  { occurred_at }: Recorded,
): Premium | undefined => {
  if (event.type === 'PremiumDue') return due(event, occurred_at)
  return (
    premium && {
      ...premium,
      ...changeBy(premium, event),
      ...dated(premium, event, occurred_at),
      updated_at: occurred_at,
    }
  )
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

/** Why a premium has failed that was collected before. */
export const disputeCode = 'disputed'

const dated = (premium: Premium, event: PremiumEvent, occurred_at: string): Partial<Premium> => {
  if (event.type === 'PremiumRetried') return { asked_at: occurred_at }
  const isTakenBack =
    event.type === 'PremiumTakenBack' || (event.type === 'PremiumFailed' && event.failure_code === disputeCode)
  if (!isTakenBack) return {}
  const disputed_attempts = [...premium.disputed_attempts.filter((each) => each !== event.attempt), event.attempt]
  const also_paid_by = withoutAttempt(premium, event)
  return { disputed_on: event.disputed_on ?? occurred_at.slice(0, 10), disputed_attempts, also_paid_by }
}

const withoutAttempt = ({ also_paid_by }: Premium, { attempt }: { readonly attempt: number }) =>
  also_paid_by.filter((each) => each.attempt !== attempt)

const changeBy = (premium: Premium, event: Exclude<PremiumEvent, Of<'PremiumDue'>>): Partial<Premium> => {
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
    case 'PremiumFailed':
      return { status: 'failed', failure_code: event.failure_code, retry_at: event.retry_at, delays: 0 }
    case 'PremiumRetried': {
      const { attempt, note = premium.note } = event
      return { status: 'due', attempt, attempts: attempt, payment_intent_id: null, retry_at: null, delays: 0, note }
    }
    case 'PremiumReinstated': {
      const { attempt, method, payment_intent_id, reinstated_at, refund_id } = event
      const other = { attempt, method, payment_intent_id, reinstated_at, refund_id }
      return { also_paid_by: [...withoutAttempt(premium, event), other] }
    }
    case 'PremiumTakenBack':
      return {}
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
    case 'PremiumRefundOwed': {
      const { refund_id, refund_pence, reason, card_payment_id } = event
      const owed = { refund_id, refund_pence, reason, card_payment_id, status: 'owed' as const }
      // It was owed of another payment before.
      const others = premium.refunds.filter((each) => each.refund_id !== refund_id)
      const { failed_provider_refunds, note: before } = refundOf(premium, event) ?? untried
      const { note = before } = event
      return { refunds: [...others, { ...untried, ...owed, failed_provider_refunds, note }] }
    }
    case 'PremiumRefundReduced':
      return { refunds: changed(premium, event, { refund_pence: event.refund_pence }) }
    case 'PremiumRefunded': {
      const { refund_id, refund_pence, reason } = event
      const others = premium.refunds.filter((each) => each.refund_id !== refund_id)
      const before = refundOf(premium, event)
      const { failed_provider_refunds, card_payment_id, note } = before ?? untried
      const { attempt, provider_refund_id } = event
      const given = { refund_id, refund_pence, reason, status: 'refunded' as const, attempt, note }
      const provider_refunds = provider_refund_id === undefined ? [] : [provider_refund_id]
      const refunds = [...others, { ...untried, ...given, failed_provider_refunds, card_payment_id, provider_refunds }]
      return { refunds, refunded_pence: premium.refunded_pence - standingPence(before) + countedPence(given) }
    }
    case 'PremiumRefundDelayed': {
      const { failure_code, attempt: failed_attempts, retry_at } = event
      return { refunds: changed(premium, event, { failure_code, failed_attempts, is_left: retry_at === null }) }
    }
    case 'PremiumRefundFailed': {
      const before = refundOf(premium, event)
      if (!before) return {}
      const { failure_code, provider_refund_id } = event
      const failed_provider_refunds = [...before.failed_provider_refunds, provider_refund_id]
      const owed = { status: 'owed', failure_code, failed_attempts: 0, is_left: true, failed_provider_refunds } as const
      return { refunds: changed(premium, event, owed), refunded_pence: premium.refunded_pence - standingPence(before) }
    }
    case 'PremiumRefundRequested':
      return { refunds: changed(premium, event, { is_left: false, ...noted(event.note) }) }
    case 'PremiumRefundPaidOtherwise': {
      const before = refundOf(premium, event)
      if (!before) return {}
      const { paid_on, reason } = event
      const closed = { status: 'paid_otherwise' as const, is_left: false, paid_on, ...noted(reason) }
      return { refunds: changed(premium, event, closed), refunded_pence: premium.refunded_pence + countedPence(before) }
    }
    case 'PremiumRefundWaived':
      return {
        refunds: changed(premium, event, {
          status: 'waived',
          is_left: false,
          waived_as: event.why,
          ...noted(event.reason),
        }),
      }
  }
}

/** What the team wrote before stays where it writes nothing. */
const noted = (note: string | null | undefined) => (note ? { note } : {})

/** What was paid twice is given back once, and the premium stays paid. */
const countedPence = ({ reason, refund_pence }: Pick<PremiumRefund, 'reason' | 'refund_pence'>): number =>
  reason === 'paid_twice' ? 0 : refund_pence

const standingPence = (before: PremiumRefund | undefined): number =>
  before?.status === 'refunded' ? countedPence(before) : 0

const settled = { retry_at: null, delays: 0 } as const
const untried: Omit<PremiumRefund, 'refund_id' | 'refund_pence' | 'reason' | 'status'> = {
  attempt: null,
  card_payment_id: null,
  paid_on: null,
  failure_code: null,
  failed_attempts: 0,
  is_left: false,
  provider_refunds: [],
  waived_as: null,
  failed_provider_refunds: [],
  note: null,
}

const refundOf = ({ refunds }: Premium, { refund_id }: { readonly refund_id: string }): PremiumRefund | undefined =>
  refunds.find((each) => each.refund_id === refund_id)

const changed = (
  { refunds }: Premium,
  { refund_id }: { readonly refund_id: string },
  change: Partial<PremiumRefund>,
): PremiumRefund[] => refunds.map((each) => (each.refund_id === refund_id ? { ...each, ...change } : each))

/** What of a premium could still be given back: what is owed already counts as given. */
export const refundable = ({ status, amount_pence, refunds }: Premium): number => {
  const counted = refunds.filter((refund) => refund.status !== 'waived' && refund.reason !== 'paid_twice')
  return status === 'collected' ? Math.max(0, amount_pence - sumOf(counted, ({ refund_pence }) => refund_pence)) : 0
}

/** Of these payments none was given back yet for another: each can pay the premium. */
const standing = ({ also_paid_by, refunds }: Premium): Premium['also_paid_by'] =>
  also_paid_by.filter(
    (other) =>
      !refunds.some(
        ({ refund_id, status }) =>
          refund_id === other.refund_id && (status === 'refunded' || status === 'paid_otherwise'),
      ),
  )

/** Since when a premium that is not paid is overdue: one that was taken back later, since then. */
export const overdueSince = ({ due_on, disputed_on }: Premium): string =>
  disputed_on !== null && disputed_on > due_on ? disputed_on : due_on

/** Whether a premium has failed and is still not paid. */
export const isOverdue = (premium: Premium): boolean => {
  const { status, attempt } = premium
  const isAskedAnew = attempt > 1 && (status === 'due' || status === 'requested')
  return status === 'failed' || (isAskedAnew && standing(premium).length === 0)
}
