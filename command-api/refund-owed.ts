import { policy } from '#domain/policies/policy.ts'
import type { PremiumRefundId } from '#domain/premiums/events.ts'
import { commandHandler, type Writer } from './handle.ts'

export type IsRefundOwed = (policy_id: string, refund_id: PremiumRefundId) => Promise<boolean>

/** What was owed when an event was recorded may have been closed since. */
export const makeIsRefundOwed = (writer: Writer): IsRefundOwed => {
  const { load } = commandHandler(writer, policy)

  return async (policy_id, refund_id) => {
    const refunds = (await load(policy_id))?.premiums.flatMap((premium) => premium.refunds) ?? []
    return refunds.some((refund) => refund.refund_id === refund_id && refund.status === 'owed')
  }
}
