import { idOf } from '#domain/event.ts'
import { hasEnded } from '#domain/policies/ended.ts'
import { hasMandate, hasMandateEnded } from '#domain/policies/mandate.ts'
import { PaymentId } from '#domain/payments/events.ts'
import type { Payment } from '#domain/payments/payment.ts'
import { policy } from '#domain/policies/policy.ts'
import { premiumOf } from '#domain/premiums/premium-of.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { checkAt } from '#domain/premiums/settle.ts'
import { obligedBy } from '#domain/premiums/settle-premium.ts'
import { sumsOf } from '#domain/premiums/sums.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Clock } from '#infra/clock.ts'
import type { Outcome, Provider, ProviderPayment } from '#infra/stripe/provider.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { makeLookAtMandate } from '../payments/look-at-mandate.ts'
import { providerOf } from '../payments/merchants.ts'
import { makePayments, openedAs, type PaymentDeps } from '../payments/payments.ts'
import { failureOf, isUnknown } from '../payments/provider-answers.ts'
import { premiumIds } from '../policies/ids.ts'
import type { Timer } from '../reactions/timers.ts'

type Deps = PaymentDeps & { readonly clock: Pick<Clock, 'now'> }

/** The provider remembers idempotency keys for a day: later it is asked first whether it has collected already. */
const keyIsOldMs = 12 * 60 * 60 * 1000

/**
 * Collects premiums, however often it takes. The provider takes each attempt once, whoever asks: a process that is killed
 * after it has asked leaves an attempt that the next one finds by its key, or by what was kept with it.
 */
export const collectPremiums = ({ clock, ...deps }: Deps): readonly Timer[] => {
  const { writer, merchants, calendar } = deps
  const { handle, load } = commandHandler(writer, policy)
  const lookAtMandate = makeLookAtMandate({ writer, merchants })
  const payments = makePayments(deps)

  /** What of the premium is done next: it is tried anew, asked for, or it is asked what became of it. */
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
    const state = await payments.settle(before.id, premium_id, context)
    const premium = state && premiumOf(state, premium_id)
    if (!state || !premium || premium.status !== status || premium.attempt !== attempt) return
    const failure_code = await (status === 'due'
      ? ask(provider, state, premium, context)
      : check(state, premium, context))
    if (failure_code !== undefined) await delay(failure_code)
    // Its mandate may have ended, and the news of that be lost: the next attempt would fail as well.
    const after = await load(before.id)
    if (after && premiumOf(after, premium_id).status === 'failed') await lookAtMandate(after, context)
  }

  /** Asks the provider to collect; says why it could not. */
  const ask = async (
    provider: Provider,
    state: PolicyState,
    premium: Premium,
    context: Context,
  ): Promise<string | undefined> => {
    const { premium_id, attempt, asked_at } = premium
    const found = await payments.paymentsOf(state, premium, context)
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

  /** Asks what became of a payment, whatever pays the premium by now. */
  const checkPayment = async (payment: Payment, context: Context): Promise<void> => {
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

const metadataOf = ({ id, organisation_id }: PolicyState, { premium_id, attempt }: Premium) => ({
  organisation_id,
  policy_id: id,
  premium_id,
  attempt: String(attempt),
})

/** What was collected for this attempt, under whichever mandate. */
const findCollection = async (
  provider: Provider,
  state: PolicyState,
  premium: Premium,
): Promise<Outcome<ProviderPayment | null>> => {
  const metadata = metadataOf(state, premium)
  for (const provider_customer_id of state.provider_customers) {
    const found = await provider.findCollection(provider_customer_id, metadata)
    // A former payer whom the provider no longer knows would keep every premium from being asked for, for ever.
    const isGone = isUnknown(found)
    if (isGone && provider_customer_id !== state.provider_mandate?.provider_customer_id) continue
    if (found.outcome !== 'done' || found.value) return found
  }
  return { outcome: 'done', value: null }
}
