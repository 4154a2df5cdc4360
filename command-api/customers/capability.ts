import type { Capability } from '../capability.ts'
import { consentRoutes } from './consent-routes.ts'
import { peopleSearchRoutes } from './search-route.ts'
import { verificationRoutes } from './verification-routes.ts'
import { whenCustomerSavedRecordCustomer } from './when-customer-saved-record-customer.ts'
import { whenMessageNewsReceivedWithdrawConsent } from './when-message-news-received-withdraw-consent.ts'
import { whenQuoteIssuedRecordSoftOptIn } from './when-quote-issued-record-soft-opt-in.ts'

export const customers: Capability = {
  routes: (side) => [...peopleSearchRoutes(side), ...consentRoutes(side), ...verificationRoutes(side)],
  work: (side) => ({
    reactions: [
      whenCustomerSavedRecordCustomer(side.writer, side),
      whenQuoteIssuedRecordSoftOptIn(side),
      whenMessageNewsReceivedWithdrawConsent(side.people),
    ],
  }),
}
