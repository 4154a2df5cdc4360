import type { NewsKind } from '#domain/payment-news/events.ts'
import { paymentNews } from '#domain/payment-news/payment-news.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { SetUp } from '../policies/set-up.ts'
import { nothing, type Receipt } from './subjects.ts'
import { makeOnDispute } from './disputes.ts'
import { makeOnMandate, type MandateOwner } from './mandates.ts'
import { makeEventParts } from './parts.ts'
import { makeOnPayment } from './payments.ts'
import { makeOnRefunds } from './refunds.ts'
import type { PaymentDeps } from '../payments/payments.ts'
import { UnknownAtProvider } from '../payments/provider-answers.ts'

type Deps = PaymentDeps & {
  readonly mandateOwner: MandateOwner
  readonly setUp: SetUp
  readonly log: { readonly warn: (facts: object, message: string) => void }
}

const kinds: Readonly<Record<ProviderEvent['type'], NewsKind>> = {
  'payment_intent.succeeded': 'payment_succeeded',
  'payment_intent.amount_capturable_updated': 'payment_authorised',
  'payment_intent.payment_failed': 'payment_failed',
  'charge.refunded': 'payment_refunded',
  'refund.failed': 'refund_failed',
  'refund.updated': 'refund_failed',
  'charge.refund.updated': 'refund_failed',
  'charge.dispute.created': 'payment_disputed',
  'charge.dispute.funds_withdrawn': 'payment_disputed',
  'charge.dispute.funds_reinstated': 'payment_reinstated',
  'charge.dispute.closed': 'payment_disputed',
  'mandate.updated': 'mandate_updated',
}

/**
 * Acts upon what the payment provider tells, and then records it: what fails in between is told again. Late news leads to
 * the same state as the page would have. What it does not know any more itself would fail for ever, and is left alone.
 */
export const makePaymentNews = (deps: Deps) => {
  const parts = makeEventParts(deps)
  const receipts = commandHandler(deps.writer, paymentNews)
  const onPayment = makeOnPayment(parts)
  const onDispute = makeOnDispute(parts)
  const { onRefund, onFailedRefund } = makeOnRefunds(parts)
  const onMandate = makeOnMandate(deps)

  const act = async (organisation_id: OrganisationId, event: ProviderEvent, context: Context): Promise<Receipt> => {
    switch (event.type) {
      case 'payment_intent.succeeded':
      case 'payment_intent.amount_capturable_updated':
      case 'payment_intent.payment_failed':
        return onPayment(organisation_id, kinds[event.type], event.data.object, context)
      case 'charge.refunded':
        return onRefund(organisation_id, event.data.object, context)
      case 'refund.failed':
      case 'refund.updated':
      case 'charge.refund.updated':
        return onFailedRefund(organisation_id, { ...event, type: 'refund.failed' }, context)
      case 'charge.dispute.created':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.funds_reinstated':
      case 'charge.dispute.closed':
        return onDispute(organisation_id, event, context)
      case 'mandate.updated':
        return onMandate(organisation_id, event, context)
    }
  }

  return async (organisation_id: OrganisationId, event: ProviderEvent, context: Context): Promise<void> => {
    const id = derivedId('payment_news', organisation_id, event.id)
    if (await receipts.load(id)) return
    const receipt = await act(organisation_id, event, context).catch((error: unknown): Receipt => {
      if (!(error instanceof UnknownAtProvider)) throw error
      const facts = { organisation_id, provider_event_id: event.id, event: event.type, reason: error.message }
      deps.log.warn(facts, 'the payment provider does not know what its news is about: left alone')
      return { ...nothing, kind: kinds[event.type] }
    })
    const command = { type: 'ReceivePaymentNews', organisation_id, provider_event_id: event.id, ...receipt } as const
    await receipts.handle(id, command, context)
  }
}
