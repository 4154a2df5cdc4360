import { Rejection } from '../rejection.ts'
import { retryAt } from '../retry.ts'
import type { MandateId } from '../payments/events.ts'
import { hasEnded } from './ended.ts'
import type { MandateStatus, PolicyEvent, ProviderMandate } from './events.ts'
import type { PolicyRecord } from './record.ts'

/** The mandate exists at the payment provider. */
export type RecordMandate = ProviderMandate & {
  readonly type: 'RecordMandate'
  readonly mandate_id: MandateId
  readonly account_number_last4: string | null
  readonly status: MandateStatus
}

/** The banks, or the provider, have told what became of the mandate. */
export type ChangeMandate = {
  readonly type: 'ChangeMandate'
  readonly mandate_id: MandateId
  readonly status: MandateStatus
}

/** The mandate could not be made. */
export type RecordMandateFailure = {
  readonly type: 'RecordMandateFailure'
  readonly failure_code: string
  /** Whether the provider has refused it for good. */
  readonly is_final: boolean
  readonly now: string
}

/** The operator's act, after it was refused; nothing is to be done while it is under way, or there is one. */
export type RequestMandate = { readonly type: 'RequestMandate' }

type Decision = readonly PolicyEvent[]

export const needsMandate = (policy: PolicyRecord): boolean =>
  policy.provider_mandate === null && policy.payment_method.mandate_status === 'pending' && !hasEnded(policy)

export const recordMandate = ({ type: _type, ...mandate }: RecordMandate, policy: PolicyRecord): Decision =>
  policy.payment_method.mandate_id === mandate.mandate_id && policy.provider_mandate !== null
    ? []
    : [{ type: 'PolicyMandateRecorded', ...mandate }]

const follows: Readonly<Record<MandateStatus, readonly MandateStatus[]>> = {
  pending: ['active', 'failed', 'cancelled'],
  active: ['cancelled'],
  failed: [],
  cancelled: [],
}

/** News may come twice and in any order: what has ended stays ended. */
export const changeMandate = ({ mandate_id, status }: ChangeMandate, { payment_method }: PolicyRecord): Decision =>
  payment_method.mandate_id === mandate_id && follows[payment_method.mandate_status].includes(status)
    ? [{ type: 'PolicyMandateChanged', mandate_id, status }]
    : []

export const recordMandateFailure = (
  { failure_code, is_final, now }: RecordMandateFailure,
  policy: PolicyRecord,
): Decision => {
  if (!needsMandate(policy)) return []
  const retry_at = is_final ? null : retryAt(policy.mandate_attempts, now)
  const attempt = policy.mandate_attempts + 1
  if (retry_at === null) return [{ type: 'PolicyMandateRefused', failure_code, attempt }]
  return [{ type: 'PolicyMandateDelayed', failure_code, attempt, retry_at }]
}

export const requestMandate = (policy: PolicyRecord): Decision => {
  if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
  if (policy.provider_mandate !== null || policy.payment_method.mandate_status === 'pending') return []
  return [{ type: 'PolicyMandateRequested', attempt: policy.mandate_attempts + 1 }]
}
