import { idOf } from '#domain/event.ts'
import { hasEnded } from '#domain/policies/ended.ts'
import { hasMandate, hasMandateEnded } from '#domain/policies/mandate.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { premiumOf } from '#domain/policies/premium-of.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { failedRefunds, standing, type Premium } from '#domain/premiums/record.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { inBusinessTime, type Clock } from '#infra/clock.ts'
import type { Outcome, Provider, ProviderPayment } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from '../handle.ts'
import { makeLookAtMandate } from '../look-at-mandate.ts'
import type { Merchants } from '../merchants.ts'
import type { Timer } from '../timers.ts'
import { paidTwiceRefundIds, premiumIds, providerRefundId } from './ids.ts'

type Deps = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly clock: Pick<Clock, 'now'>
  readonly calendar: BankCalendar
}

const day = 24 * 60 * 60 * 1000
/** Bacs takes up to seven working days with a new mandate; before, the provider mostly tells by itself. */
const askAfterMs = 8 * day
/** The provider remembers idempotency keys for a day: later it is asked first whether it has collected already. */
const keyIsOldMs = day / 2

/**
 * Collects premiums, however often it takes. The provider takes each attempt once, whoever asks: a process that is killed
 * after it has asked leaves an attempt that the next one finds by its key, or by what was kept with it.
 */
export const collectPremiums = ({ writer, merchants, clock, calendar }: Deps): readonly Timer[] => {
  const { handle, load } = commandHandler(writer, policy)
  const lookAtMandate = makeLookAtMandate({ writer, merchants })

  const actOn = async (state: PolicyState, premium: Premium, context: Context): Promise<void> => {
    const merchant = merchants(state.organisation_id, state.test)
    const commands = await commandsFor(state, premium, merchant?.provider, context)
    for (const command of commands) {
      const { state: after, events } = await handle(state.id, command, context)
      // Its mandate may have ended, and the news of that be lost: the next attempt would fail as well.
      if (after && events.some(({ type }) => type === 'PremiumFailed')) await lookAtMandate(after, context)
    }
  }

  const commandsFor = async (
    state: PolicyState,
    premium: Premium,
    provider: Provider | undefined,
    { now }: Context,
  ): Promise<readonly PolicyCommand[]> => {
    const at = { now, calendar }
    const { premium_id, attempt, status } = premium
    if (status === 'failed') return [{ type: 'RetryPremium', premium_id, by: 'timer', now }]
    if (status !== 'due' && status !== 'requested') return []
    if (!provider) return [{ type: 'DelayPremium', premium_id, attempt, failure_code: 'no_account', now }]
    const isLate = clock.now().getTime() - Date.parse(premium.asked_at) > keyIsOldMs
    // Cover that has come to the end of its term was given, and is paid for; so is a premium whose dispute was won meanwhile.
    const isNotOwed = standing(premium).length > 0 || (hasEnded(state) && state.status !== 'expired')
    if (status === 'due' && isNotOwed) return giveUp(provider, state, premium, at)
    return status === 'due' ? ask(provider, state, premium, at, isLate) : check(provider, premium, at)
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

/** When it is, and on which days banks work: what has failed is collected again on one. */
type At = { readonly now: string; readonly calendar: BankCalendar }

/** Asks the provider to collect; says what has become of it. */
const ask = async (
  provider: Provider,
  state: PolicyState,
  premium: Premium,
  { now, calendar }: At,
  isLate: boolean,
): Promise<readonly PolicyCommand[]> => {
  const { premium_id, attempt } = premium
  const failed = (failure_code: string): PolicyCommand => ({
    type: 'SettlePremium',
    premium_id,
    attempt,
    now,
    result: { outcome: 'failed', failure_code, calendar },
  })
  const delayed = (failure_code: string): PolicyCommand => ({
    type: 'DelayPremium',
    premium_id,
    attempt,
    failure_code,
    now,
  })
  const { provider_mandate } = state
  const hasNoMandate = hasMandateEnded(state)
  // It may have been asked under a mandate that has ended since, and the key is of no use with another one.
  if (isLate || hasNoMandate || state.mandate_requests > 0) {
    const found = await findCollection(provider, state, premium)
    if (found.outcome !== 'done') return [delayed(found.outcome === 'refused' ? found.code : 'unanswered')]
    if (found.value) return taken(premium, found.value, { now, calendar })
  }
  if (hasNoMandate) return [failed('no_mandate')]
  // Once cover has ended none is awaited any more.
  if (!provider_mandate || !hasMandate(state))
    return [hasEnded(state) ? failed('no_mandate') : delayed('mandate_pending')]
  const { amount_pence } = premium
  const metadata = metadataOf(state, premium)
  const given = { ...provider_mandate, amount_pence, currency_code: state.currency_code, metadata }
  const asked = await provider.collect(given, `premium:${premium_id}:${attempt}`)
  if (asked.outcome === 'done') return taken(premium, asked.value, { now, calendar })
  if (asked.outcome === 'unanswered') return [delayed('unanswered')]
  // The account of the firm is at fault, or nobody knows whether the first request was taken: neither is the customer's.
  const isOurs = asked.code === 'account_unusable' || asked.code === 'idempotency_error'
  return [isOurs ? delayed(asked.code) : failed(asked.code)]
}

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
    const isGone = found.outcome === 'refused' && found.code === 'resource_missing'
    if (isGone && provider_customer_id !== state.provider_mandate?.provider_customer_id) continue
    if (found.outcome !== 'done' || found.value) return found
  }
  return { outcome: 'done', value: null }
}

/** A premium is asked for no more, unless the provider was asked and nobody has recorded it. */
const giveUp = async (
  provider: Provider,
  state: PolicyState,
  premium: Premium,
  at: At,
): Promise<readonly PolicyCommand[]> => {
  const { premium_id, attempt } = premium
  const writtenOff = { type: 'WriteOffPremium', premium_id, reason: 'policy_ended' } as const
  const found = await findCollection(provider, state, premium)
  if (found.outcome === 'done') return found.value ? taken(premium, found.value, at) : [writtenOff]
  const failure_code = found.outcome === 'refused' ? found.code : 'unanswered'
  return [{ type: 'DelayPremium', premium_id, attempt, failure_code, now: at.now }]
}

/** What follows from a payment that the provider has taken on. */
const taken = (premium: Premium, payment: ProviderPayment, at: At): readonly PolicyCommand[] => {
  const { premium_id, attempt } = premium
  const check_at = new Date(Date.parse(at.now) + askAfterMs).toISOString()
  const requested = { premium_id, attempt, payment_intent_id: payment.id, check_at }
  return [{ type: 'RecordPremiumRequest', ...requested }, ...settledBy(premium, payment, at)]
}

/** What a payment at the provider says of a premium; nothing while the banks have not answered. */
const settledBy = (
  premium: Premium,
  { id, status, paid_at, failure_code, refunded_pence: total_pence }: ProviderPayment,
  { now, calendar }: At,
): readonly PolicyCommand[] => {
  const { premium_id, attempt } = premium
  const settled = { type: 'SettlePremium', premium_id, attempt, now } as const
  switch (status) {
    case 'succeeded':
    case 'authorised': {
      const collected_at = paid_at === null ? now : inBusinessTime(paid_at, now)
      const collected_by = { payment_intent_id: id, collected_at, refundId: paidTwiceRefundIds(premium_id, attempt) }
      const collected = { ...settled, result: { outcome: 'collected', ...collected_by } } as const
      if (total_pence === 0) return [collected]
      const failed_before = failedRefunds(premium)
      const refund_id = providerRefundId(premium_id, attempt, total_pence, failed_before)
      return [collected, { type: 'RecordProviderRefund', premium_id, refund_id, attempt, total_pence, failed_before }]
    }
    case 'processing':
      return []
    case 'open':
    case 'cancelled':
      return [{ ...settled, result: { outcome: 'failed', failure_code: failure_code ?? 'payment_failed', calendar } }]
  }
}

/** Asks what became of a collection that nobody has told of. */
const check = async (provider: Provider, premium: Premium, at: At): Promise<readonly PolicyCommand[]> => {
  const { premium_id, attempt, payment_intent_id } = premium
  const delayed = (failure_code: string): readonly PolicyCommand[] => [
    { type: 'DelayPremium', premium_id, attempt, failure_code, now: at.now },
  ]
  if (payment_intent_id === null) return delayed('no_payment')
  const read = await provider.readPayment(payment_intent_id)
  if (read.outcome !== 'done') return delayed(read.outcome === 'refused' ? read.code : 'unanswered')
  const settled = settledBy(premium, read.value, at)
  return settled.length > 0 ? settled : delayed('processing')
}
