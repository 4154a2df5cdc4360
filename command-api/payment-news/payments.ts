import { application } from '#domain/applications/application.ts'
import type { NewsKind } from '#domain/payment-news/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { paymentIdOf, takenAtProvider } from '../applications/card-routes.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { idsIn, nothing, type ObjectOf, type Receipt } from './subjects.ts'
import type { EventParts } from './parts.ts'
import { doneOr, known } from '../payments/provider-answers.ts'

/** News of a payment: by card for a quote, or of a premium that was asked for. */
export const makeOnPayment = ({ writer, merchants, subjectOf, onPremium, followCard }: EventParts) => {
  const { handle } = commandHandler(writer, application)

  return async (
    organisation_id: OrganisationId,
    kind: NewsKind,
    intent: ObjectOf<'payment_intent.succeeded'>,
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
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, intent.metadata, context)
    const subject = await subjectOf(organisation_id, intent.metadata)
    if (!subject) return receipt
    const { state, quote_id } = subject
    const { record } = state
    if (kind === 'payment_failed') {
      const payment_id = paymentIdOf(organisation_id, intent.id)
      await handle(record.id, { type: 'DeclineCardPayment', payment_id, failure_code }, context)
      return { ...receipt, application_id: record.id }
    }
    const merchant = merchants(organisation_id, record.stripe_test_mode)
    // The provider is asked for the card, which it does not tell by itself, and for how things stand now.
    const paid = merchant && doneOr('unavailable', known(await merchant.provider.readPayment(intent.id)))
    const command = paid && takenAtProvider(organisation_id, quote_id, paid, context)
    const after = command ? (await handle(record.id, command, context)).state : state
    const card = after?.payments.cards.find((each) => each.payment_intent_id === intent.id)
    if (after && card) await followCard(after, card, context)
    return { ...receipt, application_id: record.id }
  }
}
