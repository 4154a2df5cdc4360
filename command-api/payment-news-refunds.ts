import { application } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { policy } from '#domain/policies/policy.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { ProviderNews } from '#infra/stripe/news.ts'
import { commandHandler, type Context } from './handle.ts'
import { doneOr, known } from './provider-answers.ts'
import { makeProviderRefunds, refundedNow } from './provider-refunds.ts'
import { collectedBy, idsIn, nothing, type NewsParts, type ObjectOf, type Receipt } from './payment-news-concern.ts'

/** News that a payment was given back, whole or in part, or that giving it back has failed. */
export const makeOnRefunds = ({ writer, merchants, concerns, setUp }: NewsParts) => {
  const { handle } = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)
  const { recordTotal, recordFailure } = makeProviderRefunds(writer)
  const { concernOf, premiumConcernOf } = concerns

  const onPremiumRefund = async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    { amount_refunded, metadata }: ObjectOf<'charge.refunded'>,
    context: Context,
  ): Promise<Receipt> => {
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt) || receipt.payment_intent_id === null) return receipt
    const { state, premium } = concern
    // What is given back was collected, although the news of that may come later.
    const { payment_intent_id } = receipt
    const total_pence = await refundedNow(merchants(organisation_id, state.test), payment_intent_id, amount_refunded)
    const result = { outcome: 'collected', ...collectedBy(premium, attempt, payment_intent_id, context) } as const
    const settle = { type: 'SettlePremium', premium_id: premium.premium_id, attempt, now: context.now, result } as const
    await policies.handle(state.id, settle, context)
    await recordTotal(state.id, premium, { attempt, total_pence }, context)
    return { ...receipt, application_id: state.application_id }
  }

  const onRefund = async (
    organisation_id: OrganisationId,
    charge: ObjectOf<'charge.refunded'>,
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
    const amount_pence = isCharged
      ? await refundedNow(merchant, card.payment_intent_id, amount_refunded)
      : amount_refunded
    const paidFor = isCharged ? await firstPremiumOf(state, card, context) : undefined
    const isWhole = isCharged ? amount_pence >= card.amount_pence : charge.refunded
    if (isWhole && card.closed_as === null)
      await handle(state.record.id, { type: 'RecordCardReturn', payment_id, how: 'refunded', amount_pence }, context)
    // A part that somebody gave back by hand leaves the card payment paid; what was closed is closed.
    else if (paidFor)
      await recordTotal(paidFor.policy_id, paidFor.premium, { attempt: 1, total_pence: amount_pence }, context)
    return { ...receipt, application_id: state.record.id }
  }

  /** What a card payment has paid for; undefined while there is no policy, or once nothing of it is left to give back. */
  const firstPremiumOf = async (
    { record }: ApplicationState,
    { policy_id, quote_id, status, closed_as }: CardPayment,
    context: Context,
  ) => {
    if (policy_id === null || (status === 'returned' && closed_as === null)) return undefined
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
    const { metadata } = doneOr('unavailable', known(await merchant.provider.readPayment(payment_intent_id)))
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
      const now = after?.payments.cards.find((each) => each.payment_id === payment_id)
      const paidFor = now && (await firstPremiumOf(state, now, context))
      // What was given back a moment before is recorded first, and its failure after it.
      const isBehind =
        card.status === 'returned' && !paidFor?.premium.refunds.some(({ status }) => status === 'refunded')
      if (paidFor && !isBehind) {
        const ofPremium = { refund_id: null, refund_pence: refund.amount, attempt: 1 }
        // What was to be given back whole is owed by its application again; what was only a part by nobody.
        const command =
          now.status === 'returning'
            ? ({ type: 'RecordCardReturnFailure', ...failed } as const)
            : ({
                type: 'RecordRefundFailure',
                premium_id: paidFor.premium.premium_id,
                ...ofPremium,
                ...failed,
              } as const)
        await recordFailure(
          paidFor.policy_id,
          paidFor.premium,
          command,
          { payment_intent_id, attempt: 1 },
          merchant,
          context,
        )
      }
      return { ...receipt, application_id: state.record.id, policy_id: card.policy_id }
    }
    const concern = await premiumConcernOf(organisation_id, receipt)
    if (!concern) return receipt
    const { state, premium } = concern
    const refund_id = PremiumRefundId.safeParse(refund.metadata['refund_id']).data ?? null
    const attempt = Number(metadata['attempt'])
    const { premium_id } = premium
    const told = { premium_id, refund_id, refund_pence: refund.amount, attempt, ...failed }
    const command = { type: 'RecordRefundFailure', ...told } as const
    await recordFailure(state.id, premium, command, { payment_intent_id, attempt }, merchant, context)
    return { ...receipt, application_id: state.application_id }
  }

  return { onRefund, onFailedRefund }
}
