import type { Decider } from '../decider.ts'
import { sumOf } from '../money.ts'
import type { PremiumId, PremiumRefundId } from '../premiums/events.ts'
import { isTooEarly } from '../retry.ts'
import type { ApplicationId, PolicyId } from '../values.ts'
import { paymentStreamEvents, type PaymentId, type PaymentStreamEvent } from './events.ts'

export type MadeRefund = {
  readonly provider_refund_id: string
  /** Null: by hand, at the provider. */
  readonly refund_id: PremiumRefundId | null
  readonly refund_pence: number
  readonly has_failed: boolean
  readonly failure_code: string | null
}

export type Dispute = {
  readonly provider_dispute_id: string
  readonly disputed_pence: number
  readonly status: 'open' | 'won' | 'lost'
}

/** The key is the same however often it is asked for. */
type AskedRefund = Pick<AskRefund, 'refund_id' | 'refund_pence' | 'idempotency_key'>

/** A payment at the provider, as far as it is known. What it holds is a sum of what happened to it. */
export type Payment = {
  readonly payment_id: PaymentId
  readonly application_id: ApplicationId
  readonly policy_id: PolicyId | null
  readonly premium_id: PremiumId | null
  readonly method: 'card' | 'direct_debit'
  readonly attempt: number | null
  readonly amount_pence: number
  readonly currency_code: string
  readonly payment_intent_id: string | null
  readonly status: 'opened' | 'authorised' | 'captured' | 'failed' | 'cancelled'
  readonly captured_pence: number
  readonly captured_at: string | null
  readonly failure_code: string | null
  readonly refunds: readonly MadeRefund[]
  /** At most one at a time: it is with the provider, which has not answered yet. */
  readonly asked: AskedRefund | null
  readonly disputes: readonly Dispute[]
  /** It is looked at again then, since nothing could be learnt of it before; null: it was not looked at in vain. */
  readonly retry_at: string | null
  /** The number of its events, by which whoever asks the provider names the version read. */
  readonly changes: number
}

export const disputedPence = ({ disputes }: Payment): number =>
  sumOf(disputes, ({ status, disputed_pence }) => (status === 'won' ? 0 : disputed_pence))

/** The payer's bank has taken some of the money back, and the firm has not won that. */
export const isDisputed = ({ disputes }: Payment): boolean => disputes.some(({ status }) => status !== 'won')

/** The sum given back, by whomever, that has not come back. */
export const refundedPence = ({ refunds }: Payment): number =>
  sumOf(refunds, ({ has_failed, refund_pence }) => (has_failed ? 0 : refund_pence))

/** The sum paid and not taken back by the payer's bank, whatever was given back. */
export const paidPence = (payment: Payment): number => payment.captured_pence - disputedPence(payment)

/** The refund asked of the provider, capped at what it can give: some may have been given back by hand. */
export const askedPence = (payment: Payment): number =>
  Math.min(payment.asked?.refund_pence ?? 0, Math.max(0, paidPence(payment) - refundedPence(payment)))

/** The sum that the firm holds; below zero where it was given back and taken back as well. */
export const heldPence = (payment: Payment): number => paidPence(payment) - refundedPence(payment) - askedPence(payment)

/** The sum that may come. */
export const comingPence = ({ status, amount_pence }: Payment): number =>
  status === 'opened' || status === 'authorised' ? amount_pence : 0

/** The provider's statement on a payment, and on all its refunds and disputes, as of one moment. */
export type Statement = {
  readonly payment_intent_id: string
  readonly status: 'open' | 'processing' | 'authorised' | 'succeeded' | 'cancelled'
  readonly captured_pence: number
  readonly captured_at: string | null
  /** Why the last attempt to pay it has failed. */
  readonly failure_code: string | null
  readonly refunds: readonly MadeRefund[]
  /** Those that have taken money: an inquiry does not. */
  readonly disputes: readonly Dispute[]
}

export type Opened = Pick<
  Payment,
  'payment_id' | 'application_id' | 'policy_id' | 'premium_id' | 'method' | 'attempt' | 'amount_pence' | 'currency_code'
>

export type OpenPayment = { readonly type: 'OpenPayment' } & Opened

/**
 * The provider's statement; a payment that is not known yet is opened with it, and one that paid for nothing yet is assigned to
 * the premium. It counts only while nothing else was recorded since the provider was asked: else it is asked again.
 */
export type RecordStatement = {
  readonly type: 'RecordStatement'
  readonly statement: Statement
  readonly opened: Opened
  readonly changes: number
}

/** The provider has refused to take it on. */
export type RefusePayment = { readonly type: 'RefusePayment'; readonly failure_code: string }

export type AskRefund = {
  readonly type: 'AskRefund'
  readonly refund_id: PremiumRefundId
  readonly refund_pence: number
  readonly idempotency_key: string
}

/** The provider has refused to give it back. */
export type RefuseRefund = {
  readonly type: 'RefuseRefund'
  readonly refund_id: PremiumRefundId
  readonly idempotency_key: string
  readonly failure_code: string
}

/** Sent when it was looked at, and may be under way still. */
export type DelayPayment = { readonly type: 'DelayPayment'; readonly now: string }

export type PaymentCommand = OpenPayment | RecordStatement | RefusePayment | AskRefund | RefuseRefund | DelayPayment

type Decision = readonly PaymentStreamEvent[]

const about = ({ payment_id, policy_id, premium_id }: Pick<Opened, 'payment_id' | 'policy_id' | 'premium_id'>) => ({
  payment_id,
  policy_id,
  premium_id,
})

const opening = ({
  application_id,
  method,
  attempt,
  amount_pence,
  currency_code,
  ...on
}: Opened): PaymentStreamEvent => ({
  type: 'PaymentOpened',
  ...about(on),
  application_id,
  method,
  attempt,
  amount_pence,
  currency_code,
})

const decide = (command: PaymentCommand, state: Payment | undefined): Decision => {
  switch (command.type) {
    case 'OpenPayment':
      return state ? [] : [opening(command)]
    case 'RecordStatement':
      if ((state?.changes ?? 0) !== command.changes || isOfAnother(command.statement, state)) return []
      return state
        ? recordAssigned(command, state)
        : [opening(command.opened), ...recordStatement(command.statement, openedAs(command.opened))]
    case 'RefusePayment':
      return state?.status === 'opened' && state.payment_intent_id === null
        ? [{ type: 'PaymentFailed', ...about(state), failure_code: command.failure_code }]
        : []
    case 'AskRefund':
      return state ? askRefund(command, state) : []
    case 'RefuseRefund':
      return state ? refuseRefund(command, state) : []
    case 'DelayPayment':
      return state ? delayPayment(command, state) : []
  }
}

/** A card is paid before there is a policy whose premium it pays. */
const recordAssigned = ({ statement, opened }: RecordStatement, payment: Payment): Decision => {
  const { policy_id, premium_id, attempt } = opened
  if (payment.premium_id !== null || premium_id === null || attempt === null) return recordStatement(statement, payment)
  const assigned = { payment_id: payment.payment_id, policy_id, premium_id, attempt }
  return [{ type: 'PaymentAssigned', ...assigned }, ...recordStatement(statement, { ...payment, ...assigned })]
}

/** Whoever works at the provider by hand may have copied what was written down with it. */
const isOfAnother = (statement: Statement, payment: Payment | undefined): boolean =>
  typeof payment?.payment_intent_id === 'string' && payment.payment_intent_id !== statement.payment_intent_id

/** The new facts in the provider's statement. It was read after the payment was: whatever differs has happened since. */
const recordStatement = (statement: Statement, payment: Payment): Decision => [
  ...takenOn(statement, payment),
  ...changeOfStatus(statement, payment),
  ...statement.refunds.flatMap((refund) => refundIn(refund, payment)),
  ...statement.disputes.flatMap((dispute) => disputeIn(dispute, payment)),
]

const takenOn = ({ payment_intent_id }: Statement, payment: Payment): Decision =>
  payment.payment_intent_id === null ? [{ type: 'PaymentTakenOn', ...about(payment), payment_intent_id }] : []

const changeOfStatus = (statement: Statement, payment: Payment): Decision => {
  const { status } = payment
  switch (statement.status) {
    case 'processing':
      return []
    case 'open': {
      const { failure_code } = statement
      const isNews = status === 'opened' || (status === 'failed' && failure_code !== payment.failure_code)
      return failure_code !== null && isNews ? [{ type: 'PaymentFailed', ...about(payment), failure_code }] : []
    }
    case 'authorised':
      return status === 'opened' || status === 'failed' ? [{ type: 'PaymentAuthorised', ...about(payment) }] : []
    case 'succeeded': {
      const { captured_pence, captured_at } = statement
      if (status === 'captured' || captured_at === null) return []
      return [{ type: 'PaymentCaptured', ...about(payment), captured_pence, captured_at }]
    }
    case 'cancelled':
      return status === 'cancelled' ? [] : [{ type: 'PaymentCancelled', ...about(payment) }]
  }
}

const refundIn = (refund: MadeRefund, payment: Payment): Decision => {
  const { provider_refund_id, refund_id, refund_pence, has_failed } = refund
  const known = payment.refunds.find((each) => each.provider_refund_id === provider_refund_id)
  const on = { ...about(payment), provider_refund_id, refund_id, refund_pence }
  const made = { type: 'PaymentRefundMade', ...on } as const
  const failed = { type: 'PaymentRefundFailed', ...on, failure_code: refund.failure_code ?? 'refund_failed' } as const
  return [...(known ? [] : [made]), ...(has_failed && known?.has_failed !== true ? [failed] : [])]
}

const eventBy = { open: 'PaymentDisputeOpened', won: 'PaymentDisputeWon', lost: 'PaymentDisputeLost' } as const

const disputeIn = ({ status, ...dispute }: Dispute, payment: Payment): Decision => {
  const known = payment.disputes.find((each) => each.provider_dispute_id === dispute.provider_dispute_id)
  if (known?.status === status) return []
  const on = { ...about(payment), ...dispute }
  // One that we hear of when it has ended was opened before.
  const opened = known || status === 'open' ? [] : [{ type: 'PaymentDisputeOpened', ...on } as const]
  return [...opened, { type: eventBy[status], ...on }]
}

const askRefund = ({ refund_id, refund_pence, idempotency_key }: AskRefund, payment: Payment): Decision => {
  if (payment.asked !== null || heldPence(payment) < refund_pence) return []
  return [{ type: 'PaymentRefundAsked', ...about(payment), refund_id, refund_pence, idempotency_key }]
}

const refuseRefund = ({ refund_id, idempotency_key, failure_code }: RefuseRefund, payment: Payment): Decision => {
  const { asked } = payment
  if (asked?.refund_id !== refund_id || asked.idempotency_key !== idempotency_key) return []
  const { refund_pence } = asked
  const refused = { refund_id, refund_pence, provider_refund_id: null, failure_code }
  return [{ type: 'PaymentRefundFailed', ...about(payment), ...refused }]
}

const dayMs = 24 * 60 * 60 * 1000

const delayPayment = ({ now }: DelayPayment, payment: Payment): Decision => {
  if (comingPence(payment) === 0 || isTooEarly(payment.retry_at, now)) return []
  const retry_at = new Date(Date.parse(now) + dayMs).toISOString()
  return [{ type: 'PaymentDelayed', ...about(payment), retry_at }]
}

const openedAs = (opened: Opened): Payment => ({
  ...opened,
  payment_intent_id: null,
  status: 'opened',
  captured_pence: 0,
  captured_at: null,
  failure_code: null,
  refunds: [],
  asked: null,
  disputes: [],
  retry_at: null,
  changes: 1,
})

const evolve = (payment: Payment | undefined, event: PaymentStreamEvent): Payment | undefined => {
  if (event.type === 'PaymentOpened') return openedAs(openedIn(event))
  return payment && { ...payment, ...changeBy(payment, event), changes: payment.changes + 1 }
}

const openedIn = ({ type: _type, ...opened }: Extract<PaymentStreamEvent, { type: 'PaymentOpened' }>): Opened => opened

const changeBy = (
  payment: Payment,
  event: Exclude<PaymentStreamEvent, { type: 'PaymentOpened' }>,
): Partial<Payment> => {
  switch (event.type) {
    case 'PaymentTakenOn':
      return { payment_intent_id: event.payment_intent_id }
    case 'PaymentAssigned': {
      const { policy_id, premium_id, attempt } = event
      return { policy_id, premium_id, attempt }
    }
    case 'PaymentAuthorised':
      return { status: 'authorised', failure_code: null }
    case 'PaymentCaptured': {
      const { captured_pence, captured_at } = event
      return { status: 'captured', captured_pence, captured_at, failure_code: null }
    }
    case 'PaymentFailed':
      return { status: 'failed', failure_code: event.failure_code }
    case 'PaymentCancelled':
      return { status: 'cancelled' }
    case 'PaymentDelayed':
      return { retry_at: event.retry_at }
    case 'PaymentRefundAsked': {
      const { refund_id, refund_pence, idempotency_key } = event
      return { asked: { refund_id, refund_pence, idempotency_key } }
    }
    case 'PaymentRefundMade': {
      const { provider_refund_id, refund_id, refund_pence } = event
      const made = { provider_refund_id, refund_id, refund_pence, has_failed: false, failure_code: null }
      return { refunds: [...payment.refunds, made], asked: unlessAnswered(payment, refund_id) }
    }
    case 'PaymentRefundFailed': {
      const { provider_refund_id, refund_id, failure_code } = event
      if (provider_refund_id === null) return { asked: unlessAnswered(payment, refund_id) }
      const refunds = payment.refunds.map((each) =>
        each.provider_refund_id === provider_refund_id ? { ...each, has_failed: true, failure_code } : each,
      )
      return { refunds }
    }
    case 'PaymentDisputeOpened':
      return { disputes: disputesWith(payment, event, 'open') }
    case 'PaymentDisputeWon':
      return { disputes: disputesWith(payment, event, 'won') }
    case 'PaymentDisputeLost':
      return { disputes: disputesWith(payment, event, 'lost') }
  }
}

const unlessAnswered = ({ asked }: Payment, refund_id: PremiumRefundId | null): Payment['asked'] =>
  asked?.refund_id === refund_id ? null : asked

const disputesWith = (
  { disputes }: Payment,
  { provider_dispute_id, disputed_pence }: Omit<Dispute, 'status'>,
  status: Dispute['status'],
): Payment['disputes'] => [
  ...disputes.filter((each) => each.provider_dispute_id !== provider_dispute_id),
  { provider_dispute_id, disputed_pence, status },
]

export const payment: Decider<PaymentCommand, typeof paymentStreamEvents, Payment | undefined> = {
  category: 'payment',
  events: paymentStreamEvents,
  initialState: undefined,
  decide,
  evolve,
}
