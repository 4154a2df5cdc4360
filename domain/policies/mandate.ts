import { Rejection } from '../rejection.ts'
import { isTooEarly, retryAt } from '../retry.ts'
import type { MandateId } from '../payments/events.ts'
import { hasEnded } from './ended.ts'
import type { MandateStatus, PolicyEvent, ProviderMandate } from './events.ts'
import type { PolicyRecord } from './record.ts'
import type { PolicyState } from './state.ts'

/** The mandate exists at the payment provider. */
export type RecordMandate = ProviderMandate & {
  readonly type: 'RecordMandate'
  readonly mandate_id: MandateId
  readonly account_number_last4: string | null
  readonly status: MandateStatus
}

/** The banks, or the provider, have reported the mandate's status. */
export type ChangeMandate = {
  readonly type: 'ChangeMandate'
  readonly mandate_id: MandateId
  readonly status: MandateStatus
}

/** The mandate could not be made. */
export type RecordMandateFailure = {
  readonly type: 'RecordMandateFailure'
  readonly failure_code: string
  /** The provider has refused it for good. */
  readonly is_final: boolean
  /** The team's requests for a mandate, counted when the provider was asked. */
  readonly mandate_requests: number
  readonly now: string
}

/** The operator's act, after it was refused or has ended; nothing is to be done while it is under way, or there is one. */
export type RequestMandate = {
  readonly type: 'RequestMandate'
  /** The time at which the bank details for it were first sent; no mandate may exist then. */
  readonly bank_details_saved_at?: string
}

type Decision = readonly PolicyEvent[]

/** There is a mandate at the provider, and another one is not awaited in its place. */
export const hasMandate = ({ provider_mandate, payment_method }: PolicyRecord): boolean =>
  provider_mandate !== null && payment_method.mandate_id !== null

export const needsMandate = (policy: PolicyRecord): boolean =>
  !hasMandate(policy) && policy.payment_method.mandate_status === 'pending' && !hasEnded(policy)

export const recordMandate = ({ type: _type, ...mandate }: RecordMandate, policy: PolicyRecord): Decision =>
  policy.payment_method.mandate_id === mandate.mandate_id && hasMandate(policy)
    ? []
    : [{ type: 'PolicyMandateRecorded', ...mandate }]

const follows: Readonly<Record<MandateStatus, readonly MandateStatus[]>> = {
  pending: ['active', 'failed', 'cancelled'],
  active: ['cancelled'],
  failed: ['active'],
  cancelled: ['active'],
}

/** The mandate's present status at its application: a bank may reinstate an ended one. */
export const changeMandate = (
  { mandate_id, status }: ChangeMandate,
  { payment_method, application_id }: PolicyRecord,
): Decision =>
  payment_method.mandate_id === mandate_id && follows[payment_method.mandate_status].includes(status)
    ? [{ type: 'PolicyMandateChanged', mandate_id, status, application_id }]
    : []

export const recordMandateFailure = (
  { failure_code, is_final, mandate_requests, now }: RecordMandateFailure,
  policy: PolicyState,
): Decision => {
  // What was refused of the former bank details says nothing about those that were given meanwhile.
  if (!needsMandate(policy) || mandate_requests !== policy.mandate_requests) return []
  if (isTooEarly(policy.mandate_retry_at, now)) return []
  const retry_at = is_final ? null : retryAt(policy.mandate_attempts, now)
  const attempt = policy.mandate_attempts + 1
  if (retry_at === null) return [{ type: 'PolicyMandateRefused', failure_code, attempt }]
  return [{ type: 'PolicyMandateDelayed', failure_code, attempt, retry_at }]
}

/** The mandate was refused, or has ended, and no other one is awaited. */
export const hasMandateEnded = ({ payment_method: { mandate_status } }: PolicyRecord): boolean =>
  mandate_status === 'failed' || mandate_status === 'cancelled'

export const requestMandate = ({ bank_details_saved_at: sent }: RequestMandate, policy: PolicyRecord): Decision => {
  if (sent !== undefined) requireNoMandate(policy)
  if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
  // Many may send the same at once, or once more after a process has died: one of them asks for it.
  const isOther = sent !== undefined && sent > (policy.bank_details_saved_at ?? policy.created_at)
  const isNew = hasMandateEnded(policy) || (isOther && needsMandate(policy))
  return isNew ? [mandateRequested(policy, sent)] : []
}

export const mandateRequested = (
  { mandate_attempts, bank_details_saved_at: former }: PolicyRecord,
  bank_details_saved_at = former,
) => ({ type: 'PolicyMandateRequested', attempt: mandate_attempts + 1, bank_details_saved_at }) as const

/** Throws `conflict` where there is a mandate on the account that is known. */
export const requireNoMandate = (policy: PolicyRecord): void => {
  if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
  if (hasMandateEnded(policy) || needsMandate(policy)) return
  const { mandate_status } = policy.payment_method
  throw new Rejection(
    'conflict',
    `The mandate of this policy is ${mandate_status}. Other bank details are taken once it has failed or was cancelled.`,
  )
}
