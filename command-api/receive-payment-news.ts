import { application } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { paymentNews, type ReceivePaymentNews } from '#domain/payment-news/payment-news.ts'
import type { NewsKind } from '#domain/payment-news/events.ts'
import { MandateId } from '#domain/payments/events.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { needsMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { ApplicationId, QuoteId, type OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { derivedId } from '#infra/ids.ts'
import type { ProviderNews } from '#infra/stripe/news.ts'
import { z } from 'zod'
import { paymentIdOf, takenAtProvider } from './applications/card-routes.ts'
import { doneOr, saidBy } from './provider-answers.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import { makeLookAtMandate } from './look-at-mandate.ts'
import type { Merchants } from './merchants.ts'
import { paidTwiceRefundId } from './policies/ids.ts'
import { makeProviderRefunds, refundedNow } from './provider-refunds.ts'
import type { SetUp } from './policies/set-up.ts'

/** The application that a mandate belongs to, by the provider's name for it. */
export type MandateOwner = (
  organisation_id: OrganisationId,
  provider_mandate_id: string,
) => Promise<{ readonly id: string; readonly application_id: ApplicationId } | undefined>

type Deps = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly mandateOwner: MandateOwner
  readonly setUp: SetUp
}

type Receipt = Omit<ReceivePaymentNews, 'type' | 'organisation_id' | 'provider_event_id'>
type DisputeNews = Extract<ProviderNews, { type: `charge.dispute.${string}` }>
type DisputeTold = { readonly dispute_id: string; readonly payment_intent: string; readonly isTakenBack: boolean }
type Of<Type> = Extract<ProviderNews, { type: Type }>['data']['object']

/**
 * Acts upon what the payment provider tells, and then records it: what fails in between is told again. Late news leads to
 * the same state as the page would have.
 */
export const makePaymentNews = ({ writer, merchants, mandateOwner, setUp }: Deps) => {
  const receipts = commandHandler(writer, paymentNews)
  const { handle, load } = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)
  const { recordTotal, recordFailure } = makeProviderRefunds(writer)

  const lookAtMandate = makeLookAtMandate({ writer, merchants })

  type Concern = { readonly state: ApplicationState; readonly quote_id: QuoteId }

  /** The application and the quote that something at the provider was made for; undefined when it is not ours. */
  const concernOf = async (
    organisation_id: OrganisationId,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Concern | undefined> => {
    const id = ApplicationId.safeParse(metadata['application_id']).data
    const quote_id = QuoteId.safeParse(metadata['quote_id']).data
    if (id === undefined || quote_id === undefined || metadata['organisation_id'] !== organisation_id) return undefined
    const state = await load(id)
    const isTheirs = state?.record.organisation_id === organisation_id
    return isTheirs && state.quotes.some(({ quote }) => quote.id === quote_id) ? { state, quote_id } : undefined
  }

  const onIntent = async (
    organisation_id: OrganisationId,
    kind: NewsKind,
    intent: Of<'payment_intent.succeeded'>,
    context: Context,
  ): Promise<Receipt> => {
    const failure_code = intent.last_payment_error?.decline_code ?? intent.last_payment_error?.code ?? null
    const receipt = {
      ...nothing,
      ...idsIn(intent.metadata),
      kind,
      payment_intent_id: intent.id,
      amount_pence: intent.amount,
      failure_code: kind === 'payment_failed' ? failure_code : null,
    }
    // The first premium by card is the application's; what is collected for a policy is the policy's.
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, intent, context)
    const concern = await concernOf(organisation_id, intent.metadata)
    if (!concern) return receipt
    const { state, quote_id } = concern
    const { record } = state
    if (kind === 'payment_failed') {
      const payment_id = paymentIdOf(organisation_id, intent.id)
      await handle(record.id, { type: 'DeclineCardPayment', payment_id, failure_code }, context)
      return { ...receipt, application_id: record.id }
    }
    const merchant = merchants(organisation_id, record.stripe_test_mode)
    // The provider is asked for the card, which it does not tell by itself, and for how things stand now.
    const paid = merchant && doneOr('unavailable', await merchant.provider.readPayment(intent.id))
    const command = paid && takenAtProvider(organisation_id, quote_id, paid, context)
    if (command) await handle(record.id, command, context)
    return { ...receipt, application_id: record.id }
  }

  /** The policy and the premium that something at the provider was collected for; undefined when they are not ours. */
  const premiumConcernOf = async (organisation_id: OrganisationId, { policy_id, premium_id }: Receipt) => {
    const state = policy_id === null ? undefined : await policies.load(policy_id)
    const premium = state?.premiums.find((each) => each.premium_id === premium_id)
    return state?.organisation_id === organisation_id && premium ? { state, premium } : undefined
  }

  const onPremium = async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    { id, metadata, last_payment_error }: Of<'payment_intent.succeeded'>,
    context: Context,
  ): Promise<Receipt> => {
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt) || receipt.kind === 'payment_authorised') return receipt
    const { state, premium } = concern
    const failure_code = last_payment_error?.decline_code ?? last_payment_error?.code ?? 'payment_failed'
    const result =
      receipt.kind === 'payment_failed'
        ? ({ outcome: 'failed', failure_code } as const)
        : ({ outcome: 'collected', ...collectedBy(premium, attempt, id, context) } as const)
    const { premium_id } = premium
    const settle = { type: 'SettlePremium', premium_id, attempt, now: context.now, result } as const
    const { state: after } = await policies.handle(state.id, settle, context)
    // Its mandate may have ended, and the news of that be lost. News that comes again looks again, too.
    if (after && receipt.kind === 'payment_failed') await lookAtMandate(after, context)
    return { ...receipt, application_id: state.application_id }
  }

  const onPremiumRefund = async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    { amount_refunded, metadata }: Of<'charge.refunded'>,
    context: Context,
  ): Promise<Receipt> => {
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt) || receipt.payment_intent_id === null) return receipt
    const { state, premium } = concern
    // What is given back was collected, although the news of that may come later.
    const { payment_intent_id } = receipt
    const result = { outcome: 'collected', ...collectedBy(premium, attempt, payment_intent_id, context) } as const
    const settle = { type: 'SettlePremium', premium_id: premium.premium_id, attempt, now: context.now, result } as const
    await policies.handle(state.id, settle, context)
    const total_pence = await refundedNow(merchants(organisation_id, state.test), payment_intent_id, amount_refunded)
    await recordTotal(state.id, premium, { attempt, total_pence }, context)
    return { ...receipt, application_id: state.application_id }
  }

  const onDispute = async (
    organisation_id: OrganisationId,
    { type, livemode, data }: DisputeNews,
    context: Context,
  ): Promise<Receipt> => {
    const { id, amount, payment_intent } = data.object
    const isWon = type === 'charge.dispute.funds_reinstated'
    const about = { ...nothing, kind: isWon ? 'payment_reinstated' : 'payment_disputed', amount_pence: amount } as const
    const merchant = merchants(organisation_id, !livemode)
    if (!payment_intent || !merchant) return about
    // A dispute does not say what the payment was for.
    const { metadata } = doneOr('unavailable', await merchant.provider.readPayment(payment_intent))
    const receipt = { ...about, ...idsIn(metadata), payment_intent_id: payment_intent }
    // News may come late and in any order: the provider is asked how things stand now. A key may not be allowed to ask.
    const isTakenBack = saidBy(await merchant.provider.isTakenBack(id)) ?? !isWon
    const told = { dispute_id: id, payment_intent, isTakenBack }
    if (receipt.premium_id === null) return onCardDispute(organisation_id, receipt, metadata, told, context)
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt)) return receipt
    return settleDispute(receipt, concern, attempt, told, context)
  }

  const settleDispute = async (
    receipt: Receipt,
    { state, premium }: NonNullable<Awaited<ReturnType<typeof premiumConcernOf>>>,
    attempt: number,
    { payment_intent: payment_intent_id, isTakenBack }: DisputeTold,
    context: Context,
  ): Promise<Receipt> => {
    const { premium_id } = premium
    const reinstated = { outcome: 'reinstated', ...collectedBy(premium, attempt, payment_intent_id, context) } as const
    const result = isTakenBack ? ({ outcome: 'disputed' } as const) : reinstated
    await policies.handle(state.id, { type: 'SettlePremium', premium_id, attempt, now: context.now, result }, context)
    return { ...receipt, application_id: state.application_id, policy_id: state.id, premium_id }
  }

  /** The first premium by card is owed to its policy again; before there is a policy, it pays for none. */
  const onCardDispute = async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    metadata: Readonly<Record<string, string>>,
    told: DisputeTold,
    context: Context,
  ): Promise<Receipt> => {
    const concern = await concernOf(organisation_id, metadata)
    const card = concern?.state.payments.cards.find((each) => each.payment_intent_id === receipt.payment_intent_id)
    if (!concern || !card) return receipt
    const { id: application_id } = concern.state.record
    const { payment_id, policy_id, amount_pence } = card
    const { isTakenBack } = told
    if (policy_id === null && !isTakenBack) {
      // It was taken to have gone back to the cardholder, and pays for nothing: now it has to.
      const failed = { provider_refund_id: told.dispute_id, failure_code: 'dispute_won' }
      await handle(application_id, { type: 'RecordReturnFailure', payment_id, ...failed }, context)
      await handle(application_id, { type: 'RequestSettlement', payment_id }, context)
      return { ...receipt, application_id }
    }
    if (policy_id === null) {
      const how = { how: 'refunded', unless_sold: true } as const
      const { state } = await handle(
        application_id,
        { type: 'RecordCardReturn', payment_id, amount_pence, ...how },
        context,
      )
      const now = state?.payments.cards.find((each) => each.payment_id === payment_id)
      // It was sold a moment before: the dispute is about its policy.
      if (now && now.policy_id !== null) return onCardDispute(organisation_id, receipt, metadata, told, context)
      return { ...receipt, application_id }
    }
    // What the bank has taken back is not to be given back as well.
    const closing = { type: 'CloseCardReturn', payment_id, closing: { how: 'taken_back' } } as const
    if (isTakenBack) await handle(application_id, closing, context)
    // The sale may be so new that its policy is not set up yet.
    const state = (await policies.load(policy_id)) ?? (await setUp(application_id, card.quote_id, context))
    const policy = state && (await policies.load(policy_id))
    const premium = policy?.premiums.find(({ number }) => number === 1)
    if (!policy || !premium) return receipt
    const settled = await settleDispute(receipt, { state: policy, premium }, 1, told, context)
    const after = isTakenBack
      ? undefined
      : (await policies.load(policy_id))?.premiums.find(({ number }) => number === 1)
    // Of a policy that was cancelled: it was owed no more while the bank had it.
    if (after?.method === 'card' && after.refunds.some(({ status }) => status === 'owed')) {
      const owe = { type: 'OweCardReturn', payment_id, reason: 'policy_cancelled', is_won: true } as const
      await handle(application_id, owe, context)
    }
    return settled
  }

  const onRefund = async (
    organisation_id: OrganisationId,
    charge: Of<'charge.refunded'>,
    context: Context,
  ): Promise<Receipt> => {
    const payment_intent_id = charge.payment_intent ?? null
    const receipt = {
      ...nothing,
      ...idsIn(charge.metadata),
      kind: 'payment_refunded' as const,
      payment_intent_id,
      amount_pence: charge.amount_refunded,
    }
    if (receipt.premium_id !== null) return onPremiumRefund(organisation_id, receipt, charge, context)
    const state = (await concernOf(organisation_id, charge.metadata))?.state
    const card = state?.payments.cards.find((each) => each.payment_intent_id === payment_intent_id)
    if (!state || !card) return receipt
    const { payment_id } = card
    const merchant = merchants(organisation_id, state.record.stripe_test_mode)
    const { amount_refunded } = charge
    // An authorisation that is let go counts as refunded, too, although nothing was charged.
    const isCharged = card.charged || card.failed_refunds.length > 0
    const paidFor = isCharged ? await firstPremiumOf(state, card, context) : undefined
    const amount_pence = isCharged
      ? await refundedNow(merchant, card.payment_intent_id, amount_refunded)
      : amount_refunded
    if (isCharged ? amount_pence >= card.amount_pence : charge.refunded)
      await handle(state.record.id, { type: 'RecordCardReturn', payment_id, how: 'refunded', amount_pence }, context)
    // A part that somebody gave back by hand leaves the card payment paid.
    else if (paidFor)
      await recordTotal(paidFor.policy_id, paidFor.premium, { attempt: 1, total_pence: amount_pence }, context)
    return { ...receipt, application_id: state.record.id }
  }

  /** What a card payment has paid for; undefined while there is no policy, or once nothing of it is left to give back. */
  const firstPremiumOf = async (
    { record }: ApplicationState,
    { policy_id, quote_id, status }: CardPayment,
    context: Context,
  ) => {
    if (policy_id === null || status === 'returned') return undefined
    // The sale may be so new that its policy is not set up yet.
    if (!((await policies.load(policy_id)) ?? (await setUp(record.id, quote_id, context)))) return undefined
    // What is given back was charged, although that may be recorded later.
    const { state } = await policies.handle(
      policy_id,
      { type: 'RecordCardCharged', collected_at: context.now },
      context,
    )
    const premium = state?.premiums.find(({ number }) => number === 1)
    return premium && { policy_id, premium }
  }

  /** What was given back has come back to the provider, days later: it is owed again. */
  const onFailedRefund = async (
    organisation_id: OrganisationId,
    { livemode, data: { object: refund } }: Extract<ProviderNews, { type: 'refund.failed' }>,
    context: Context,
  ): Promise<Receipt> => {
    const failure_code = refund.failure_reason ?? 'refund_failed'
    const payment_intent_id = refund.payment_intent ?? null
    const about = { ...nothing, kind: 'refund_failed' as const, amount_pence: refund.amount, failure_code }
    const merchant = merchants(organisation_id, !livemode)
    if (payment_intent_id === null || !merchant) return about
    // One that was made by hand does not say what the payment was for.
    const { metadata } = doneOr('unavailable', await merchant.provider.readPayment(payment_intent_id))
    const receipt = { ...about, ...idsIn(metadata), payment_intent_id }
    const failed = { provider_refund_id: refund.id, failure_code }
    if (receipt.premium_id === null) {
      const state = (await concernOf(organisation_id, metadata))?.state
      const card = state?.payments.cards.find((each) => each.payment_intent_id === payment_intent_id)
      if (!state || !card) return receipt
      const { payment_id } = card
      const { state: after } = await handle(
        state.record.id,
        { type: 'RecordReturnFailure', payment_id, ...failed },
        context,
      )
      const isPaid = after?.payments.cards.some((each) => each.payment_id === payment_id && each.status === 'succeeded')
      const paidFor = isPaid ? await firstPremiumOf(state, card, context) : undefined
      if (paidFor) {
        const told = { refund_id: null, refund_pence: refund.amount, attempt: 1, payment_intent_id, ...failed }
        await recordFailure(paidFor.policy_id, paidFor.premium, told, merchant, context)
      }
      return { ...receipt, application_id: state.record.id, policy_id: card.policy_id }
    }
    const concern = await premiumConcernOf(organisation_id, receipt)
    if (!concern) return receipt
    const { state, premium } = concern
    const refund_id = PremiumRefundId.safeParse(refund.metadata['refund_id']).data ?? null
    const attempt = Number(metadata['attempt'])
    const told = { refund_id, refund_pence: refund.amount, attempt, payment_intent_id, ...failed }
    await recordFailure(state.id, premium, told, merchant, context)
    return { ...receipt, application_id: state.application_id }
  }

  const onMandate = async (
    organisation_id: OrganisationId,
    { created, data }: Extract<ProviderNews, { type: 'mandate.updated' }>,
    context: Context,
  ): Promise<Receipt> => {
    const { id, status, payment_method_details } = data.object
    const owner = await mandateOwner(organisation_id, id)
    const receipt = { ...nothing, kind: 'mandate_updated' as const }
    if (!owner && isRecent(created)) throw tooEarly()
    if (!owner) return receipt
    const network_status = payment_method_details.bacs_debit?.network_status ?? 'pending'
    const answer = { network_status, active: status !== 'inactive' }
    const command = { type: 'RecordBankAnswer', provider_mandate_id: id, answer } as const
    const { state } = await handle(owner.application_id, command, context)
    const about = { application_id: owner.application_id, mandate_id: MandateId.parse(owner.id) }
    const mandate = state?.payments.mandate
    if (!state?.sale || mandate?.mandate_id !== about.mandate_id) return { ...receipt, ...about }
    // The sale may be so new that its policy is not set up yet.
    const { policy_id } = state.sale
    if (!(await policies.load(policy_id))) await setUp(owner.application_id, state.sale.quote_id, context)
    const { mandate_id, status: mandate_status } = mandate
    const change = { type: 'ChangeMandate', mandate_id, status: mandate_status } as const
    const { state: changed } = await policies.handle(policy_id, change, context)
    if (changed && needsMandate(changed)) throw tooEarly()
    return { ...receipt, ...about, policy_id }
  }

  const act = async (organisation_id: OrganisationId, news: ProviderNews, context: Context): Promise<Receipt> => {
    switch (news.type) {
      case 'payment_intent.succeeded':
        return onIntent(organisation_id, 'payment_succeeded', news.data.object, context)
      case 'payment_intent.amount_capturable_updated':
        return onIntent(organisation_id, 'payment_authorised', news.data.object, context)
      case 'payment_intent.payment_failed':
        return onIntent(organisation_id, 'payment_failed', news.data.object, context)
      case 'charge.refunded':
        return onRefund(organisation_id, news.data.object, context)
      case 'refund.failed':
      case 'refund.updated':
      case 'charge.refund.updated':
        return onFailedRefund(organisation_id, { ...news, type: 'refund.failed' }, context)
      case 'charge.dispute.created':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.funds_reinstated':
        return onDispute(organisation_id, news, context)
      case 'mandate.updated':
        return onMandate(organisation_id, news, context)
    }
  }

  return async (organisation_id: OrganisationId, news: ProviderNews, context: Context): Promise<void> => {
    const id = derivedId('payment_news', organisation_id, news.id)
    if (await receipts.load(id)) return
    const receipt = await act(organisation_id, news, context)
    const command = { type: 'ReceivePaymentNews', organisation_id, provider_event_id: news.id, ...receipt } as const
    await receipts.handle(id, command, context)
  }
}

/** A mandate that nobody here knows may be another system's; one of the last minutes may be one that we are just making. */
const isRecent = (created: number | undefined): boolean =>
  created !== undefined && Date.now() < created * 1000 + tenMinutesMs
const tenMinutesMs = 600_000

/** The banks have answered before what they answer to is on record. */
const tooEarly = () => new Problem('unavailable', 'This mandate is still being recorded. Send the news again later.')

const collectedBy = (
  { premium_id }: Premium,
  attempt: number,
  payment_intent_id: string,
  { now: collected_at }: Context,
) => ({ payment_intent_id, collected_at, refund_id: paidTwiceRefundId(premium_id, attempt) })

const nothing: Omit<Receipt, 'kind'> = {
  application_id: null,
  policy_id: null,
  premium_id: null,
  mandate_id: null,
  payment_intent_id: null,
  amount_pence: null,
  failure_code: null,
}

const uuidOf = (text: string | undefined): string | null => z.uuid().safeParse(text).data ?? null

const idsIn = (metadata: Readonly<Record<string, string>>) => ({
  policy_id: uuidOf(metadata['policy_id']),
  premium_id: uuidOf(metadata['premium_id']),
})
