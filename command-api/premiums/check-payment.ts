import type { Payment } from '#domain/payments/payment.ts'
import { policy } from '#domain/policies/policy.ts'
import { providerOf, type Merchants } from '../payments/merchants.ts'
import type { Payments } from '../payments/payments.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { findCollection } from './find-collection.ts'

type Deps = { readonly writer: Writer; readonly merchants: Merchants; readonly payments: Payments }

export type CheckPayment = (payment: Payment, context: Context) => Promise<void>

/** Asks what became of a payment, whatever pays the premium by now. */
export const makeCheckPayment = ({ writer, merchants, payments }: Deps): CheckPayment => {
  const { load } = commandHandler(writer, policy)

  return async (payment, context) => {
    const { policy_id, premium_id, attempt, status, payment_intent_id, payment_id } = payment
    const state = policy_id === null ? undefined : await load(policy_id)
    const premium = state?.premiums.find((each) => each.premium_id === premium_id)
    const provider = state && providerOf(merchants, state)
    if (!state || !premium || !provider || attempt === null || (status !== 'opened' && status !== 'authorised')) return
    const isCurrent = premium.attempt === attempt && premium.status === 'due'
    const found =
      payment_intent_id === null
        ? await findCollection(provider, state, { ...premium, attempt })
        : ({ outcome: 'done', value: { id: payment_intent_id } } as const)
    if (found.outcome !== 'done') return
    if (found.value) {
      await payments.follow(state, premium, { attempt, payment_intent_id: found.value.id }, context)
    } else if (!isCurrent) {
      await payments.handle(payment_id, { type: 'RefusePayment', failure_code: 'not_asked' }, context)
      await payments.settle(state.id, premium.premium_id, context)
    }
  }
}
