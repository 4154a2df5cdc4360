import { hasEnded } from '#domain/policies/ended.ts'
import { hasMandate, hasMandateEnded } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { checkAt } from '#domain/premiums/settle.ts'
import { obligedBy } from '#domain/premiums/settle-premium.ts'
import { sumsOf } from '#domain/premiums/sums.ts'
import type { Clock } from '#infra/clock.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { openedAs, type Payments, type Settled } from '../payments/payments.ts'
import { failureOf } from '../payments/provider-answers.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { CheckPayment } from './check-payment.ts'
import { findCollection, metadataOf } from './find-collection.ts'

type Deps = {
  readonly writer: Writer
  readonly clock: Pick<Clock, 'now'>
  readonly payments: Payments
  readonly checkPayment: CheckPayment
}

/** The provider remembers idempotency keys for a day: later it is asked first whether it has collected already. */
const keyIsOldMs = 12 * 60 * 60 * 1000

type Ask = (provider: Provider, settled: Settled, premium: Premium, context: Context) => Promise<string | undefined>

/** Asks the provider to collect; says why it could not. */
export const makeAskForPremium = ({ writer, clock, payments, checkPayment }: Deps): Ask => {
  const { handle } = commandHandler(writer, policy)

  /** The provider has taken it on. */
  const taken = async (
    state: PolicyState,
    premium: Premium,
    payment_intent_id: string,
    context: Context,
  ): Promise<string | undefined> => {
    const { premium_id, attempt } = premium
    const requested = { premium_id, attempt, payment_intent_id, check_at: checkAt(context.now) }
    await handle(state.id, { type: 'RecordPremiumRequest', ...requested }, context)
    const followed = await payments.follow(state, premium, { attempt, payment_intent_id }, context)
    return followed.outcome === 'done' ? undefined : failureOf(followed)
  }

  return async (provider, { state, payments: found }, premium, context) => {
    const { premium_id, attempt, asked_at } = premium
    const others = found.filter((each) => each.attempt !== attempt)
    const { missing, coming } = sumsOf(premium, { payments: others, policy: obligedBy(state) })
    if (coming > 0) {
      // It may be paid by what was asked for before: that is looked for, and waited for.
      for (const each of others) await checkPayment(each, context)
      return 'processing'
    }
    // Cover that has come to the end of its term was given, and is paid for.
    const isNotOwed = missing === 0 || (hasEnded(state) && state.status !== 'expired')
    const isLate = clock.now().getTime() - Date.parse(asked_at) > keyIsOldMs
    const hasNoMandate = hasMandateEnded(state)
    // It may have been asked under a mandate that has ended since, and the key is of no use with another one.
    if (isNotOwed || isLate || hasNoMandate || state.mandate_requests > 0) {
      const collection = await findCollection(provider, state, premium)
      if (collection.outcome !== 'done') return failureOf(collection)
      if (collection.value) return taken(state, premium, collection.value.id, context)
    }
    const opened = openedAs(state, premium, attempt, missing)
    const refuse = async (failure_code: string): Promise<undefined> => {
      await payments.handle(opened.payment_id, { type: 'OpenPayment', ...opened }, context)
      await payments.handle(opened.payment_id, { type: 'RefusePayment', failure_code }, context)
      await payments.settle(state.id, premium_id, context)
    }
    if (isNotOwed) {
      if (found.some((each) => each.attempt === attempt)) await refuse('not_asked')
      await handle(state.id, { type: 'WriteOffPremium', premium_id, reason: 'policy_ended' }, context)
      return undefined
    }
    if (hasNoMandate) return refuse('no_mandate')
    const { provider_mandate } = state
    // Once cover has ended none is awaited any more.
    if (!provider_mandate || !hasMandate(state)) return hasEnded(state) ? refuse('no_mandate') : 'mandate_pending'
    const { state: payment } = await payments.handle(opened.payment_id, { type: 'OpenPayment', ...opened }, context)
    const { amount_pence, currency_code } = payment ?? opened
    const given = { ...provider_mandate, amount_pence, currency_code, metadata: metadataOf(state, premium) }
    const asked = await provider.collect(given, `premium:${premium_id}:${attempt}`)
    if (asked.outcome === 'done') return taken(state, premium, asked.value.id, context)
    if (asked.outcome === 'unanswered') return 'unanswered'
    // The account of the firm is at fault, or nobody knows whether the first request was taken: neither is the customer's.
    const isOurs = asked.code === 'account_unusable' || asked.code === 'idempotency_error'
    return isOurs ? asked.code : refuse(asked.code)
  }
}
