import { idOf } from '#domain/event.ts'
import { debitFor, isHeldByCard } from '#domain/policies/refund-payment.ts'
import { isOfCard } from '#domain/policies/refunds.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { refundedBy, type Premium, type PremiumRefund } from '#domain/premiums/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from '../handle.ts'
import type { Merchants } from '../merchants.ts'
import type { Timer } from '../timers.ts'

type Deps = { readonly writer: Writer; readonly merchants: Merchants }

/** Gives premiums back that were collected by Direct Debit, however often it takes, and each refund once. */
export const refundPremiums = ({ writer, merchants }: Deps): Timer => {
  const { handle, load } = commandHandler(writer, policy)

  return {
    kind: 'premium_refund',
    fire: async ({ stream, id }, context) => {
      const state = await load(idOf(stream))
      const premium = state?.premiums.find(({ refunds }) => refunds.some(({ refund_id }) => refund_id === id))
      // One after the other, so that the provider's total tells which have been done.
      const refund = premium?.refunds.find(({ status, is_left }) => status === 'owed' && !is_left)
      if (!state || !premium || refund?.refund_id !== id) return
      // It may have become owed of the card since this was due: the application gives that back.
      if (isOfCard(refund)) return
      if (isTooEarly(state.refund_retry_at[refund.refund_id], context.now)) return
      const merchant = merchants(state.organisation_id, state.test)
      const payment = debitFor(premium, refund)
      const command: PolicyCommand =
        payment === undefined && isHeldByCard(state, premium, refund)
          ? { type: 'OweRefundOfCard', premium_id: premium.premium_id, refund_id: refund.refund_id }
          : await giveBack(merchant?.provider, state, premium, refund, payment ?? premium, context)
      await handle(state.id, command, context)
    },
  }
}

const giveBack = async (
  provider: Provider | undefined,
  { organisation_id, id: policy_id }: PolicyState,
  premium: Premium,
  refund: PremiumRefund,
  { payment_intent_id, attempt: collected_by }: Pick<Premium, 'payment_intent_id' | 'attempt'>,
  { now }: Context,
): Promise<PolicyCommand> => {
  const { refund_id, refund_pence, failed_attempts, failed_provider_refunds } = refund
  const { premium_id } = premium
  const failed_before = failed_provider_refunds.length
  const done = { type: 'RecordPremiumRefund', premium_id, refund_id, failed_before, attempt: collected_by } as const
  const delayed = (failure_code: string) => ({ type: 'DelayRefund', premium_id, refund_id, failure_code, now }) as const
  if (!provider) return delayed('no_account')
  if (payment_intent_id === null) return delayed('no_payment')
  const read = await provider.refundedPence(payment_intent_id)
  if (read.outcome !== 'done') return delayed(read.outcome === 'refused' ? read.code : 'unanswered')
  // What somebody gave back by hand meanwhile counts towards it, and so does what was done and never recorded.
  const needed = refundedBy(premium, collected_by) + refund_pence - read.value
  if (needed <= 0) return done
  // Each attempt has a key of its own, since the provider remembers what has failed under a key.
  const attempt = failed_before === 0 ? `${failed_attempts}` : `${failed_before}.${failed_attempts}`
  const key = `premium_refund:${refund_id}:${attempt}:${needed}`
  // By these the provider's news tells which refund it is about.
  const metadata = { organisation_id, policy_id, premium_id, refund_id }
  const refunded = await provider.refund(payment_intent_id, needed, key, metadata)
  if (refunded.outcome === 'done') return done
  return delayed(refunded.outcome === 'refused' ? refunded.code : 'unanswered')
}
