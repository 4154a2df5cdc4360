import { application } from '#domain/applications/application.ts'
import type { NewsKind } from '#domain/payment-news/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { paymentIdOf, takenAtProvider } from './applications/card-routes.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import { makeLookAtMandate } from './look-at-mandate.ts'
import type { Merchants } from './merchants.ts'
import { doneOr, known } from './provider-answers.ts'
import { collectedBy, idsIn, nothing, type Concerns, type ObjectOf, type Receipt } from './payment-news-concern.ts'

type Parts = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly concerns: Concerns
  readonly calendar: BankCalendar
}

/** News of a payment: by card for a quote, or of a premium that was asked for. */
export const makeOnPayment = ({ writer, merchants, concerns, calendar }: Parts) => {
  const { handle } = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)
  const { concernOf, premiumConcernOf } = concerns
  const lookAtMandate = makeLookAtMandate({ writer, merchants })

  const onPayment = async (
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
    const paid = merchant && doneOr('unavailable', known(await merchant.provider.readPayment(intent.id)))
    const command = paid && takenAtProvider(organisation_id, quote_id, paid, context)
    if (command) await handle(record.id, command, context)
    return { ...receipt, application_id: record.id }
  }

  const onPremium = async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    { id, metadata, last_payment_error }: ObjectOf<'payment_intent.succeeded'>,
    context: Context,
  ): Promise<Receipt> => {
    const concern = await premiumConcernOf(organisation_id, receipt)
    const attempt = Number(metadata['attempt'])
    if (!concern || !Number.isSafeInteger(attempt) || receipt.kind === 'payment_authorised') return receipt
    const { state, premium } = concern
    const failure_code = last_payment_error?.decline_code ?? last_payment_error?.code ?? 'payment_failed'
    const result =
      receipt.kind === 'payment_failed'
        ? ({ outcome: 'failed', failure_code, calendar } as const)
        : ({ outcome: 'collected', ...collectedBy(premium, attempt, id, context) } as const)
    const { premium_id } = premium
    const settle = { type: 'SettlePremium', premium_id, attempt, now: context.now, result } as const
    const { state: after } = await policies.handle(state.id, settle, context)
    // Its mandate may have ended, and the news of that be lost. News that comes again looks again, too.
    if (after && receipt.kind === 'payment_failed') await lookAtMandate(after, context)
    return { ...receipt, application_id: state.application_id }
  }

  return onPayment
}
