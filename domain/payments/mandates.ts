import { isSameJson } from '../canonical-json.ts'
import type { QuoteId } from '../values.ts'
import type { ApplicationState } from '../applications/state.ts'
import type { BankDetails, MandateId, PaymentEvent } from './events.ts'

/** The banks' answer on a mandate, as the provider passes it on. */
type BankAnswer = {
  readonly network_status: 'pending' | 'accepted' | 'refused' | 'revoked'
  /** The provider would still collect on it. */
  readonly active: boolean
}

/** The provider has opened its form. */
export type OpenMandateSession = {
  readonly type: 'OpenMandateSession'
  readonly quote_id: QuoteId
  readonly session_id: string
  readonly provider_customer_id: string
}

/** The provider has confirmed that a mandate is set up. */
export type CreateMandate = {
  readonly type: 'CreateMandate'
  readonly quote_id: QuoteId
  readonly mandate_id: MandateId
  readonly session_id: string | null
  readonly provider_mandate_id: string | null
  readonly provider_customer_id: string
  readonly provider_payment_method_id: string
  readonly account_number_last4: string | null
  /** Its bank details; null: those that the customer gave the provider itself. */
  readonly made_from: BankDetails | null
  readonly answer: BankAnswer
}

export type RecordBankAnswer = {
  readonly type: 'RecordBankAnswer'
  readonly provider_mandate_id: string
  readonly answer: BankAnswer
  /** The answer is that of now, not one given at some earlier time. */
  readonly is_current: boolean
}

/** Sent when a premium was collected on it, also where the notice that the banks have accepted it was lost. */
export type ProveMandate = { readonly type: 'ProveMandate'; readonly mandate_id: MandateId }

type Decision = readonly PaymentEvent[]

export const openMandateSession = (
  { type: _type, ...session }: OpenMandateSession,
  { payments }: ApplicationState,
): Decision =>
  payments.sessions.some(({ session_id }) => session_id === session.session_id)
    ? []
    : [{ type: 'MandateSessionOpened', ...session }]

/** One that was made from bank details which were replaced meanwhile is none: another is made from those. */
export const createMandate = (
  { type: _type, answer, made_from, ...mandate }: CreateMandate,
  { payments, record: { product_id } }: ApplicationState,
): Decision => {
  if (payments.mandate?.mandate_id === mandate.mandate_id) return []
  if (made_from && payments.bank_details && !isSameJson(payments.bank_details.bank_details, made_from)) return []
  return [{ type: 'MandateCreated', ...mandate, product_id }, ...changesBy(mandate.mandate_id, 'pending', answer)]
}

/**
 * An answer on another mandate than the present one changes nothing. One that has ended comes back when the customer's bank
 * has reinstated it, unless another is to be made from other bank details.
 */
export const recordBankAnswer = (
  { provider_mandate_id, answer, is_current }: RecordBankAnswer,
  { payments: { mandate, bank_details } }: ApplicationState,
): Decision => {
  if (mandate?.provider_mandate_id !== provider_mandate_id) return []
  const { mandate_id, status, created_at } = mandate
  if (status === 'pending' || status === 'active') return changesBy(mandate_id, status, answer)
  const isBack = is_current && answer.active && answer.network_status === 'accepted'
  return isBack && !(bank_details && bank_details.saved_at > created_at)
    ? [{ type: 'MandateActivated', mandate_id }]
    : []
}

export const proveMandate = ({ mandate_id }: ProveMandate, { payments: { mandate } }: ApplicationState): Decision =>
  mandate?.mandate_id === mandate_id && mandate.status === 'pending' ? [{ type: 'MandateActivated', mandate_id }] : []

const changesBy = (
  mandate_id: MandateId,
  status: 'pending' | 'active',
  { network_status, active }: BankAnswer,
): Decision => {
  if (network_status === 'refused' && status === 'pending') return [{ type: 'MandateFailed', mandate_id }]
  if (network_status === 'refused' || network_status === 'revoked')
    return [{ type: 'MandateCancelled', mandate_id, end: network_status }]
  if (!active) return [{ type: 'MandateCancelled', mandate_id, end: 'inactive' }]
  return network_status === 'accepted' && status === 'pending' ? [{ type: 'MandateActivated', mandate_id }] : []
}
