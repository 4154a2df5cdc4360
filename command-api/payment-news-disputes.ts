import { application } from '#domain/applications/application.ts'
import { policy } from '#domain/policies/policy.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { ProviderNews } from '#infra/stripe/news.ts'
import { commandHandler, type Context } from './handle.ts'
import { doneOr, known, saidBy } from './provider-answers.ts'
import {
  collectedBy,
  idsIn,
  nothing,
  type NewsParts,
  type PremiumConcern,
  type Receipt,
} from './payment-news-concern.ts'

type DisputeNews = Extract<ProviderNews, { type: `charge.dispute.${string}` }>
type DisputeTold = { readonly dispute_id: string; readonly payment_intent: string; readonly isTakenBack: boolean }

/** News that a bank has taken a payment back for its customer, or that the firm has won it back. */
export const makeOnDispute = ({ writer, merchants, concerns, setUp }: NewsParts) => {
  const { handle } = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)
  const { concernOf, premiumConcernOf } = concerns

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
    const { metadata } = doneOr('unavailable', known(await merchant.provider.readPayment(payment_intent)))
    const receipt = { ...about, ...idsIn(metadata), payment_intent_id: payment_intent }
    // News may come late and in any order: the provider is asked how things stand now. A key may not be allowed to ask.
    const isTakenBack = saidBy(known(await merchant.provider.isTakenBack(id))) ?? !isWon
    const told = { dispute_id: id, payment_intent, isTakenBack }
    if (receipt.premium_id === null) return onCardDispute(organisation_id, receipt, metadata, told, context)
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt)) return receipt
    return settleDispute(receipt, concern, attempt, told, context)
  }

  const settleDispute = async (
    receipt: Receipt,
    { state, premium }: PremiumConcern,
    attempt: number,
    { payment_intent: payment_intent_id, isTakenBack }: DisputeTold,
    context: Context,
  ): Promise<Receipt> => {
    const { premium_id } = premium
    const collected = collectedBy(premium, attempt, payment_intent_id, context)
    const { refundId } = collected
    const result = isTakenBack
      ? ({ outcome: 'disputed', refundId } as const)
      : ({ outcome: 'reinstated', ...collected } as const)
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
    return settleDispute(receipt, { state: policy, premium }, 1, told, context)
  }

  return onDispute
}
