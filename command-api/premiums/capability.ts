import type { Capability } from '../capability.ts'
import { collectPremiums } from './collect-premiums.ts'
import { refundPremiums } from './refund-premiums.ts'
import { premiumRoutes } from './routes.ts'
import { whenPolicyCancelledSettlePremiums } from './when-policy-cancelled-settle-premiums.ts'

export const premiums: Capability = {
  routes: premiumRoutes,
  work: (side) => ({
    reactions: [whenPolicyCancelledSettlePremiums(side)],
    timers: [...collectPremiums(side), refundPremiums(side)],
  }),
}
