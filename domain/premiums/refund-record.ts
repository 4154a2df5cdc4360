import { z } from 'zod'
import { CalendarDate, Pence } from '../values.ts'
import { PremiumRefundId, RefundReason, type PremiumEvent } from './events.ts'

/** A premium's refund, in its present state. */
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

type RefundEvent = Extract<PremiumEvent, { type: `PremiumRefund${string}` }>
type Stated = Extract<RefundEvent, { type: 'PremiumRefundOwed' | 'PremiumRefunded' }>

const isStated = (event: RefundEvent): event is Stated =>
  event.type === 'PremiumRefundOwed' || event.type === 'PremiumRefunded'

/** The refunds of a premium, in the order in which each was last owed or given. */
export const evolveRefunds = (refunds: readonly PremiumRefund[], event: RefundEvent): PremiumRefund[] => {
  const { refund_id } = event
  if (!isStated(event))
    return refunds.map((each) => (each.refund_id === refund_id ? { ...each, ...changeBy(each, event) } : each))
  const before = refunds.find((each) => each.refund_id === refund_id)
  return [...refunds.filter((each) => each !== before), stated(before ?? untried, event)]
}

const untried = {
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
} satisfies Partial<PremiumRefund>

/** It may have been owed of another payment before: what failed then is known still. */
const stated = (before: typeof untried | PremiumRefund, event: Stated): PremiumRefund => {
  const { failed_provider_refunds, card_payment_id } = before
  const { refund_id, refund_pence, reason } = event
  const refund = { ...untried, failed_provider_refunds, refund_id, refund_pence, reason }
  if (event.type === 'PremiumRefundOwed')
    return { ...refund, status: 'owed', card_payment_id: event.card_payment_id, note: event.note ?? before.note }
  const { attempt, provider_refund_id } = event
  const provider_refunds = provider_refund_id === undefined ? [] : [provider_refund_id]
  return { ...refund, status: 'refunded', attempt, card_payment_id, provider_refunds, note: before.note }
}

const changeBy = (refund: PremiumRefund, event: Exclude<RefundEvent, Stated>): Partial<PremiumRefund> => {
  switch (event.type) {
    case 'PremiumRefundReduced':
      return { refund_pence: event.refund_pence }
    case 'PremiumRefundDelayed': {
      const { failure_code, attempt: failed_attempts, retry_at } = event
      return { failure_code, failed_attempts, is_left: retry_at === null }
    }
    case 'PremiumRefundFailed': {
      const { failure_code, provider_refund_id } = event
      const failed_provider_refunds = [...refund.failed_provider_refunds, provider_refund_id]
      return { status: 'owed', failure_code, failed_attempts: 0, is_left: true, failed_provider_refunds }
    }
    case 'PremiumRefundRequested':
      return { is_left: false, ...noted(event.note) }
    case 'PremiumRefundPaidOtherwise':
      return { status: 'paid_otherwise', is_left: false, paid_on: event.paid_on, ...noted(event.reason) }
    case 'PremiumRefundWaived':
      return { status: 'waived', is_left: false, waived_as: event.why, ...noted(event.reason) }
  }
}

/** The team's earlier note stays where it writes none. */
const noted = (note: string | null | undefined) => (note ? { note } : {})

export const penceOf = ({ refund_pence }: PremiumRefund): number => refund_pence
export const isOwed = ({ status }: PremiumRefund): boolean => status === 'owed'
export const isGiven = ({ status }: PremiumRefund): boolean => status === 'refunded' || status === 'paid_otherwise'
export const isByTeam = ({ reason }: PremiumRefund): boolean => reason === 'operator'
/** Nobody owed it: somebody has given it back at the provider all the same. */
export const isGift = ({ reason }: PremiumRefund): boolean => reason === 'provider'

/** Pence that count as given back. A refund of a double payment does not: the premium stays paid. */
export const givenPence = (refund: PremiumRefund): number =>
  isGiven(refund) && refund.reason !== 'paid_twice' ? refund.refund_pence : 0
