import type { Capability } from '../capability.ts'
import { marketPanel } from '#infra/market-panel/panel.ts'
import { abandonInactive } from './abandon-inactive.ts'
import { expireQuotes } from './expire-quotes.ts'
import { applicationRoutes } from './routes.ts'
import { searchMarket } from './search-market.ts'
import { whenPolicyCancelledReturnCard } from './when-policy-cancelled-return-card.ts'
import { whenPolicyMandateChangedProveMandate } from './when-policy-mandate-changed-prove-mandate.ts'
import { whenQuoteEndedClosePayments } from './when-quote-ended-close-payments.ts'

export const applications: Capability = {
  routes: (side) => {
    const { directory, claimNumber, setUpPolicy: setUp, waitUntilReadable, baseUrl } = side
    const policies = { claimNumber, setUp, waitUntilReadable, baseUrl }
    return applicationRoutes({ ...side, policies, organisations: directory.organisations })
  },
  work: (side) => ({
    reactions: [
      whenQuoteEndedClosePayments(side.writer),
      whenPolicyCancelledReturnCard(side.writer),
      whenPolicyMandateChangedProveMandate(side.writer),
    ],
    timers: [
      expireQuotes(side.writer),
      abandonInactive(side.writer),
      searchMarket({ ...side, panel: marketPanel(side.outside) }),
    ],
  }),
}
