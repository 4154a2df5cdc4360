import type { Capability } from '../capability.ts'
import { setUpMandates } from './policy-mandates.ts'
import { settleCardPayments } from './settle-card-payments.ts'
import { whenPaymentChangedSettlePremium } from './when-payment-changed-settle-premium.ts'

export const payments: Capability = {
  work: (side) => ({
    reactions: [whenPaymentChangedSettlePremium(side)],
    timers: [...settleCardPayments(side), setUpMandates(side)],
  }),
}
