import type { Capability } from '../capability.ts'
import { paymentWebhook } from '../payment-news/webhook.ts'
import { makeMandateOwner } from '../payment-news/mandate-owner.ts'
import { setUpMandates } from './policy-mandates.ts'
import { makePaymentNews } from '../payment-news/receive.ts'
import { settleCardPayments } from './settle-card-payments.ts'
import { whenPaymentChangedSettlePremium } from './when-payment-changed-settle-premium.ts'

export const payments: Capability = {
  ownForms: (side) => [
    paymentWebhook({
      ...side,
      limits: side.inboundLimits('payment_news'),
      receive: makePaymentNews({ ...side, mandateOwner: makeMandateOwner(side), setUp: side.setUpPolicy }),
    }),
  ],
  work: (side) => ({
    reactions: [whenPaymentChangedSettlePremium(side)],
    timers: [...settleCardPayments(side), setUpMandates(side)],
  }),
}
