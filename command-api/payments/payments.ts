import { application } from '#domain/applications/application.ts'
import type { ApplicationRecord } from '#domain/applications/record.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { comingPence, payment, type Opened, type Payment, type Statement } from '#domain/payments/payment.ts'
import { debitPaymentKey, isBySoldCard, type CardPayment } from '#domain/payments/record.ts'
import { policy } from '#domain/policies/policy.ts'
import { premiumOf } from '#domain/premiums/premium-of.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumRefundId, type PremiumId } from '#domain/premiums/events.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { PolicyId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { inBusinessTime } from '#infra/clock.ts'
import { derivedId } from '#infra/ids.ts'
import type { Outcome, Provider, PaymentStatement } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { tooManyAtOnce } from '../writing/writer.ts'
import { providerOf, type Merchants } from './merchants.ts'
import { doneOr, isUnknown, known, saidBy } from './provider-answers.ts'

export type PaymentDeps = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly calendar: BankCalendar
}

/** A premium that nothing more follows for from its payments, each as it was then. */
export type Settled = { readonly state: PolicyState; readonly payments: readonly Payment[] }

const attempts = 20

/** The payment of an attempt, as it is opened. */
export const openedAs = (
  state: PolicyState,
  premium: Premium,
  attempt: number,
  amount_pence = premium.amount_pence,
): Opened => {
  const { id, application_id, card_payment_id, currency_code } = state
  const { premium_id, number } = premium
  const isCard = isBySoldCard(card_payment_id, number, attempt)
  return {
    payment_id: PaymentId.parse(isCard ? card_payment_id : derivedId(...debitPaymentKey(premium_id, attempt))),
    application_id,
    policy_id: PolicyId.parse(id),
    premium_id,
    method: isCard ? 'card' : 'direct_debit',
    attempt,
    amount_pence,
    currency_code,
  }
}

const statementIn = (
  { id, status, amount_pence, paid_at, failure_code, refunds, disputes }: PaymentStatement,
  now: string,
): Statement => ({
  payment_intent_id: id,
  status,
  captured_pence: amount_pence,
  captured_at: paid_at === null ? null : inBusinessTime(paid_at, now),
  failure_code,
  // The provider lists the newest first.
  refunds: refunds.toReversed().map((refund) => ({
    ...refund,
    refund_id: PremiumRefundId.safeParse(refund.refund_id).data ?? null,
  })),
  disputes: disputes.toReversed(),
})

/**
 * The provider's statement is read and recorded with the payment; the consequences are decided with the policy. Each is asked
 * for again while others write at the same time, so that nothing is decided by what was true before.
 */
export const makePayments = ({ writer, merchants, calendar }: PaymentDeps) => {
  const payments = commandHandler(writer, payment)
  const policies = commandHandler(writer, policy)
  const applications = commandHandler(writer, application)

  /** Records what the provider says of a payment, and opens it where it is not known yet. */
  const readAndRecord = async (
    provider: Provider,
    opened: Opened,
    payment_intent_id: string,
    context: Context,
  ): Promise<Outcome<Payment>> => {
    for (let time = 0; time < attempts; time++) {
      const changes = (await payments.load(opened.payment_id))?.changes ?? 0
      const read = await provider.readStatement(payment_intent_id)
      if (read.outcome !== 'done') return read
      const statement = statementIn(read.value, context.now)
      const { amount_pence } = read.value
      const command = { type: 'RecordStatement', statement, opened: { ...opened, amount_pence }, changes } as const
      const { state, events } = await payments.handle(opened.payment_id, command, context)
      if (state?.changes === changes + events.length) return { outcome: 'done', value: state }
    }
    throw tooManyAtOnce()
  }

  /** The provider's id of the payment of an attempt, where a version before this one has recorded it. */
  const intentOf = async (state: PolicyState, premium: Premium, attempt: number): Promise<string | undefined> => {
    const { card_payment_id, application_id, payment_intents } = state
    const { premium_id, number } = premium
    if (!isBySoldCard(card_payment_id, number, attempt)) return payment_intents[premium_id]?.[attempt]
    const cards = (await applications.load(application_id))?.payments.cards ?? []
    return cards.find(({ payment_id }) => payment_id === card_payment_id)?.payment_intent_id
  }

  /** Every payment of a premium, in the order of the attempts. One that is not recorded as its payment yet is looked at first. */
  const paymentsOf = async (state: PolicyState, premium: Premium, context: Context): Promise<readonly Payment[]> => {
    const all: Payment[] = []
    for (let attempt = 1; attempt <= premium.attempts; attempt++) {
      const opened = openedAs(state, premium, attempt)
      const found = await payments.load(opened.payment_id)
      // Nobody else may hear of a card that is charged after the sale.
      const isWhole = found && (found.method !== 'card' || comingPence(found) === 0)
      const isOwn = isWhole && found.premium_id === premium.premium_id
      const payment = isOwn ? found : ((await adopt(state, premium, opened, context)) ?? found)
      if (payment) all.push(payment)
    }
    return all
  }

  const adopt = async (
    state: PolicyState,
    premium: Premium,
    opened: Opened,
    context: Context,
  ): Promise<Payment | undefined> => {
    const intent = await intentOf(state, premium, opened.attempt ?? 1)
    const provider = providerOf(merchants, state)
    if (intent === undefined || !provider) return undefined
    const outcome = await readAndRecord(provider, opened, intent, context)
    // Another account knows nothing of it: of what has brought nothing, nothing need be known.
    const isPaid = premium.status === 'collected' && premium.attempt === opened.attempt
    const isHeld = isPaid || premium.also_paid_by.some(({ attempt }) => attempt === opened.attempt)
    return isUnknown(outcome) && !isHeld ? undefined : doneOr('unavailable', known(outcome))
  }

  /** Looks at a payment of a premium, and settles the premium. */
  const follow = async (
    state: PolicyState,
    premium: Premium,
    { attempt, payment_intent_id }: { readonly attempt: number; readonly payment_intent_id: string },
    context: Context,
  ): Promise<Outcome<PolicyState | undefined>> => {
    const provider = providerOf(merchants, state)
    if (!provider) return { outcome: 'done', value: state }
    const outcome = await readAndRecord(provider, openedAs(state, premium, attempt), payment_intent_id, context)
    if (outcome.outcome !== 'done') return outcome
    return { outcome: 'done', value: (await settle(state.id, premium.premium_id, context))?.state }
  }

  /** Looks at a card payment that no policy was sold for. */
  const followUnsold = async (
    { id: application_id, organisation_id, stripe_test_mode }: ApplicationRecord,
    { payment_id, payment_intent_id, amount_pence, currency_code }: CardPayment,
    context: Context,
  ): Promise<void> => {
    const provider = merchants(organisation_id, stripe_test_mode)?.provider
    if (!provider) return
    const ofNoPremium = { policy_id: null, premium_id: null, attempt: null }
    const opened = { payment_id, application_id, ...ofNoPremium, method: 'card', amount_pence, currency_code } as const
    // Where its key may not ask, nothing is known of it: what the application knows stays.
    saidBy(known(await readAndRecord(provider, opened, payment_intent_id, context)))
  }

  /**
   * Decides what follows for a premium from what stands at the provider, until nothing more does. Without an account there
   * nobody can say that: what cannot be looked at is not money that has gone. Whoever acts on it goes by the payments that it was
   * settled by: later ones do not fit the record.
   */
  const settle = async (policy_id: string, premium_id: PremiumId, context: Context): Promise<Settled | undefined> => {
    for (let time = 0; time < attempts; time++) {
      const before = await policies.load(policy_id)
      if (!before) return undefined
      if (!merchants(before.organisation_id, before.test)) return undefined
      const found = await paymentsOf(before, premiumOf(before, premium_id), context)
      const refundIdOf = (name: string) => PremiumRefundId.parse(derivedId('premium_refund', premium_id, name))
      const { changes } = before
      const known = { premium_id, payments: found, changes, now: context.now, calendar, refundIdOf }
      const { state, events } = await policies.handle(policy_id, { type: 'SettlePremium', ...known }, context)
      if (state?.changes === changes && events.length === 0) return { state, payments: found }
    }
    throw tooManyAtOnce()
  }

  return { follow, followUnsold, settle, handle: payments.handle, load: payments.load }
}

export type Payments = ReturnType<typeof makePayments>
