import { idOf } from '#domain/event.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { Premium, PremiumRefund } from '#domain/premiums/record.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from '../handle.ts'
import type { PaymentDesks } from '../payment-desk.ts'
import type { Timer } from '../timers.ts'

type Deps = { readonly writer: Writer; readonly desks: PaymentDesks }

/** Gives premiums back that were collected by Direct Debit, however often it takes, and each refund once. */
export const refundPremiums = ({ writer, desks }: Deps): Timer => {
  const { handle, load } = commandHandler(writer, policy)

  return {
    kind: 'premium_refund',
    fire: async ({ stream, id }, context) => {
      const state = await load(idOf(stream))
      const premium = state?.premiums.find(({ refunds }) => refunds.some(({ refund_id }) => refund_id === id))
      // One after the other, so that the provider's total tells which have been done.
      const refund = premium?.refunds.find(({ status, is_left }) => status === 'owed' && !is_left)
      if (!state || !premium || refund?.refund_id !== id) return
      const desk = desks(state.organisation_id, state.test)
      await handle(state.id, await giveBack(desk?.provider, premium, refund, context), context)
    },
  }
}

const giveBack = async (
  provider: Provider | undefined,
  premium: Premium,
  { refund_id, refund_pence, failed_attempts }: PremiumRefund,
  { now }: Context,
): Promise<PolicyCommand> => {
  const { premium_id, payment_intent_id, refunded_pence } = premium
  const done = { type: 'RecordPremiumRefund', premium_id, refund_id } as const
  const delayed = (failure_code: string) => ({ type: 'DelayRefund', premium_id, refund_id, failure_code, now }) as const
  if (!provider) return delayed('no_account')
  if (payment_intent_id === null) return delayed('no_payment')
  const read = await provider.readPayment(payment_intent_id)
  if (read.outcome !== 'done') return delayed(read.outcome === 'refused' ? read.code : 'unanswered')
  // What somebody gave back by hand meanwhile counts towards it, and so does what was done and never recorded.
  const needed = refunded_pence + refund_pence - read.value.refunded_pence
  if (needed <= 0) return done
  // Each attempt has a key of its own, since the provider remembers what has failed under a key.
  const key = `premium_refund:${refund_id}:${failed_attempts}:${needed}`
  const refunded = await provider.refund(payment_intent_id, needed, key)
  if (refunded.outcome === 'done') return done
  return delayed(refunded.outcome === 'refused' ? refunded.code : 'unanswered')
}
