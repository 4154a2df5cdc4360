import { directoryFold, emptyDirectory, type Directory } from '#domain/access/record.ts'
import { integrationsFold, noIntegrations, type Integrations } from '#domain/custom-integrations/record.ts'
import { accountOpener, providerAccountsFold } from '#domain/provider-accounts/record.ts'
import { idealPostcodes } from '#infra/addresses/ideal-postcodes.ts'
import { osPlaces } from '#infra/addresses/os-places.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { operatorKeysFold, type OperatorKey } from '#domain/operator-keys/record.ts'
import { signInProvidersFold, type SignInProvider } from '#domain/sign-in/record.ts'
import { noUsers, usersFold } from '#domain/users/record.ts'
import type { OutcomeModel } from '#domain/outcomes/events.ts'
import { outcomeModelsFold, outcomeModelsOf, type OutcomeModels } from '#domain/outcomes/record.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { pipelinesFold, pipelinesOf, type Pipelines } from '#domain/pipeline/record.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { programmesFold, type Programme } from '#domain/loyalty/record.ts'
import { outreachSettingsFold, type OutreachSettings } from '#domain/outreach/record.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { openLookups, type Database } from '#infra/postgres/lookups.ts'
import { twilioLookup } from '#infra/phone-validation/twilio.ts'
import { asOfRoutes } from './audit/as-of/routes.ts'
import { checkFolds, checkParts, type ApiRole, type Parts } from '#infra/role-parts.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { isReadOf, readAddressesOf, type IsRead } from '#infra/http/reads.ts'
import type { Route } from '#infra/http/route.ts'
import { makeStreams } from '#infra/http/streams.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { applicationRoutes } from './applications/routes.ts'
import { teamApplicationRoutes } from './applications/team-routes.ts'
import { accessRoutes } from './audit/access-routes.ts'
import { auditEventRoutes } from './audit/event-routes.ts'
import { exportRoutes } from './audit/people/export-routes.ts'
import { auditHistoryRoute } from './audit/history-route.ts'
import { auditDeliveryRoute } from './audit/delivery-route.ts'
import { auditListRoutes } from './audit/lists/routes.ts'
import { auditOnSaleRoute } from './audit/on-sale/route.ts'
import { auditPriceRoute } from './audit/price/route.ts'
import { auditRequestRoute } from './audit/request-route.ts'
import { auditRoutes } from './audit/routes.ts'
import { catalogueHistoryRoutes } from './catalogue/admin-routes.ts'
import { keyDocumentRoutes } from './catalogue/key-documents.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import { consumerRoutes } from './consumers/routes.ts'
import { customerAdminRoutes } from './customers/routes.ts'
import { lifecycleEventRoutes } from './deliveries/lifecycle-routes.ts'
import { deliveryRecoveryRoutes } from './deliveries/recovery-routes.ts'
import { customIntegrationReads } from './custom-integrations/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { makeConsole } from './console/console.ts'
import { documentationRoutes, type ExplorerDemo } from './documentation/routes.ts'
import { lookupRoutes, type LookupProviders } from './lookups/routes.ts'
import { approvalRoutes } from './approvals/routes.ts'
import { figureRoutes } from './figures/routes.ts'
import { erasureRoutes } from './erasures/routes.ts'
import { outcomeRoutes } from './outcomes/routes.ts'
import { leadAdminRoutes } from './leads/admin-routes.ts'
import { ledgerRoutes, trialBalanceFile } from './ledger/routes.ts'
import { trialBalanceAt } from './ledger/totals.ts'
import { membershipReads } from './loyalty/routes.ts'
import { leadRoutes } from './leads/routes.ts'
import { ingestAdminRoutes } from './ingests/admin-routes.ts'
import { ingestRoutes, ownerOfIngest } from './ingests/routes.ts'
import { makeFindReceived, type FindReceived } from './ingests/find-received.ts'
import { outreachReads } from './outreach/routes.ts'
import { ownerOfPolicy, policyRoutes } from './policies/routes.ts'
import { marketSearchRoute } from './market-quotes/routes.ts'
import { onceShown, ownerOnceShown } from './wait-until-shown.ts'
import { messageNewsRoutes } from './message-news/routes.ts'
import { paymentNewsRoute } from './payment-news/routes.ts'
import { setUpChangeRoute } from './set-up-changes/routes.ts'
import { policyClaimsRoute } from './claims/of-policy.ts'
import { claimListRoute } from './claims/routes.ts'
import { complaintReads } from './complaints/routes.ts'
import { recordErasureRoute } from './retention/routes.ts'
import { legalHoldRoute } from './legal-holds/routes.ts'
import { processRoute } from './processes/routes.ts'
import { policyPremiumsRoute } from './premiums/of-policy.ts'
import { premiumListRoute } from './premiums/routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { makeFollowWaiting, type FollowWaiting } from './work/follow-waiting.ts'
import { workRoute } from './work/routes.ts'
import { readWaiting } from './work/waiting.ts'
import { quoteAdminRoutes } from './quotes/admin-routes.ts'
import { ownerOfQuote, quoteRoutes } from './quotes/routes.ts'

/** Everything that can be read. */
export const queryRoutes = (
  deps: Pick<Parts, 'pool' | 'keys' | 'eventLog' | 'storedLog'> & {
    readonly dataKeys: Pick<DataKeys, 'of' | 'byId'>
    readonly db: Database
    readonly baseUrl: string
    readonly lookups: LookupProviders
    readonly pipelines: Pipelines
    readonly programmes: ReadonlyMap<string, Programme>
    readonly outreachSettings: ReadonlyMap<string, OutreachSettings>
    readonly outcomeModels: OutcomeModels
    readonly applications: Directory['applications']
    readonly organisations: Directory['organisations']
    readonly integrations: Integrations
    readonly findReceived: FindReceived
    readonly shown: Shown
    readonly followWaiting: FollowWaiting
  },
): readonly Route[] => {
  const of = (category: string, routes: readonly Route[]) => onceShown(deps.shown, category, routes)
  return [
    ...of('application', paymentRoutes(deps)),
    ...ledgerRoutes(deps),
    ...auditRoutes(deps),
    premiumListRoute(deps),
    claimListRoute(deps),
    ...of('complaint', complaintReads(deps)),
    ...of('legal_hold', [legalHoldRoute(deps)]),
    ...of('record_erasure', [recordErasureRoute(deps)]),
    ...messageNewsRoutes(deps),
    paymentNewsRoute(deps),
    setUpChangeRoute(deps),
    ...of('custom_integration', customIntegrationReads(deps)),
    ...of('product', catalogueRoutes(deps)),
    ...of('product', keyDocumentRoutes(deps)),
    ...of('application', applicationRoutes(deps)),
    ...of('application', teamApplicationRoutes(deps)),
    ...of('application', quoteRoutes(deps)),
    ...of('application', quoteAdminRoutes(deps)),
    ...of('rate_table', of('product', catalogueHistoryRoutes(deps))),
    ...of('policy', [policyPremiumsRoute(deps), policyClaimsRoute(deps)]),
    ...of('policy', policyRoutes({ ...deps, files: makeSealedFiles(deps) })),
    ...lookupRoutes(deps),
    marketSearchRoute(deps),
    ...leadRoutes(deps),
    ...of('membership', membershipReads(deps)),
    ...of('outreach', outreachReads(deps)),
    ...of('lead', leadAdminRoutes(deps)),
    ...outcomeRoutes(deps),
    ...deliveryRoutes(deps),
    ...deliveryRecoveryRoutes(deps),
    ...lifecycleEventRoutes(deps),
    ...ingestRoutes(deps),
    ...ingestAdminRoutes(deps),
    ...customerAdminRoutes(deps),
    ...of('erasure', erasureRoutes(deps)),
    ...of('proposal', approvalRoutes(deps)),
    workRoute(deps),
    ...consumerRoutes(deps),
    processRoute(deps),
    ...figureRoutes(deps),
    ...auditEventRoutes(deps),
    auditRequestRoute(deps),
    auditDeliveryRoute(deps),
    auditHistoryRoute(deps),
    ...of('application', [auditPriceRoute(deps)]),
    auditOnSaleRoute(deps),
    ...exportRoutes(deps),
    ...accessRoutes(deps),
    ...auditListRoutes({ ...deps, ledger: { trialBalanceAt, trialBalanceFile } }),
  ]
}

/** The set-up, as reads have it in memory. */
const liveReads = async (follow: LiveFolds['follow']) => {
  const [directory, outcomeModels, pipelines, programmes, outreachSettings, integrations] = await Promise.all([
    follow(directoryFold, emptyDirectory()),
    follow(outcomeModelsFold, new Map<string, OutcomeModel>()).then(outcomeModelsOf),
    follow(pipelinesFold, new Map<string, Pipeline>()).then(pipelinesOf),
    follow(programmesFold, new Map<string, Programme>()),
    follow(outreachSettingsFold, new Map<string, OutreachSettings>()),
    follow(integrationsFold, noIntegrations()),
  ])
  const { applications, organisations } = directory
  return {
    directory,
    applications,
    organisations,
    outcomeModels,
    pipelines,
    programmes,
    outreachSettings,
    integrations,
  }
}

type Shared = {
  /** The keys that the explorer signs in with by itself. */
  readonly demo?: ExplorerDemo | undefined
  /** Where this process serves both APIs, if it does. */
  readonly ownOrigin?: () => string
}

/** `isRead`: whether a request of a shared address is for this API. */
export const startQueryApi = async (
  parts: Parts,
  { demo, ownOrigin = () => parts.config.BASE_URL }: Shared = {},
): Promise<ApiRole & { readonly isRead: IsRead }> => {
  const { config, keys, log, metrics, folds, rateLimit, sessions } = parts
  const [{ directory, ...live }, operatorKeys, users, signInProviders, accounts] = await Promise.all([
    liveReads(folds.follow),
    folds.follow(operatorKeysFold, new Map<string, OperatorKey>()),
    folds.follow(usersFold, noUsers()),
    folds.follow(signInProvidersFold, new Map<string, SignInProvider>()),
    folds.follow(providerAccountsFold, new Map()),
  ])
  const admission = makeAdmission({
    directory,
    tokens: makeTokens(keys, config.BASE_URL),
    baseUrl: config.BASE_URL,
    rateLimit,
    operatorKey: config.OPERATOR_KEY,
    operatorKeyOpens: config.OPERATOR_KEY_OPENS,
    operatorKeys,
    users,
    sessions,
    signInProviders,
    requireCurrent: (organisation_id) => folds.requireCurrent(directoryFold.name, organisation_id),
    requireCurrentKeys: () => folds.requireCurrent(operatorKeysFold.name),
    requireCurrentUsers: (organisation_id) => {
      folds.requireCurrent(usersFold.name, organisation_id)
      folds.requireCurrent(signInProvidersFold.name, organisation_id)
    },
    allowsOwnPages: config.ENVIRONMENT !== 'production',
  })
  const lookups = openLookups(parts.pool)
  // A page waits for the answer; a postcode can have a hundred addresses.
  const outside = makeGuardedHttp({
    allowedHosts: config.DELIVERY_ALLOWED_HOSTS,
    allowHttp: config.DELIVERY_ALLOW_HTTP,
    timeoutMs: 3_000,
    bodyLimitBytes: 2 ** 20,
  })
  const providers: LookupProviders = {
    openAccount: accountOpener(accounts, (sealed, binding) => unseal(keys, sealed, binding)),
    twilio_lookup: twilioLookup(outside),
    ideal_postcodes: idealPostcodes(outside),
    os_places: osPlaces(outside),
  }
  const findReceived = makeFindReceived({ log: parts.storedLog, withinMs: config.READ_YOUR_WRITES_MS })
  const shown: Shown = { ...parts, withinMs: config.READ_YOUR_WRITES_MS }
  const followWaiting = makeFollowWaiting({ ...parts, read: (organisations) => readWaiting(parts.pool, organisations) })
  const found = { findReceived, followWaiting }
  const reading = { ...parts, shown, ...live, db: lookups, baseUrl: config.BASE_URL, lookups: providers, ...found }
  const asOf = asOfRoutes({
    ...reading,
    routesOver: async (follow, bound) => queryRoutes({ ...reading, ...(await liveReads(follow)), ...bound }),
  })
  const routes = [...queryRoutes(reading), ...asOf.routes]
  const { CONSOLE_API_URL } = config
  const console = await makeConsole({
    origin: CONSOLE_API_URL === undefined ? ownOrigin : () => CONSOLE_API_URL,
    isSignedIn: admission.isSignedIn,
    clock: parts.clock,
    log,
  })
  const streams = makeStreams({ ...parts, stillAdmitted: admission.stillAdmitted })
  const app = httpApp(routes, {
    log,
    metrics,
    admission,
    streams,
    subjectCheck: makeSubjectCheck({
      keys,
      organisations: directory.organisations,
      owners: {
        ingest: ownerOfIngest(lookups, findReceived),
        policy: ownerOnceShown(shown, 'policy', ownerOfPolicy(lookups)),
        quote: ownerOnceShown(shown, 'application', ownerOfQuote(lookups)),
      },
    }),
    recordAccess: makeRecordAccess(parts.pool),
    clock: parts.clock,
    traffic: parts.traffic,
    trustedProxies: config.TRUSTED_PROXIES,
    checkAnswers: false,
    pages: [await documentationRoutes(config.BASE_URL, demo), console.router],
  })
  return {
    app,
    isRead: isReadOf(readAddressesOf(routes)),
    checks: async () => (await Promise.all([checkParts(parts, lookups), checkFolds(parts)])).flat(),
    drain: streams.end,
    stop: async () => {
      await Promise.all([lookups.close(), outside.close(), asOf.close(), console.close()])
    },
  }
}
