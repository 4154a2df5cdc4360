import type { Capability } from '../capability.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import { makeCheckMandate } from '../payments/check-mandate.ts'
import { makeReplaceBankDetails } from '../payments/policy-mandates.ts'
import { cancellationRoute } from './cancellation-route.ts'
import { makeNewestVersions, makeReviewBasis } from './review-basis.ts'
import { reviewRoutes } from './review-routes.ts'
import { policyAdminRoutes } from './routes.ts'
import { servicingRoutes } from './servicing-routes.ts'
import { policyTimers } from './timers.ts'
import { whenInboundEventAcceptedUpdatePolicy } from './when-inbound-event-accepted-update-policy.ts'
import { whenPolicyBoundIssueDocuments } from './when-policy-bound-issue-documents.ts'
import { whenQuoteBoughtSetUpPolicy } from './when-quote-bought-set-up-policy.ts'
import { whenTermsChangedIssueSchedule } from './when-terms-changed-issue-schedule.ts'

export const policies: Capability = {
  routes: (side) => [
    cancellationRoute(side),
    ...servicingRoutes(side),
    ...reviewRoutes(side.writer),
    ...policyAdminRoutes({
      ...side,
      checkMandate: makeCheckMandate(side),
      replaceBankDetails: makeReplaceBankDetails(side),
    }),
  ],
  work: (side) => {
    const { writer, directory, policyRules: rulesOf, setUpPolicy } = side
    const ofDocuments = { ...side, files: makeSealedFiles(side), organisations: directory.organisations, rulesOf }
    return {
      reactions: [
        whenQuoteBoughtSetUpPolicy(setUpPolicy),
        whenPolicyBoundIssueDocuments(ofDocuments),
        whenTermsChangedIssueSchedule(ofDocuments),
        whenInboundEventAcceptedUpdatePolicy(writer),
      ],
      timers: policyTimers({
        ...side,
        rulesOf,
        reviewBasis: makeReviewBasis({ ...side, newestVersions: makeNewestVersions(side) }),
      }),
    }
  },
}
