import { application } from '#domain/applications/application.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { idsIn, nothing, type ObjectOf, type Receipt } from './subjects.ts'
import type { EventParts } from './parts.ts'
import { doneOr, known } from '../payments/provider-answers.ts'

/** News that a payment was given back, whole or in part, or that giving it back has failed. */
export const makeOnRefunds = ({ writer, merchants, cardOf, onPremium, followCard }: EventParts) => {
  const { handle } = commandHandler(writer, application)

  const onRefund = async (
    organisation_id: OrganisationId,
    charge: ObjectOf<'charge.refunded'>,
    context: Context,
  ): Promise<Receipt> => {
    const { amount_refunded, metadata } = charge
    const about = { ...nothing, ...idsIn(metadata), kind: 'payment_refunded' as const, amount_pence: amount_refunded }
    const receipt = { ...about, payment_intent_id: charge.payment_intent ?? null }
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, metadata, context)
    const found = await cardOf(organisation_id, receipt.payment_intent_id, metadata)
    if (!found) return receipt
    const { state, card } = found
    await followCard(state, card, context)
    return { ...receipt, application_id: state.record.id }
  }

  /** A refund that has come back to the provider, days later, is owed again. */
  const onFailedRefund = async (
    organisation_id: OrganisationId,
    { livemode, data: { object: refund } }: Extract<ProviderEvent, { type: 'refund.failed' }>,
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
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, metadata, context)
    const found = await cardOf(organisation_id, receipt.payment_intent_id, metadata)
    if (!found) return receipt
    const { state, card } = found
    // What the application returns is its own, also of a card that a policy was sold for.
    const failed = { payment_id: card.payment_id, provider_refund_id: refund.id, failure_code }
    if (card.policy_id !== null) await handle(state.record.id, { type: 'RecordReturnFailure', ...failed }, context)
    await followCard(state, card, context)
    return { ...receipt, application_id: state.record.id, policy_id: card.policy_id }
  }

  return { onRefund, onFailedRefund }
}
