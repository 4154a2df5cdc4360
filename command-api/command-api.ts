import { directoryFold, emptyDirectory } from '#domain/access/record.ts'
import { integrationsFold, noIntegrations } from '#domain/custom-integrations/record.ts'
import { categoryOf } from '#domain/event.ts'
import { type Programme, programmesFold } from '#domain/loyalty/record.ts'
import { type OperatorKey, operatorKeysFold } from '#domain/operator-keys/record.ts'
import { paymentAccountsFold } from '#domain/payment-accounts/record.ts'
import { accountOf, accountOpener, providerAccountsFold } from '#domain/provider-accounts/record.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { makeSecretCheck, type SecretCheck } from '#infra/crypto/secret-hash.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { bankCalendarCheck, readBankCalendar } from '#infra/bank-holidays.ts'
import { plainPermission } from '#infra/guarded-addresses.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import { makeRateLimit } from '#infra/http/rate-limit.ts'
import type { Route } from '#infra/http/route.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'
import { type ApiRole, checkConsumers, checkFolds, checkParts, logIsHere, type Parts } from '#infra/parts.ts'
import { tpsClear } from '#infra/tps/tpsclear.ts'
import { makeApplicationOwner } from './applications/application-owner.ts'
import { organisationPlanner } from './access/organisation-setup.ts'
import { accessRoutes } from './access/routes.ts'
import { tokenRoutes } from './access/token.ts'
import { clockRoutes } from './clock/routes.ts'
import { connectionRoutes } from './connections.ts'
import { type CrmModels, crmReactions, crmRoutes, crmTimers, followCrmModels } from './crm.ts'
import { inboundWebhook } from './custom-integrations/inbound-webhook.ts'
import { type IntegrationLog, makeIntegrationLog } from './custom-integrations/integration-log.ts'
import { makePeople } from './customers/people.ts'
import { whenErasureRequestedErasePerson } from './erasures/when-erasure-requested-erase-person.ts'
import { whenMessageNewsReceivedWithdrawConsent } from './customers/when-message-news-received-withdraw-consent.ts'
import { withdrawBy } from './customers/withdraw.ts'
import { commandHandler } from './writing/handle.ts'
import { makeRecentContent } from './ingests/recent-content.ts'
import { intakeProcessing, intakeRoutes } from './intake.ts'
import { followEndpointConnections } from './integrations/live-connections.ts'
import { makeLifecyclePerson } from './outreach/lifecycle-people.ts'
import { followCampaigns } from './campaigns/live-campaigns.ts'
import { followCatalogue } from './catalogue/live-catalogue.ts'
import { makeLeads } from './leads/live-leads.ts'
import { followPolicyRules } from './policy-rules/live-policy-rules.ts'
import { loyaltyReactions, loyaltyRoutes, loyaltyTimers } from './loyalty/loyalty.ts'
import { makeMembershipSnapshots } from './loyalty/snapshots.ts'
import { makeMandateOwner } from './payments/mandate-owner.ts'
import { operatorKeyRoutes } from './operator-keys/routes.ts'
import { outreachReactions, outreachRoutes, outreachTimersOf, startOutreach } from './outreach/outreach.ts'
import { followOutreach, type LiveOutreach } from './outreach/streams.ts'
import { makeMerchants } from './payments/merchants.ts'
import { messageNewsWebhook } from './message-news/webhook.ts'
import { paymentWebhook } from './payment-news/webhook.ts'
import { makeHasSold } from './policies/has-sold.ts'
import { makeSetUp } from './policies/set-up.ts'
import { makeQuoteOwner } from './applications/quote-owner.ts'
import { runReactions } from './reactions/reaction.ts'
import { makeMessageNews } from './message-news/receive-news.ts'
import { makePaymentNews } from './payments/receive-news.ts'
import { salesReactions, salesRoutes, salesTimers } from './sales.ts'
import { setupSections } from './setup-sections.ts'
import { setupRoutes } from './setup-file/routes.ts'
import type { DeliveryLimits } from './inbound-webhooks/signed-delivery.ts'
import { runTimers } from './reactions/timers.ts'
import { followLifecycleActions } from './workflows/live-actions.ts'
import { followWorkflows } from './workflows/live-workflows.ts'
import { makeWriter } from './writing/writer.ts'

type RouteDeps = Parameters<typeof salesRoutes>[0] &
  Parameters<typeof intakeRoutes>[0] &
  Omit<Parameters<typeof loyaltyRoutes>[0], 'isPerson'> &
  Parameters<typeof connectionRoutes>[0] &
  Parameters<typeof operatorKeyRoutes>[0] &
  Parameters<typeof clockRoutes>[0] &
  Parameters<typeof setupSections>[0] & {
    readonly crmModels: CrmModels
    readonly shown: Shown
    readonly outreach: LiveOutreach
  }

/** Everything that changes something. */
export const commandRoutes = (deps: RouteDeps): readonly Route[] => {
  const { writer, directory, dataKeys, crmModels, outreach } = deps
  const people = makePeople({ writer, digest: dataKeys.digest })
  return [
    ...accessRoutes({ writer, directory }),
    ...operatorKeyRoutes(deps),
    ...clockRoutes(deps),
    ...salesRoutes(deps),
    ...connectionRoutes(deps),
    ...intakeRoutes(deps),
    ...loyaltyRoutes({
      ...deps,
      isPerson: async (organisation_id, id) =>
        (await people.record(organisation_id, id)) !== undefined && !(await people.isErased(id)),
    }),
    ...outreachRoutes({
      ...deps,
      live: outreach,
      organisations: directory.organisations,
      recordOf: people.record,
      withdraw: withdrawBy('link', people),
    }),
    ...crmRoutes({ ...deps, models: crmModels }),
    ...setupRoutes({ planOrganisation: organisationPlanner({ writer, directory }), sections: setupSections(deps) }),
  ]
}

/** What organisations have set up, as this process knows it from the log. All are asked for at once: the log is read once. */
export const followSetUp = ({ folds, eventLog }: Pick<Parts, 'folds' | 'eventLog'>) =>
  allOf({
    directory: folds.follow(directoryFold, emptyDirectory()),
    operatorKeys: folds.follow(operatorKeysFold, new Map<string, OperatorKey>()),
    catalogue: followCatalogue(eventLog, folds),
    connections: followEndpointConnections(folds),
    integrations: folds.follow(integrationsFold, noIntegrations()),
    accounts: folds.follow(providerAccountsFold, new Map()),
    paymentAccounts: folds.follow(paymentAccountsFold, new Map()),
    actions: followLifecycleActions(folds),
    workflows: followWorkflows(folds),
    campaigns: followCampaigns(folds),
    crmModels: followCrmModels(folds),
    programmes: folds.follow(programmesFold, new Map<string, Programme>()),
    policyRules: followPolicyRules(folds),
    outreach: followOutreach(folds),
  })

type Resolved<Promises> = { readonly [Name in keyof Promises]: Awaited<Promises[Name]> }

const allOf = async <Promises extends Readonly<Record<string, Promise<unknown>>>>(
  promises: Promises,
): Promise<Resolved<Promises>> => {
  const resolved = Object.entries(promises).map(async ([name, each]) => [name, await each] as const)
  return Object.fromEntries(await Promise.all(resolved)) as Resolved<Promises>
}

/** What several capabilities work with, made of the parts of this process. */
const makeShared = async (parts: Parts) => {
  const { config, keys, dataKeys, metrics, eventLog, progress, signal } = parts
  const calendar = readBankCalendar(config)
  const known = await followSetUp(parts)
  const outbound = { allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP }
  const writer = makeWriter({
    log: eventLog,
    seen: async (stream, position) => {
      const wasSeen = await progress.wait(categoryOf(stream), position, config.READ_YOUR_WRITES_MS)
      if (!wasSeen && !signal.aborted) metrics.unseenWrites.inc()
    },
  })
  dataKeys.onForget(writer.forget)
  const { accounts, catalogue, crmModels, directory, paymentAccounts, policyRules } = known
  const { organisations } = directory
  /** Outside parties, and models, which take longer. */
  const outside = makeGuardedHttp({ ...outbound, timeoutMs: 3_000, bodyLimitBytes: 2 ** 20 })
  const shown: Shown = { eventLog, progress, withinMs: config.READ_YOUR_WRITES_MS }
  const hasScreening = (organisation_id: OrganisationId) =>
    accountOf(accounts, organisation_id, 'tpsclear') !== undefined
  return {
    ...parts,
    ...known,
    writer,
    baseUrl: config.BASE_URL,
    tokens: makeTokens(keys, config.BASE_URL),
    allowsHttp: plainPermission(outbound, 'http:'),
    isClockMovable: config.ENVIRONMENT !== 'production',
    shown,
    quoteOwner: makeQuoteOwner({ ...parts, shown }),
    hasSold: makeHasSold({ ...parts, shown }),
    merchants: makeMerchants({ keys, paymentAccounts, http: outside }),
    leases: makeLeases(parts.pool, { log: parts.log }),
    openAccount: accountOpener(accounts, (sealed, place) => unseal(keys, sealed, place)),
    leads: makeLeads(writer, crmModels.pipelines, hasScreening),
    people: makePeople({ writer, digest: dataKeys.digest }),
    setUpPolicy: makeSetUp({ writer, catalogue, organisations, rulesOf: policyRules, calendar }),
    calendar,
    snapshots: makeMembershipSnapshots(parts),
    outside,
    models: makeGuardedHttp({ ...outbound, timeoutMs: 10_000, bodyLimitBytes: 2 ** 20 }),
  }
}
type Shared = Awaited<ReturnType<typeof makeShared>>

/** What goes on without a request: reactions, timers, and messages that are sent. */
const startWork = (shared: Shared) => {
  const { writer, directory, leads, people, crmModels, keys, workflows, openAccount, outside, models, clock, log } =
    shared
  const { calendar } = shared
  const { detail } = bankCalendarCheck(calendar, clock)
  if (detail !== undefined) log.warn({ variable: 'BANK_HOLIDAYS_FILE' }, detail)
  const intake = intakeProcessing(shared)
  const ofOutreach = {
    writer,
    leads,
    live: shared.outreach,
    organisations: directory.organisations,
    recordOf: people.record,
  }
  const reactions = runReactions(
    [
      ...salesReactions(shared),
      ...loyaltyReactions(shared),
      ...crmReactions({ ...shared, models: crmModels }),
      whenErasureRequestedErasePerson(shared),
      ...intake.reactions,
      whenMessageNewsReceivedWithdrawConsent(people),
      ...outreachReactions({ ...ofOutreach, keys, workflows, personOf: makeLifecyclePerson(writer) }),
    ],
    shared,
  )
  const phoneOf = async (organisation_id: OrganisationId, id: CustomerId) =>
    (await people.record(organisation_id, id))?.phone_number ?? null
  const timers = runTimers(
    [
      ...salesTimers(shared),
      ...loyaltyTimers(shared),
      ...crmTimers({ leads, openAccount, screen: tpsClear(outside), phoneOf, clock, log }),
      ...intake.timers,
      ...outreachTimersOf({ ...ofOutreach, clock }),
    ],
    shared,
  )
  const sending = startOutreach({ ...shared, ...ofOutreach, http: outside, models })
  return {
    checks: async () => [
      ...(await checkConsumers(shared, reactions)),
      timers.check(),
      sending.check(),
      bankCalendarCheck(calendar, clock),
    ],
    finished: async () => {
      await Promise.all([...reactions, timers, sending].map(async (each) => each.finished))
    },
  }
}

/** What answers in a form of its own: the token endpoint, and what other systems post to us. */
const ownForms = (shared: Shared, checkSecret: SecretCheck, integrationLog: IntegrationLog) => {
  const {
    folds,
    directory,
    keys,
    tokens,
    writer,
    merchants,
    rateLimit,
    baseUrl,
    clock,
    log,
    pool,
    setUpPolicy: setUp,
    calendar,
  } = shared
  const limit = (name: string, requests: number) => makeRateLimit({ requests, windowSeconds: 300, name, pool, log })
  const fromSender = limit('inbound_address', 30_000)
  const limitsOf = (name: string): DeliveryLimits => ({
    fromSender,
    signed: limit(name, 3_000),
    refused: limit(`${name}_refused`, 3_000),
  })
  return [
    tokenRoutes({
      directory,
      tokens,
      checkSecret,
      rateLimit,
      baseUrl,
      log,
      requireCurrent: (organisation_id) => folds.requireCurrent(directoryFold.name, organisation_id),
    }),
    paymentWebhook({
      keys,
      paymentAccounts: shared.paymentAccounts,
      limits: limitsOf('payment_news'),
      receive: makePaymentNews({ writer, merchants, mandateOwner: makeMandateOwner(shared), setUp, calendar, log }),
      clock,
      log,
    }),
    messageNewsWebhook({
      keys,
      accounts: shared.accounts,
      directory,
      requireCurrent: (organisation_id) => folds.requireCurrent(providerAccountsFold.name, organisation_id),
      limits: limitsOf('message_news'),
      receive: makeMessageNews({
        writer,
        keys,
        pool,
        shown: shared.shown,
        digest: shared.dataKeys.digest,
        people: shared.people,
        outreachOf: commandHandler(writer, outreachPerson).load,
        streams: shared.outreach.streams,
      }),
      clock,
      log,
    }),
    inboundWebhook({
      writer,
      keys,
      digest: shared.dataKeys.digest,
      integrations: shared.integrations,
      directory,
      integrationLog,
      limits: limitsOf('inbound_url'),
      requireCurrent: (organisation_id) => folds.requireCurrent(integrationsFold.name, organisation_id),
      clock,
      log,
    }),
  ]
}

export const startCommandApi = async (parts: Parts): Promise<ApiRole> => {
  const { config, log, metrics, folds, clock, rateLimit, pool, traffic } = parts
  const shared = await makeShared(parts)
  const work = startWork(shared)
  const integrationLog = makeIntegrationLog(pool, log)
  const checkSecret = makeSecretCheck()
  const { directory, operatorKeys, keys, tokens, baseUrl } = shared
  const app = httpApp(
    commandRoutes({
      ...shared,
      checkSecret,
      checkBankAccount: makeBankAccountCheck(config),
      ...makeRecentContent({ pool, log, logIsHere: logIsHere(config) }),
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
        requireCurrent: (organisation_id) => folds.requireCurrent(directoryFold.name, organisation_id),
        requireCurrentKeys: () => folds.requireCurrent(operatorKeysFold.name),
        allowsOwnPages: config.ENVIRONMENT !== 'production',
      }),
      subjectCheck: makeSubjectCheck({
        organisations: directory.organisations,
        keys,
        owners: { application: makeApplicationOwner(shared.writer), quote: shared.quoteOwner },
      }),
      clock,
      traffic,
      trustedProxies: config.TRUSTED_PROXIES,
      checkAnswers: false,
      before: ownForms(shared, checkSecret, integrationLog),
    },
  )
  return {
    app,
    checks: async () => (await Promise.all([checkParts(parts, pool), checkFolds(parts), work.checks()])).flat(),
    stop: async () => {
      await work.finished()
      await integrationLog.stop()
      await Promise.all([shared.outside.close(), shared.models.close()])
    },
  }
}
