import type { Capability } from '../capability.ts'
import { setUpMandates } from './policy-mandates.ts'
import { settleCardPayments } from './settle-card-payments.ts'
import { whenPaymentChangedSettlePremium } from './when-payment-changed-settle-premium.ts'
import { whenUnsoldPaymentChangedSettleCard } from './when-unsold-payment-changed-settle-card.ts'

export const payments: Capability = {
  work: (side) => ({
    reactions: [
      whenPaymentChangedSettlePremium(side),
      whenUnsoldPaymentChangedSettleCard({ ...side, setUp: side.setUpPolicy }),
    ],
    timers: [...settleCardPayments(side), setUpMandates(side)],
  }),
}
