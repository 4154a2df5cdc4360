import { policy } from '#domain/policies/policy.ts'
import type { RecordCardReturnFailure, RecordRefundFailure } from '#domain/policies/failed-refunds.ts'
import { failedRefunds, type Premium } from '#domain/premiums/record.ts'
import { doneOr, known } from './provider-answers.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import type { Merchant } from './merchants.ts'
import { providerRefundId } from './policies/ids.ts'

type FailedRefund = RecordRefundFailure | RecordCardReturnFailure

/** Takes what the payment provider says was given back of a premium, or has failed to be, into its policy's record. */
export const makeProviderRefunds = (writer: Writer) => {
  const policies = commandHandler(writer, policy)

  const recordTotal = async (
    policy_id: string,
    premium: Premium,
    { attempt, total_pence }: { readonly attempt: number; readonly total_pence: number },
    context: Context,
  ): Promise<void> => {
    const { premium_id } = premium
    const failed_before = failedRefunds(premium)
    const refund_id = providerRefundId(premium_id, attempt, total_pence, failed_before)
    const told = { premium_id, refund_id, attempt, total_pence, failed_before }
    await policies.handle(policy_id, { type: 'RecordProviderRefund', ...told }, context)
  }

  const recordFailure = async (
    policy_id: string,
    { premium_id }: Premium,
    command: FailedRefund,
    { payment_intent_id, attempt }: { readonly payment_intent_id: string; readonly attempt: number },
    merchant: Merchant,
    context: Context,
  ): Promise<void> => {
    const { state } = await policies.handle(policy_id, command, context)
    const failing = state?.premiums.find((each) => each.premium_id === premium_id)
    if (!failing || !Number.isSafeInteger(attempt)) return
    // What somebody has given back by hand meanwhile counts towards what is owed again.
    const total_pence = await refundedNow(merchant, payment_intent_id, 0)
    await recordTotal(policy_id, failing, { attempt, total_pence }, context)
  }

  return { recordTotal, recordFailure }
}

/** How much of a payment is given back as of now: the news of a refund may come after the news that it has failed. */
export const refundedNow = async (
  merchant: Merchant | undefined,
  payment_intent_id: string,
  told_pence: number,
): Promise<number> =>
  merchant ? doneOr('unavailable', known(await merchant.provider.refundedPence(payment_intent_id))) : told_pence
