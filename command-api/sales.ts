import { timeZoneOf, type Directory } from '#domain/access/record.ts'
import type { BankAccountCheck } from '#domain/bank-account.ts'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { Route } from '#infra/http/route.ts'
import { marketPanel } from '#infra/market-panel/panel.ts'
import type { Parts } from '#infra/parts.ts'
import { abandonInactive } from './applications/abandon-inactive.ts'
import { expireQuotes } from './applications/expire-quotes.ts'
import { applicationRoutes } from './applications/routes.ts'
import { searchMarket } from './applications/search-market.ts'
import { settleCardPayments } from './payments/settle-card-payments.ts'
import { whenPolicyCancelledReturnCard } from './applications/when-policy-cancelled-return-card.ts'
import { whenPolicyMandateChangedProveMandate } from './applications/when-policy-mandate-changed-prove-mandate.ts'
import { whenQuoteEndedClosePayments } from './applications/when-quote-ended-close-payments.ts'
import { catalogueAdminRoutes, type HasSold } from './catalogue/routes.ts'
import { makePeople } from './customers/people.ts'
import type { Catalogue } from './catalogue/live-catalogue.ts'
import type { LivePolicyRules } from './policy-rules/live-policy-rules.ts'
import type { Merchants } from './payments/merchants.ts'
import { cancellationRoute } from './policies/cancellation-route.ts'
import { collectPremiums } from './premiums/collect-premiums.ts'
import { makeClaimNumber } from './policies/number.ts'
import { premiumRoutes } from './premiums/routes.ts'
import { makeWaitUntilReadable } from './policies/readable.ts'
import { refundPremiums } from './premiums/refund-premiums.ts'
import { reviewRoutes } from './policies/review-routes.ts'
import { policyAdminRoutes } from './policies/routes.ts'
import { servicingRoutes } from './policies/servicing-routes.ts'
import { makeSetUp } from './policies/set-up.ts'
import { policyTimers } from './policies/timers.ts'
import { whenInboundEventAcceptedUpdatePolicy } from './policies/when-inbound-event-accepted-update-policy.ts'
import { whenPolicyBoundIssueDocuments } from './policies/when-policy-bound-issue-documents.ts'
import { whenQuoteBoughtSetUpPolicy } from './policies/when-quote-bought-set-up-policy.ts'
import { whenTermsChangedIssueSchedule } from './policies/when-terms-changed-issue-schedule.ts'
import { makeNewestVersions, makeReviewBasis } from './policies/review-basis.ts'
import { makeLookAtMandate } from './payments/look-at-mandate.ts'
import { whenPolicyCancelledSettlePremiums } from './premiums/when-policy-cancelled-settle-premiums.ts'
import { whenPaymentChangedSettlePremium } from './payments/when-payment-changed-settle-premium.ts'
import { makeReplaceBankDetails, setUpMandates } from './payments/policy-mandates.ts'
import type { QuoteOwner } from './applications/quote-owner.ts'
import type { SomeReaction } from './reactions/reaction.ts'
import type { Timer } from './reactions/timers.ts'
import type { Writer } from './writing/writer.ts'

type RouteDeps = Pick<Parts, 'keys' | 'pool'> & {
  readonly writer: Writer
  readonly hasSold: HasSold
  readonly dataKeys: Pick<DataKeys, 'digest'>
  readonly directory: Directory
  readonly catalogue: Catalogue
  readonly quoteOwner: QuoteOwner
  readonly checkBankAccount: BankAccountCheck
  readonly merchants: Merchants
  readonly calendar: BankCalendar
  readonly setUpPolicy: ReturnType<typeof makeSetUp>
  readonly baseUrl: string
}

/** What is sold, from the application to the policy and its premiums: the way in. */
export const salesRoutes = (deps: RouteDeps): readonly Route[] => {
  const { writer, pool, keys, dataKeys, directory, catalogue, calendar, hasSold, baseUrl } = deps
  const { organisations } = directory
  const dateAt = (organisation_id: OrganisationId, now: string) =>
    dateIn(timeZoneOf(organisations, organisation_id), now)
  return [
    ...applicationRoutes({
      writer,
      keys,
      catalogue,
      quoteOwner: deps.quoteOwner,
      checkBankAccount: deps.checkBankAccount,
      merchants: deps.merchants,
      policies: {
        claimNumber: makeClaimNumber(writer),
        setUp: deps.setUpPolicy,
        waitUntilReadable: makeWaitUntilReadable(pool),
        baseUrl,
      },
      organisations,
      people: makePeople({ writer, digest: dataKeys.digest }),
    }),
    cancellationRoute({ writer, baseUrl, dateAt }),
    ...premiumRoutes({ writer, calendar, baseUrl, dateAt }),
    ...servicingRoutes({ writer, baseUrl, catalogue, calendar, dateAt }),
    ...reviewRoutes(writer),
    ...policyAdminRoutes({
      writer,
      baseUrl,
      dateAt,
      lookAtMandate: makeLookAtMandate({ writer, merchants: deps.merchants }),
      replaceBankDetails: makeReplaceBankDetails({ writer, checkBankAccount: deps.checkBankAccount }),
    }),
    ...catalogueAdminRoutes({ writer, catalogue, hasSold }),
  ]
}

type ReactionDeps = Pick<Parts, 'pool' | 'dataKeys'> & {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly calendar: BankCalendar
  readonly directory: Directory
  readonly catalogue: Catalogue
  readonly setUpPolicy: ReturnType<typeof makeSetUp>
  readonly policyRules: LivePolicyRules
}

export const salesReactions = (deps: ReactionDeps): readonly SomeReaction[] => {
  const { writer, catalogue, directory, setUpPolicy, policyRules } = deps
  const ofDocuments = { writer, catalogue, files: makeSealedFiles(deps), organisations: directory.organisations }
  return [
    whenQuoteEndedClosePayments(writer),
    whenQuoteBoughtSetUpPolicy(setUpPolicy),
    whenPolicyBoundIssueDocuments({ ...ofDocuments, rulesOf: policyRules }),
    whenTermsChangedIssueSchedule(ofDocuments),
    whenPolicyCancelledReturnCard(writer),
    whenPolicyCancelledSettlePremiums(deps),
    whenPaymentChangedSettlePremium(deps),
    whenPolicyMandateChangedProveMandate(writer),
    whenInboundEventAcceptedUpdatePolicy(writer),
  ]
}

type TimerDeps = Pick<Parts, 'clock' | 'log' | 'pool'> & {
  readonly writer: Writer
  readonly shown: Shown
  readonly catalogue: Catalogue
  readonly policyRules: LivePolicyRules
  readonly calendar: BankCalendar
  readonly merchants: Merchants
  readonly openAccount: OpenAccount
  readonly outside: GuardedHttp
}

export const salesTimers = (deps: TimerDeps): readonly Timer[] => {
  const { writer, catalogue, policyRules, calendar, merchants, openAccount, outside, clock, log } = deps
  const reviewBasis = makeReviewBasis({ writer, catalogue, newestVersions: makeNewestVersions(deps) })
  return [
    expireQuotes(writer),
    abandonInactive(writer),
    searchMarket({ writer, panel: marketPanel(outside), openAccount, clock, log }),
    ...settleCardPayments({ writer, merchants, calendar }),
    ...policyTimers({ writer, catalogue, rulesOf: policyRules, reviewBasis, calendar }),
    setUpMandates({ writer, merchants }),
    ...collectPremiums({ writer, merchants, clock, calendar }),
    refundPremiums({ writer, merchants, calendar }),
  ]
}
