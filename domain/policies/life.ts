import { Rejection } from '../rejection.ts'
import { dateIn } from '../time-zone.ts'
import type { CancellationReason, PolicyEvent } from './events.ts'
import { laterOf } from './dates.ts'
import { hasEnded } from './ended.ts'
import type { OrganisationId } from '../values.ts'
import type { PolicyRecord } from './record.ts'

/** Sent when the day has come on which cover starts. */
export type ActivatePolicy = { readonly type: 'ActivatePolicy'; readonly now: string }

/** Sent when the day has come on which cover ends. */
export type ExpirePolicy = { readonly type: 'ExpirePolicy'; readonly now: string }

/** The operator's act. */
export type CancelPolicy = {
  readonly type: 'CancelPolicy'
  readonly reason: CancellationReason
  readonly note: string | null
  /** The date now, where the organisation is. */
  readonly today: string
}

/** Sent when the firm's own system has told of something about the policy. */
export type RecordPolicyUpdate = {
  readonly type: 'RecordPolicyUpdate'
  readonly organisation_id: OrganisationId
} & Omit<Extract<PolicyEvent, { type: 'PolicyUpdated' }>, 'type'>

/** News of a policy that is not there, or is another firm's, is ignored. */
export const recordPolicyUpdate = (
  { type: _type, organisation_id, ...update }: RecordPolicyUpdate,
  policy: PolicyRecord | undefined,
): readonly PolicyEvent[] => (policy?.organisation_id === organisation_id ? [{ type: 'PolicyUpdated', ...update }] : [])

const dateOf = ({ time_zone }: PolicyRecord, now: string): string => dateIn(time_zone, now)

export const activatePolicy = ({ now }: ActivatePolicy, policy: PolicyRecord): readonly PolicyEvent[] =>
  policy.status === 'pending_start' && policy.start_date <= dateOf(policy, now)
    ? [{ type: 'PolicyActivated', start_date: policy.start_date }]
    : []

/** Cover that has not begun does not end: it is activated first. */
export const expirePolicy = ({ now }: ExpirePolicy, policy: PolicyRecord): readonly PolicyEvent[] => {
  const { status, end_date } = policy
  const isOn = status === 'active' || status === 'suspended'
  return isOn && end_date !== null && end_date <= dateOf(policy, now) ? [{ type: 'PolicyExpired', end_date }] : []
}

/** Within the cooling-off period everything that was paid is given back. Cancelling again for the same reason changes nothing. */
export const cancelPolicy = (command: CancelPolicy, policy: PolicyRecord): readonly PolicyEvent[] => {
  const { reason, note, today } = command
  if (policy.status === 'cancelled' && policy.cancellation_reason === reason) return []
  if (hasEnded(policy))
    throw new Rejection('conflict', `This policy has ended (${policy.status}), so it cannot be cancelled.`)
  const cooling_off = reason === 'cooling_off'
  const until = policy.cooling_off_ends_on
  if (cooling_off && (until === null || today > until))
    throw new Rejection('validation_failed', 'Choose another reason: the time to cool off is over.', {
      reason: until === null ? 'this policy has no cooling-off period' : `was possible until ${until}`,
    })
  // Cover that has not begun ends on the day on which it would have begun.
  const effective_on = laterOf(today, policy.start_date)
  return [
    {
      type: 'PolicyCancelled',
      application_id: policy.application_id,
      card_payment_id: policy.card_payment_id,
      reason,
      note,
      effective_on,
      cooling_off,
      refund_pence: cooling_off ? paid(policy) : 0,
    },
  ]
}

/** What was taken so far: the first premium, where it was paid by card. */
const paid = ({ first_premium: { method, status }, premium_pence }: PolicyRecord): number =>
  method === 'card' && (status === 'succeeded' || status === 'authorised') ? premium_pence : 0
