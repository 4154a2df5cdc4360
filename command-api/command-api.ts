import { directoryFold, emptyDirectory, type Directory } from '#domain/access/record.ts'
import { accountOf, providerAccountsFold, type ProviderAccounts } from '#domain/provider-accounts/record.ts'
import { paymentAccountsFold, type PaymentAccounts } from '#domain/payment-accounts/record.ts'
import type { BankAccountCheck } from '#domain/bank-account.ts'
import { categoryOf } from '#domain/event.ts'
import { operatorKeysFold, type OperatorKey } from '#domain/operator-keys/record.ts'
import { programmesFold, type Programme } from '#domain/loyalty/record.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { plainPermission } from '#infra/guarded-addresses.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { httpApp } from '#infra/http/http.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { tpsClear } from '#infra/tps/tpsclear.ts'
import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import { marketPanel } from '#infra/market-panel/panel.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { checkConsumer, checkFolds, checkParts, type ApiRole, type Parts } from '#infra/parts.ts'
import type { Route } from '#infra/http/route.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { makeSecretCheck, type SecretCheck } from '#infra/crypto/secret-hash.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { apiApplicationsSection } from './access/api-application-setup.ts'
import { operatorKeyRoutes } from './operator-keys/routes.ts'
import { organisationPlanner } from './access/organisation-setup.ts'
import { accessRoutes } from './access/routes.ts'
import { tokenRoutes } from './access/token.ts'
import { abandonInactive } from './applications/abandon-inactive.ts'
import { expireQuotes } from './applications/expire-quotes.ts'
import { settleCardPayments } from './applications/settle-card-payments.ts'
import { whenQuoteEndedClosePayments } from './applications/when-quote-ended-close-payments.ts'
import { applicationRoutes } from './applications/routes.ts'
import { campaignRoutes } from './campaigns/routes.ts'
import { campaignsSection, leadIntakeSections } from './campaigns/setup.ts'
import { productsSection } from './catalogue/products-setup.ts'
import { rateTablesSection } from './catalogue/rate-tables-setup.ts'
import { whenPolicyCancelledReturnCard } from './applications/when-policy-cancelled-return-card.ts'
import { whenPremiumRefundOwedReturnCard } from './applications/when-premium-refund-owed-return-card.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { OrganisationId } from '#domain/values.ts'
import { catalogueAdminRoutes } from './catalogue/routes.ts'
import { crmReactions, crmRoutes, crmSections, crmTimers, followCrmModels, type CrmModels } from './crm.ts'
import { integrationsFold, noIntegrations, type Integrations } from '#domain/custom-integrations/record.ts'
import { inboundWebhook } from './custom-integrations/inbound-webhook.ts'
import { makeIntegrationLog } from './custom-integrations/integration-log.ts'
import { customIntegrationRoutes } from './custom-integrations/routes.ts'
import { customIntegrationsSection } from './custom-integrations/setup.ts'
import { makePeople } from './customers/people.ts'
import { withdrawByLink } from './customers/withdraw-by-link.ts'
import { followEndpointConnections, type LiveConnections } from './integrations/live-connections.ts'
import { makeDocumentFiles } from './document-files.ts'
import { receiveRoute } from './ingests/receive-route.ts'
import { makeLookalikes } from './ingests/lookalikes.ts'
import { retryIngests, whenIngestReceivedResolveIt, whenIngestResolvedReadIt } from './ingests/process-ingests.ts'
import { modelReader } from './ingests/model-reader.ts'
import { makeReadingUse } from './ingests/reading-use.ts'
import { ingestTeamRoutes } from './ingests/team-routes.ts'
import { uploadRoute } from './ingests/upload-route.ts'
import { makeRecentContent, type ClaimContent } from './ingests/recent-content.ts'
import { endpointConnectionRoutes } from './integrations/routes.ts'
import { endpointConnectionsSection } from './integrations/setup.ts'
import { followCatalogue, type Catalogue } from './live-catalogue.ts'
import { makeLeads, type Leads } from './live-leads.ts'
import { accountOpener } from './open-account.ts'
import { followPolicyRules, type LivePolicyRules } from './live-policy-rules.ts'
import { followCampaigns, type LiveCampaigns } from './live-campaigns.ts'
import { makeHasSold } from './policies/has-sold.ts'
import type { HasSold } from './catalogue/routes.ts'
import { makeClaimNumber } from './policies/number.ts'
import { servicingRoutes } from './policies/servicing-routes.ts'
import { premiumRoutes } from './policies/premium-routes.ts'
import { policyTimers } from './policies/timers.ts'
import { collectPremiums } from './policies/collect-premiums.ts'
import { refundPremiums } from './policies/refund-premiums.ts'
import { whenCardSettledRecordPremium } from './policies/when-card-settled-record-premium.ts'
import { policyRulesSection } from './policy-rules/setup.ts'
import { setUpMandates } from './policy-mandates.ts'
import { whenPolicyBoundIssueDocuments } from './policies/when-policy-bound-issue-documents.ts'
import { whenTermsChangedIssueSchedule } from './policies/when-terms-changed-issue-schedule.ts'
import { makeWaitUntilReadable } from './policies/readable.ts'
import { policyAdminRoutes } from './policies/routes.ts'
import { makeSetUp } from './policies/set-up.ts'
import { whenQuoteBoughtSetUpPolicy } from './policies/when-quote-bought-set-up-policy.ts'
import { whenInboundEventAcceptedUpdatePolicy } from './policies/when-inbound-event-accepted-update-policy.ts'
import { makeQuoteOwner, type QuoteOwner } from './quote-owner.ts'
import { searchMarket } from './applications/search-market.ts'
import { providerAccountRoutes } from './provider-accounts/routes.ts'
import { providerAccountsSection } from './provider-accounts/setup.ts'
import { paymentAccountRoutes } from './payment-accounts/routes.ts'
import { paymentAccountsSection } from './payment-accounts/setup.ts'
import { paymentWebhook } from './payment-news/webhook.ts'
import { makePaymentNews } from './receive-payment-news.ts'
import { makeMandateOwner } from './mandate-owner.ts'
import { makeRateLimit } from '#infra/http/rate-limit.ts'
import { makePaymentDesks, type PaymentDesks } from './payment-desk.ts'
import { clockRoutes } from './clock-routes.ts'
import { deliveryOperatorRoutes } from './deliveries/routes.ts'
import { deliverySettingsSection } from './deliveries/setup.ts'
import { makeMemberships } from './loyalty/memberships.ts'
import { programmeRoutes } from './loyalty/operator-routes.ts'
import { membershipRoutes } from './loyalty/routes.ts'
import { loyaltyProgrammesSection } from './loyalty/setup.ts'
import { makeMembershipSnapshots, type MembershipSnapshots } from './loyalty/snapshots.ts'
import { startCycles } from './loyalty/start-cycles.ts'
import { whenMembershipChangedRecordActivity } from './loyalty/when-membership-changed-record-activity.ts'
import { whenPolicyBoundEnrolMember } from './loyalty/when-policy-bound-enrol-member.ts'
import { makeLifecyclePerson } from './lifecycle-people.ts'
import { outreachReactions, outreachRoutes, outreachTimersOf, startOutreach } from './outreach/outreach.ts'
import { followOutreach, type LiveOutreach } from './outreach/streams.ts'
import { outreachSections } from './outreach/setup.ts'
import { runReactions } from './reaction.ts'
import { setupRoutes } from './setup.ts'
import { runTimers } from './timers.ts'
import { followLifecycleActions, type LiveActions } from './workflows/live-actions.ts'
import { followWorkflows, type LiveWorkflows } from './workflows/live-workflows.ts'
import { lifecycleActionRoutes } from './workflows/routes.ts'
import { lifecycleActionsSection } from './workflows/setup.ts'
import { namedTargets } from './workflows/workflow-choices.ts'
import { workflowRoutes } from './workflows/workflow-routes.ts'
import { workflowsSection } from './workflows/workflow-setup.ts'
import { makeWriter, type Writer } from './writer.ts'

type Deps = Pick<Parts, 'keys' | 'pool' | 'clock'> & {
  readonly isClockMovable: boolean
  readonly dataKeys: Pick<DataKeys, 'digest'>
  readonly writer: Writer
  readonly directory: Directory
  readonly catalogue: Catalogue
  readonly quoteOwner: QuoteOwner
  readonly checkBankAccount: BankAccountCheck
  readonly desks: PaymentDesks
  readonly paymentAccounts: PaymentAccounts
  readonly checkSecret: SecretCheck
  readonly connections: LiveConnections
  readonly integrations: Integrations
  readonly actions: LiveActions
  readonly workflows: LiveWorkflows
  readonly outreach: LiveOutreach
  readonly campaigns: LiveCampaigns
  readonly crmModels: CrmModels
  readonly leads: Leads
  readonly accounts: ProviderAccounts
  readonly claimContent: ClaimContent
  readonly programmes: ReadonlyMap<string, Programme>
  readonly snapshots: MembershipSnapshots
  readonly operatorKeys: ReadonlyMap<string, OperatorKey>
  readonly policyRules: LivePolicyRules
  readonly baseUrl: string
  /** Whether webhooks may go to an address by plain http. */
  readonly allowsHttp: (address: string) => boolean
}

type SetupDeps = Pick<Deps, 'writer' | 'pool' | 'checkSecret' | 'keys' | 'catalogue' | 'allowsHttp'> & {
  readonly hasSold?: HasSold
}

/** Every part of a set-up file. */
export const setupSections = ({
  writer,
  pool,
  checkSecret,
  keys,
  catalogue,
  allowsHttp,
  hasSold = makeHasSold(pool),
}: SetupDeps) => [
  apiApplicationsSection({ writer, checkSecret }),
  providerAccountsSection({ writer, keys, allowsHttp }),
  paymentAccountsSection({ writer, keys, allowsHttp }),
  rateTablesSection(writer),
  productsSection({ writer, hasSold, documentFiles: makeDocumentFiles(pool) }),
  endpointConnectionsSection({ writer, keys, allowsHttp }),
  deliverySettingsSection(writer),
  customIntegrationsSection({ writer, keys, allowsHttp }),
  lifecycleActionsSection({ writer, catalogue }),
  campaignsSection(writer),
  ...leadIntakeSections(writer),
  loyaltyProgrammesSection(writer),
  ...crmSections(writer),
  policyRulesSection(writer),
  workflowsSection({ writer, targets: namedTargets(writer.log, catalogue) }),
  ...outreachSections(writer),
]

/** Everything that changes something. */
export const commandRoutes = (deps: Deps): readonly Route[] => {
  const {
    writer,
    pool,
    directory,
    catalogue,
    quoteOwner,
    checkBankAccount,
    keys,
    dataKeys,
    connections,
    actions,
    workflows,
    campaigns,
    accounts,
    allowsHttp,
  } = deps
  const { claimContent, baseUrl, desks, paymentAccounts, programmes, snapshots, policyRules } = deps
  const memberships = makeMemberships({ writer, digest: dataKeys.digest, programmes, snapshots })
  const dateAt = (organisation_id: OrganisationId, now: string) =>
    dateIn(directory.organisations.get(organisation_id)?.time_zone ?? 'Europe/London', now)
  const people = makePeople({ writer, digest: dataKeys.digest })
  return [
    ...applicationRoutes({
      writer,
      keys,
      catalogue,
      quoteOwner,
      checkBankAccount,
      desks,
      policies: {
        claimNumber: makeClaimNumber(writer),
        setUp: makeSetUp({ writer, catalogue, organisations: directory.organisations, rulesOf: policyRules }),
        waitUntilReadable: makeWaitUntilReadable(pool),
        baseUrl,
      },
      organisations: directory.organisations,
      people: makePeople({ writer, digest: dataKeys.digest }),
    }),
    ...accessRoutes({ writer, directory }),
    ...operatorKeyRoutes(deps),
    ...premiumRoutes({ writer, baseUrl }),
    ...servicingRoutes({ writer, baseUrl, dateAt }),
    ...policyAdminRoutes({ writer, baseUrl, dateAt }),
    ...clockRoutes(deps),
    ...catalogueAdminRoutes({ writer, catalogue, hasSold: makeHasSold(pool) }),
    ...endpointConnectionRoutes({ writer, keys, directory, connections, allowsHttp }),
    ...customIntegrationRoutes({ writer, keys, directory, allowsHttp, baseUrl }),
    ...providerAccountRoutes({ writer, keys, directory, accounts, allowsHttp }),
    ...paymentAccountRoutes({ writer, keys, directory, paymentAccounts, allowsHttp }),
    ...lifecycleActionRoutes({ writer, directory, actions, catalogue }),
    ...workflowRoutes({
      writer,
      directory,
      workflows,
      targets: namedTargets(writer.log, catalogue),
      leads: deps.leads,
    }),
    ...deliveryOperatorRoutes({ writer, pool, directory, connections, integrations: deps.integrations }),
    ...campaignRoutes({ writer, directory, campaigns }),
    receiveRoute({ writer, campaigns, digest: dataKeys.digest, claimContent, baseUrl }),
    uploadRoute({ writer, campaigns, directory }),
    ...ingestTeamRoutes({ writer, people: makePeople({ writer, digest: dataKeys.digest }) }),
    ...membershipRoutes({ memberships, organisations: directory.organisations }),
    ...programmeRoutes({ writer, directory, programmes, memberships }),
    ...outreachRoutes({
      writer,
      keys,
      directory,
      leads: deps.leads,
      live: deps.outreach,
      organisations: directory.organisations,
      recordOf: people.record,
      withdraw: withdrawByLink(people),
    }),
    ...crmRoutes({ ...deps, models: deps.crmModels }),
    ...setupRoutes({ planOrganisation: organisationPlanner({ writer, directory }), sections: setupSections(deps) }),
  ]
}

export const startCommandApi = async (parts: Parts): Promise<ApiRole> => {
  const { config, keys, dataKeys, log, metrics, eventLog, rateLimit, progress, folds, clock } = parts
  const baseUrl = config.BASE_URL
  const [
    directory,
    operatorKeys,
    catalogue,
    connections,
    actions,
    workflows,
    campaigns,
    accounts,
    crmModels,
    programmes,
    policyRules,
    outreach,
  ] = await Promise.all([
    folds.follow(directoryFold, emptyDirectory()),
    folds.follow(operatorKeysFold, new Map<string, OperatorKey>()),
    followCatalogue(eventLog, folds),
    followEndpointConnections(folds),
    followLifecycleActions(folds),
    followWorkflows(folds),
    followCampaigns(folds),
    folds.follow(providerAccountsFold, new Map()),
    followCrmModels(folds),
    folds.follow(programmesFold, new Map<string, Programme>()),
    followPolicyRules(folds),
    followOutreach(folds),
  ])
  const outbound = { allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP }
  const allowsHttp = plainPermission(outbound, 'http:')
  const integrations = await folds.follow(integrationsFold, noIntegrations())
  const writer = makeWriter({
    log: eventLog,
    seen: async (stream, position) => {
      const wasSeen = await progress.wait(categoryOf(stream), position, config.READ_YOUR_WRITES_MS)
      if (!wasSeen) metrics.unseenWrites.inc()
    },
  })
  dataKeys.onForget(writer.forget)
  const quoteOwner = makeQuoteOwner(parts)
  const paymentAccounts = await folds.follow(paymentAccountsFold, new Map())
  const desks = makePaymentDesks({ keys, paymentAccounts })
  const leases = makeLeases(parts.pool)
  const openAccount = accountOpener(accounts, keys)
  const leads = makeLeads(
    writer,
    crmModels.pipelines,
    (organisation_id) => accountOf(accounts, organisation_id, 'tpsclear') !== undefined,
  )
  const people = makePeople({ writer, digest: dataKeys.digest })
  const models = makeGuardedHttp({ ...outbound, timeoutMs: 10_000, bodyLimitBytes: 2 ** 20 })
  const reader = modelReader({
    openAccount,
    ask: openAiCompatible(models),
    use: makeReadingUse(parts.pool),
    budgetOf: (organisation_id) => crmModels.pipelines(organisation_id).reading,
    timeZoneOf: (organisation_id) => directory.organisations.get(organisation_id)?.time_zone ?? 'UTC',
    clock,
  })
  const processing = {
    writer,
    campaigns,
    pipelines: crmModels.pipelines,
    people,
    leads,
    lookalikes: makeLookalikes(parts),
    organisations: directory.organisations,
    reader,
    log,
    clock,
  }
  const snapshots = makeMembershipSnapshots(parts)
  const memberships = makeMemberships({ writer, digest: dataKeys.digest, programmes, snapshots })
  const { organisations } = directory
  const ofOutreach = { writer, leads, live: outreach, organisations, recordOf: people.record }
  const setUpPolicy = makeSetUp({ writer, catalogue, organisations, rulesOf: policyRules })
  const ofDocuments = { writer, catalogue, files: makeSealedFiles(parts), organisations }
  const reactions = runReactions(
    [
      whenQuoteEndedClosePayments(writer),
      whenQuoteBoughtSetUpPolicy(setUpPolicy),
      whenPolicyBoundIssueDocuments(ofDocuments),
      whenTermsChangedIssueSchedule(ofDocuments),
      whenPolicyBoundEnrolMember(memberships, programmes),
      whenMembershipChangedRecordActivity({ memberships, programmes, leads }),
      ...crmReactions({ ...parts, writer, leads, directory, catalogue, people, models: crmModels }),
      whenPolicyCancelledReturnCard(writer),
      whenInboundEventAcceptedUpdatePolicy(writer),
      whenPremiumRefundOwedReturnCard(writer),
      whenCardSettledRecordPremium(writer),
      whenIngestReceivedResolveIt(processing),
      whenIngestResolvedReadIt(processing),
      ...outreachReactions({ ...ofOutreach, keys, workflows, personOf: makeLifecyclePerson(writer) }),
    ],
    { ...parts, leases },
  )
  const outside = makeGuardedHttp({ ...outbound, timeoutMs: 3_000, bodyLimitBytes: 2 ** 20 })
  const panel = marketPanel(outside)
  const timers = runTimers(
    [
      expireQuotes(writer),
      abandonInactive(writer),
      searchMarket({ writer, panel, openAccount, clock, log }),
      ...settleCardPayments({ writer, desks }),
      ...policyTimers({ writer, catalogue, rulesOf: policyRules }),
      ...crmTimers({
        leads,
        openAccount,
        screen: tpsClear(outside),
        phoneOf: async (organisation_id, id) => (await people.record(organisation_id, id))?.phone_number ?? null,
        clock,
        log,
      }),
      setUpMandates({ writer, desks }),
      ...collectPremiums({ writer, desks, clock }),
      refundPremiums({ writer, desks }),
      retryIngests(processing),
      startCycles({ memberships, programmes, organisations }),
      ...outreachTimersOf({ ...ofOutreach, clock }),
    ],
    { ...parts, leases },
  )
  const integrationLog = makeIntegrationLog(parts.pool, log)
  const inboundLimit = (name: string, requests: number) =>
    makeRateLimit({ requests, windowSeconds: 300, name, pool: parts.pool, log })
  const outreachAtWork = startOutreach({ ...parts, ...ofOutreach, leases, openAccount, http: outside, models })
  const requireCurrent = (organisation_id?: OrganisationId) => folds.requireCurrent(directoryFold.name, organisation_id)
  const tokens = makeTokens(keys, baseUrl)
  const checkSecret = makeSecretCheck()

  const app = httpApp(
    commandRoutes({
      keys,
      pool: parts.pool,
      dataKeys,
      writer,
      directory,
      catalogue,
      quoteOwner,
      checkBankAccount: makeBankAccountCheck(config),
      desks,
      paymentAccounts,
      checkSecret,
      connections,
      integrations,
      actions,
      workflows,
      campaigns,
      crmModels,
      leads,
      outreach,
      policyRules,
      clock,
      isClockMovable: config.ENVIRONMENT !== 'production',
      programmes,
      snapshots,
      operatorKeys,
      accounts,
      claimContent: makeRecentContent(parts),
      baseUrl,
      allowsHttp,
    }),
    {
      log,
      metrics,
      admission: makeAdmission({
        directory,
        tokens,
        baseUrl,
        rateLimit,
        operatorKey: config.OPERATOR_KEY,
        operatorKeys,
        requireCurrent,
        requireCurrentKeys: () => folds.requireCurrent(operatorKeysFold.name),
        allowsOwnPages: config.ENVIRONMENT !== 'production',
      }),
      subjectCheck: makeSubjectCheck({ keys, owners: { quote: quoteOwner } }),
      clock,
      trustedProxies: config.TRUSTED_PROXIES,
      checkAnswers: false,
      before: [
        tokenRoutes({ directory, tokens, checkSecret, rateLimit, baseUrl, log, requireCurrent }),
        paymentWebhook({
          keys,
          paymentAccounts,
          rateLimit: makeRateLimit({ requests: 3_000, windowSeconds: 300, name: 'payment_news', log }),
          receive: makePaymentNews({ writer, desks, mandateOwner: makeMandateOwner(parts), setUp: setUpPolicy }),
          clock,
          log,
        }),
        inboundWebhook({
          writer,
          keys,
          digest: dataKeys.digest,
          integrations,
          directory,
          integrationLog,
          limitOfConnection: inboundLimit('inbound_url', 3_000),
          limitOfSender: inboundLimit('inbound_address', 30_000),
          requireCurrent: (organisation_id) => folds.requireCurrent(integrationsFold.name, organisation_id),
          clock,
          log,
        }),
      ],
    },
  )
  return {
    app,
    checks: async () => [
      ...(await Promise.all([checkParts(parts, parts.pool), checkFolds(parts)])).flat(),
      ...reactions.map(checkConsumer),
      timers.check(),
      outreachAtWork.check(),
    ],
    stop: async () => {
      await Promise.all([...reactions, timers, outreachAtWork].map(async ({ finished }) => finished))
      await integrationLog.stop()
      await Promise.all([outside.close(), models.close()])
    },
  }
}
