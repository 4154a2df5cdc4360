import { idOf } from '#domain/event.ts'
import { heldPence, type Payment } from '#domain/payments/payment.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { Premium, PremiumRefund } from '#domain/premiums/record.ts'
import { isNeedless } from '#domain/premiums/sums.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { providerOf } from '../payments/merchants.ts'
import { makePayments, type PaymentDeps, type Settled } from '../payments/payments.ts'
import { failureOf, UnknownAtProvider } from '../payments/provider-answers.ts'
import type { Timer } from '../reactions/timers.ts'

type Due = { readonly state: PolicyState; readonly premium: Premium; readonly refund: PremiumRefund }

/** Gives back what is owed of premiums, however often it takes, and each refund once. */
export const refundPremiums = (deps: PaymentDeps): Timer => {
  const { writer, merchants } = deps
  const { handle, load } = commandHandler(writer, policy)
  const payments = makePayments(deps)

  /** One after the other, so that each is given back of what then is held: the first, whichever of a premium is due. */
  const dueIn = (state: PolicyState | undefined, id: string): Due | undefined => {
    const isOpen = ({ status, is_left }: PremiumRefund) => status === 'owed' && !is_left
    const premium = state?.premiums.find(({ refunds }) => refunds.some((each) => each.refund_id === id && isOpen(each)))
    const refund = premium?.refunds.find(isOpen)
    return state && premium && refund && { state, premium, refund }
  }

  /** Says why it could not be given back. */
  const giveBack = async (
    provider: Provider,
    due: Due,
    found: Settled['payments'],
    context: Context,
  ): Promise<string | undefined> => {
    const { premium, refund } = due
    const { refund_id, refund_pence } = refund
    for (const each of found.filter((payment) => isNeedless(premium, payment))) await callOff(due, each, context)
    const asked = found.find((each) => each.asked?.refund_id === refund_id)
    if (asked) return askAgain(provider, due, asked, context)
    // The newest that holds something, and is not asked for something else.
    const from = found.findLast((each) => each.asked === null && heldPence(each) > 0)
    if (!from) return 'no_payment'
    const pence = Math.min(heldPence(from), refund_pence)
    const ask = { refund_id, refund_pence: pence, idempotency_key: keyOf(from, refund, pence) }
    const { state: after } = await payments.handle(from.payment_id, { type: 'AskRefund', ...ask }, context)
    return after?.asked?.idempotency_key === ask.idempotency_key ? request(provider, due, after, context) : undefined
  }

  /** It was asked to give back what is owed no more: unless it has done so, it is asked no more. */
  const callOff = async (due: Due, payment: Payment, context: Context): Promise<void> => {
    if ((await follow(due, payment, context)) !== undefined) return
    const { asked } = (await payments.load(payment.payment_id)) ?? payment
    if (!asked) return
    const { refund_id, idempotency_key } = asked
    const refuse = { type: 'RefuseRefund', refund_id, idempotency_key, failure_code: 'not_owed' } as const
    await payments.handle(payment.payment_id, refuse, context)
  }

  /** The answer was lost: it may have been given back. */
  const askAgain = async (
    provider: Provider,
    due: Due,
    asked: Payment,
    context: Context,
  ): Promise<string | undefined> => {
    const failure_code = await follow(due, asked, context)
    if (failure_code !== undefined) return failure_code
    const now = await payments.load(asked.payment_id)
    return now?.asked?.refund_id === due.refund.refund_id ? request(provider, due, now, context) : undefined
  }

  const follow = async ({ state, premium }: Due, { attempt, payment_intent_id }: Payment, context: Context) => {
    if (payment_intent_id === null) return 'no_payment'
    const followed = await payments.follow(state, premium, { attempt: attempt ?? 1, payment_intent_id }, context)
    return followed.outcome === 'done' ? undefined : failureOf(followed)
  }

  const request = async (
    provider: Provider,
    due: Due,
    payment: Payment,
    context: Context,
  ): Promise<string | undefined> => {
    const { id: policy_id, organisation_id } = due.state
    const { asked, payment_intent_id, payment_id, premium_id } = payment
    if (!asked || payment_intent_id === null) return 'no_payment'
    const { refund_id, refund_pence, idempotency_key } = asked
    // By these the provider's news tells which refund it is about.
    const metadata = { organisation_id, policy_id, premium_id: premium_id ?? '', refund_id }
    const answer = await provider.refund(payment_intent_id, refund_pence, idempotency_key, metadata)
    if (answer.outcome === 'unanswered') return 'unanswered'
    const refuse = async (failure_code: string): Promise<string> => {
      await payments.handle(payment_id, { type: 'RefuseRefund', refund_id, idempotency_key, failure_code }, context)
      return failure_code
    }
    // What was done under this key before may have failed since: the provider answers as it did then.
    const isOld =
      answer.outcome === 'done' &&
      payment.refunds.some(({ provider_refund_id }) => provider_refund_id === answer.value.refund_id)
    const failure_code = isOld
      ? await refuse('refund_failed')
      : answer.outcome === 'refused'
        ? await refuse(answer.code)
        : undefined
    return (await follow(due, payment, context)) ?? failure_code
  }

  return {
    kind: 'premium_refund',
    fire: async ({ stream, id }, context) => {
      const before = dueIn(await load(idOf(stream)), id)
      if (!before || isTooEarly(before.state.refund_retry_at[before.refund.refund_id], context.now)) return
      const { premium_id } = before.premium
      const { refund_id } = before.refund
      const provider = providerOf(merchants, before.state)
      const giveBackNow = async () => {
        if (!provider) return 'no_account'
        const settled = await payments.settle(before.state.id, premium_id, context)
        const due = dueIn(settled?.state, refund_id)
        return settled && due?.refund.refund_id === refund_id
          ? giveBack(provider, due, settled.payments, context)
          : undefined
      }
      // What an account does not know, it will not know when it is asked again: that is left to the team in the end.
      const failure_code = await giveBackNow().catch(codeOfUnknown)
      if (failure_code === undefined) return
      const { now } = context
      await handle(before.state.id, { type: 'DelayRefund', premium_id, refund_id, failure_code, now }, context)
    },
  }
}

const codeOfUnknown = (error: unknown): string => {
  if (error instanceof UnknownAtProvider) return 'resource_missing'
  throw error
}

/** Each attempt has a key of its own, since the provider remembers what has failed under a key. */
const keyOf = (payment: Payment, refund: PremiumRefund, pence: number): string => {
  const { refund_id, failed_attempts, failed_provider_refunds } = refund
  const failures = failed_provider_refunds.length
  // As a version before this one asked for it: whichever of both comes first, the provider does it once.
  if (payment.method === 'card' && pence === payment.captured_pence)
    return [
      'refund',
      payment.payment_id,
      ...failed_provider_refunds.slice(-1),
      ...(failed_attempts === 0 ? [] : [failed_attempts]),
    ].join(':')
  return `premium_refund:${refund_id}:${failures === 0 ? '' : `${failures}.`}${failed_attempts}:${pence}`
}
