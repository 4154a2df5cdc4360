import { laterOf } from '../dates.ts'
import { refundable } from '../premiums/record.ts'
import { refundOwed } from '../premiums/refunds.ts'
import { writeOffOpen } from '../premiums/write-off.ts'
import { Rejection } from '../rejection.ts'
import { hasEnded } from './ended.ts'
import type { CancellationReason } from './events.ts'
import type { PolicyStreamEvent } from './record.ts'
import type { PolicyState } from './state.ts'

/** The operator's act. */
export type CancelPolicy = {
  readonly type: 'CancelPolicy'
  readonly reason: CancellationReason
  readonly note: string | null
  /** The date now, where the organisation is. */
  readonly today: string
}

/** The customer's right within the cooling-off period, which the firm's own server may carry out. */
export type CoolOff = Pick<CancelPolicy, 'note' | 'today'> & { readonly type: 'CoolOff' }

/**
 * Within the cooling-off period everything that was paid is given back; later, what was paid for months that are not covered.
 * Cancelling again for the same reason changes nothing.
 */
export const cancelPolicy = (command: CancelPolicy, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { reason, note, today } = command
  if (policy.cancellation_reason === reason) return []
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
  const owed = policy.premiums
    .filter((premium) => refundable(premium) > 0 && (cooling_off || premium.covers_from >= effective_on))
    .map((premium) => refundOwed(premium, policy, refundable(premium), cooling_off ? 'cooling_off' : 'policy_ended'))
  return [
    {
      type: 'PolicyCancelled',
      application_id: policy.application_id,
      card_payment_id: policy.card_payment_id,
      reason,
      note,
      effective_on,
      cooling_off,
      refund_pence:
        owed.reduce((sum, { refund_pence }) => sum + refund_pence, 0) + (cooling_off ? paidBeforehand(policy) : 0),
    },
    ...owed,
    ...writeOffOpen(policy),
  ]
}

export const coolOff = ({ note, today }: CoolOff, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { status, cancellation_reason, cooling_off_ends_on: until } = policy
  const refused = (why: string) => new Rejection('invalid_transition', why)
  if (hasEnded(policy) && cancellation_reason !== 'cooling_off')
    throw refused(`This policy has ended (${status}), so it cannot be cancelled.`)
  if (until === null) throw refused('This policy has no cooling-off period. The team can cancel it.')
  if (cancellation_reason === null && today > until)
    throw refused(`The cooling-off period was over after ${until}. The team can cancel the policy.`)
  return cancelPolicy({ type: 'CancelPolicy', reason: 'cooling_off', note, today }, policy)
}

/** The first premium by card, where it is not collected yet: its authorisation is to be let go. */
const paidBeforehand = ({ first_premium: { method, status }, premiums, premium_pence }: PolicyState): number =>
  method === 'card' &&
  (status === 'succeeded' || status === 'authorised') &&
  !premiums.some((premium) => premium.method === 'card' && premium.status === 'collected')
    ? premium_pence
    : 0
