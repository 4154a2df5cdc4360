import { MandateId } from '../payments/events.ts'
import type { Payment } from '../payments/payment.ts'
import { hasEnded } from '../policies/ended.ts'
import type { PolicyEvent } from '../policies/events.ts'
import type { PolicyStreamEvent } from '../policies/record.ts'
import type { PolicyState } from '../policies/state.ts'
import type { BankCalendar } from '../working-days.ts'
import type { PremiumId, PremiumRefundId } from './events.ts'
import { premiumOf } from './premium-of.ts'
import { settle } from './settle.ts'
import type { Obliged } from './sums.ts'

/** Sent after any notice of a payment, and after any act of the team, to settle the premium by its payments. */
export type SettlePremium = {
  readonly type: 'SettlePremium'
  readonly premium_id: PremiumId
  /** Every payment of the premium, in the order of the attempts, as read after the policy was. */
  readonly payments: readonly Payment[]
  /** The number of the policy's events: payments read count only while it has no more. */
  readonly changes: number
  readonly now: string
  readonly calendar: BankCalendar
  readonly refundIdOf: (name: string) => PremiumRefundId
}

/** Policy fields that decide what is owed of its premiums. */
export const obligedBy = (policy: PolicyState): Obliged => ({ ...policy, has_ended: hasEnded(policy) })

export const settlePremium = (command: SettlePremium, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { premium_id, changes, payments, now, calendar, refundIdOf } = command
  const premium = premiumOf(policy, premium_id)
  // Nothing was asked for where there is nothing to pay.
  if (policy.changes !== changes || premium.amount_pence === 0) return []
  const events = settle(premium, { policy: obligedBy(policy), payments, now, calendar, refundIdOf })
  const isByDebit = events.some((event) => event.type === 'PremiumCollected' && event.method === 'direct_debit')
  return [...events, ...(isByDebit ? provenMandate(policy) : [])]
}

/** Whoever has paid by Direct Debit has a mandate that the banks took, also where their notice was lost. */
const provenMandate = ({ payment_method, provider_mandate, application_id }: PolicyState): readonly PolicyEvent[] => {
  const { mandate_id, mandate_status } = payment_method
  return mandate_id !== null && provider_mandate !== null && mandate_status === 'pending'
    ? [{ type: 'PolicyMandateChanged', mandate_id: MandateId.parse(mandate_id), status: 'active', application_id }]
    : []
}
