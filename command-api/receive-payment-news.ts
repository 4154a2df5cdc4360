import { paymentNews } from '#domain/payment-news/payment-news.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { ProviderNews } from '#infra/stripe/news.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import type { Merchants } from './merchants.ts'
import type { SetUp } from './policies/set-up.ts'
import { makeConcerns, type Receipt } from './payment-news-concern.ts'
import { makeOnDispute } from './payment-news-disputes.ts'
import { makeOnMandate, type MandateOwner } from './payment-news-mandates.ts'
import { makeOnPayment } from './payment-news-payments.ts'
import { makeOnRefunds } from './payment-news-refunds.ts'

type Deps = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly mandateOwner: MandateOwner
  readonly setUp: SetUp
}

/**
 * Acts upon what the payment provider tells, and then records it: what fails in between is told again. Late news leads to
 * the same state as the page would have.
 */
export const makePaymentNews = (deps: Deps) => {
  const parts = { ...deps, concerns: makeConcerns(deps.writer) }
  const receipts = commandHandler(deps.writer, paymentNews)
  const onPayment = makeOnPayment(parts)
  const onDispute = makeOnDispute(parts)
  const { onRefund, onFailedRefund } = makeOnRefunds(parts)
  const onMandate = makeOnMandate(parts)

  const act = async (organisation_id: OrganisationId, news: ProviderNews, context: Context): Promise<Receipt> => {
    switch (news.type) {
      case 'payment_intent.succeeded':
        return onPayment(organisation_id, 'payment_succeeded', news.data.object, context)
      case 'payment_intent.amount_capturable_updated':
        return onPayment(organisation_id, 'payment_authorised', news.data.object, context)
      case 'payment_intent.payment_failed':
        return onPayment(organisation_id, 'payment_failed', news.data.object, context)
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
