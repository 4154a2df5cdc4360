import type { Capability } from '../capability.ts'
import { makeMandateOwner } from './mandate-owner.ts'
import { makePaymentNews } from './receive.ts'
import { paymentWebhook } from './webhook.ts'

export const paymentNews: Capability = {
  ownForms: (side) => [
    paymentWebhook({
      ...side,
      limits: side.inboundLimits('payment_news'),
      receive: makePaymentNews({ ...side, mandateOwner: makeMandateOwner(side), setUp: side.setUpPolicy }),
    }),
  ],
}
