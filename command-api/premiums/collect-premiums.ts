import { idOf } from '#domain/event.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { premiumOf } from '#domain/premiums/premium-of.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Clock } from '#infra/clock.ts'
import { makeCheckMandate } from '../payments/check-mandate.ts'
import { providerOf } from '../payments/merchants.ts'
import { makePayments, type PaymentDeps } from '../payments/payments.ts'
import { failureOf } from '../payments/provider-answers.ts'
import { premiumIds } from '../policies/ids.ts'
import type { Timer } from '../reactions/timers.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { makeAskForPremium } from './ask-for-premium.ts'
import { makeCheckPayment } from './check-payment.ts'

type Deps = PaymentDeps & { readonly clock: Pick<Clock, 'now'> }

/**
 * Collects premiums, however often it takes. The provider takes each attempt once, whoever asks: a process that is killed
 * after it has asked leaves an attempt that the next one finds by its key, or by what was kept with it.
 */
export const collectPremiums = ({ clock, ...deps }: Deps): readonly Timer[] => {
  const { writer, merchants, calendar } = deps
  const { handle, load } = commandHandler(writer, policy)
  const checkMandate = makeCheckMandate({ writer, merchants })
  const payments = makePayments(deps)
  const checkPayment = makeCheckPayment({ writer, merchants, payments })
  const ask = makeAskForPremium({ writer, clock, payments, checkPayment })

  /** The next step of a premium: it is tried again, asked for, or the provider is asked what became of it. */
  const actOn = async (before: PolicyState, { premium_id }: Premium, context: Context): Promise<void> => {
    const { now } = context
    const provider = providerOf(merchants, before)
    const { status, attempt, method } = premiumOf(before, premium_id)
    if (status === 'failed') {
      await handle(before.id, { type: 'RetryPremium', premium_id, by: 'timer', now }, context)
      return
    }
    if (status !== 'due' && status !== 'requested') return
    const delay = async (failure_code: string) =>
      void (await handle(before.id, { type: 'DelayPremium', premium_id, attempt, failure_code, now }, context))
    if (!provider) return delay('no_account')
    if (method === 'card' && attempt === 1) {
      await payments.settle(before.id, premium_id, context)
      return delay('card_not_charged')
    }
    const settled = await payments.settle(before.id, premium_id, context)
    const premium = settled && premiumOf(settled.state, premium_id)
    if (!settled || !premium || premium.status !== status || premium.attempt !== attempt) return
    const failure_code = await (status === 'due'
      ? ask(provider, settled, premium, context)
      : check(settled.state, premium, context))
    if (failure_code !== undefined) await delay(failure_code)
    // Its mandate may have ended, and the news of that be lost: the next attempt would fail as well.
    const after = await load(before.id)
    if (after && premiumOf(after, premium_id).status === 'failed') await checkMandate(after, context)
  }

  /** Asks what became of a collection that nobody has told of. */
  const check = async (state: PolicyState, premium: Premium, context: Context): Promise<string | undefined> => {
    const { premium_id, attempt, payment_intent_id } = premium
    if (payment_intent_id === null) return 'no_payment'
    const followed = await payments.follow(state, premium, { attempt, payment_intent_id }, context)
    if (followed.outcome !== 'done') return failureOf(followed)
    const after = followed.value && premiumOf(followed.value, premium_id)
    return after?.status === 'requested' && after.attempt === attempt ? 'processing' : undefined
  }

  return [
    {
      kind: 'policy_premium',
      fire: async ({ stream, due_at }, context) => {
        const id = idOf(stream)
        const called = await handle(id, { type: 'CallPremium', now: due_at, calendar, idOf: premiumIds(id) }, context)
        const premium = called.events.length > 0 ? called.state?.premiums.at(-1) : undefined
        // Nobody waits for the next look at what is due; a failure is found there.
        if (called.state && premium) await actOn(called.state, premium, context)
      },
    },
    {
      kind: 'premium',
      fire: async ({ stream, id }, context) => {
        const before = await load(idOf(stream))
        if (!before) return
        const premium = premiumOf(before, PremiumId.parse(id))
        if (isTooEarly(premium.retry_at, context.now)) return
        await actOn(before, premium, context)
        if (premium.status !== 'failed') return
        const after = await load(before.id)
        if (after) await actOn(after, premiumOf(after, premium.premium_id), context)
      },
    },
    {
      kind: 'payment',
      fire: async ({ id }, context) => {
        const payment_id = PaymentId.parse(id)
        const payment = await payments.load(payment_id)
        if (!payment || isTooEarly(payment.retry_at, context.now)) return
        await checkPayment(payment, context)
        await payments.handle(payment_id, { type: 'DelayPayment', now: context.now }, context)
      },
    },
    {
      kind: 'policy_arrears',
      fire: async ({ stream, due_at }, context) => handle(idOf(stream), { type: 'CheckArrears', now: due_at }, context),
    },
  ]
}
