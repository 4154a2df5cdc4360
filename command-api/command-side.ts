import { makeIsErased } from './retention/is-erased.ts'
import { directoryFold, emptyDirectory, timeZoneOf } from '#domain/access/record.ts'
import { application } from '#domain/applications/application.ts'
import { integrationsFold, noIntegrations } from '#domain/custom-integrations/record.ts'
import { categoryOf, idOf, type RecordedEvent } from '#domain/event.ts'
import { type Programme, programmesFold } from '#domain/loyalty/record.ts'
import { type OperatorKey, operatorKeysFold } from '#domain/operator-keys/record.ts'
import { outcomeModel } from '#domain/outcomes/model.ts'
import { seededModel } from '#domain/outcomes/record.ts'
import { paymentAccount } from '#domain/payment-accounts/payment-account.ts'
import { paymentAccountsFold } from '#domain/payment-accounts/record.ts'
import { pipeline } from '#domain/pipeline/pipeline.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyRules } from '#domain/policy-rules/policy-rules.ts'
import { signInProvidersFold, type SignInProvider } from '#domain/sign-in/record.ts'
import { noUsers, usersFold } from '#domain/users/record.ts'
import { accountOf, accountOpener, providerAccountsFold } from '#domain/provider-accounts/record.ts'
import type { PaymentMode } from '#domain/payment-accounts/events.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { OrganisationId } from '#domain/values.ts'
import { readBankCalendar } from '#infra/bank-holidays.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { makeSecretCheck } from '#infra/crypto/secret-hash.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { plainPermission } from '#infra/guarded-addresses.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'
import { logIsHere, type Parts } from '#infra/role-parts.ts'
import { makeApproval } from './approvals/approval.ts'
import { makeApplicationConsent } from './applications/application-consent.ts'
import { makeQuoteOwner } from './applications/quote-owner.ts'
import { followCampaigns } from './campaigns/live-campaigns.ts'
import { makeEarlierTable } from './catalogue/earlier-table.ts'
import { followCatalogue, type Catalogue } from './catalogue/live-catalogue.ts'
import { makeIntegrationLog } from './custom-integrations/integration-log.ts'
import { makePeople } from './customers/people.ts'
import { makeInboundLimits } from './inbound-webhooks/limits.ts'
import { makeRecentContent } from './ingests/recent-content.ts'
import { followEndpointConnections } from './integrations/live-connections.ts'
import { makeLeads } from './leads/live-leads.ts'
import { makeMembershipSnapshots } from './loyalty/snapshots.ts'
import { followOutcomeModels } from './outcomes/live-outcome-models.ts'
import { followOutreach } from './outreach/streams.ts'
import { paymentAccountIdOf } from './payment-accounts/accounts.ts'
import { makeMerchants } from './payments/merchants.ts'
import { followPipelines } from './pipeline/live-pipelines.ts'
import { makeHasSold } from './policies/has-sold.ts'
import { makeClaimNumber } from './policies/number.ts'
import { makeWaitUntilReadable } from './policies/readable.ts'
import { makeSetUp } from './policies/set-up.ts'
import { followPolicyRules } from './policy-rules/live-policy-rules.ts'
import { makeReportUnknownNames } from './setup-file/names.ts'
import { followLifecycleActions } from './workflows/live-actions.ts'
import { followWorkflows } from './workflows/live-workflows.ts'
import { namedTargets } from './workflows/workflow-choices.ts'
import { commandHandler } from './writing/handle.ts'
import { makeAlone } from './writing/alone.ts'
import { makeTurns } from './writing/turns.ts'
import { makeWriter, type Writer } from './writing/writer.ts'

/** The organisations' set-up, as this process has it from the log. All are asked for at once: the log is read once. */
export const followSetUp = ({ folds, eventLog }: Pick<Parts, 'folds' | 'eventLog'>) =>
  allOf({
    directory: folds.follow(directoryFold, emptyDirectory()),
    operatorKeys: folds.follow(operatorKeysFold, new Map<string, OperatorKey>()),
    users: folds.follow(usersFold, noUsers()),
    signInProviders: folds.follow(signInProvidersFold, new Map<string, SignInProvider>()),
    catalogue: followCatalogue(eventLog, folds),
    connections: followEndpointConnections(folds),
    integrations: folds.follow(integrationsFold, noIntegrations()),
    accounts: folds.follow(providerAccountsFold, new Map()),
    paymentAccounts: folds.follow(paymentAccountsFold, new Map()),
    actions: followLifecycleActions(folds),
    workflows: followWorkflows(folds),
    campaigns: followCampaigns(folds),
    pipelines: followPipelines(folds),
    outcomeModels: followOutcomeModels(folds),
    programmes: folds.follow(programmesFold, new Map<string, Programme>()),
    policyRules: followPolicyRules(folds),
    outreach: followOutreach(folds),
  })

export type SetUp = Awaited<ReturnType<typeof followSetUp>>

type Resolved<Promises> = { readonly [Name in keyof Promises]: Awaited<Promises[Name]> }

const allOf = async <Promises extends Readonly<Record<string, Promise<unknown>>>>(
  promises: Promises,
): Promise<Resolved<Promises>> => {
  const resolved = Object.entries(promises).map(async ([name, each]) => [name, await each] as const)
  return Object.fromEntries(await Promise.all(resolved)) as Resolved<Promises>
}

/** The parts from which capabilities of the command side are made: those of this process, and what several of them call. */
export const makeCommandSide = async (parts: Parts) => {
  const { config, keys, dataKeys, log, pool } = parts
  const known = await followSetUp(parts)
  const { accounts, catalogue, directory, paymentAccounts, pipelines } = known
  const writer = makeOwnWriter(parts)
  const earlierTable = makeEarlierTable({ writer, pool })
  writer.isErased = (subject, organisation_id) => dataKeys.isErased({ organisation_id, subject })
  writer.approval = makeApproval({ writer, keys, earlierTable })
  const calendar = readBankCalendar(config)
  const outbound = { allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP }
  /** Outside parties, and models, which take longer. */
  const outside = makeGuardedHttp({ ...outbound, timeoutMs: 3_000, bodyLimitBytes: 2 ** 20 })
  const shown: Shown = { eventLog: parts.eventLog, progress: parts.progress, withinMs: config.READ_YOUR_WRITES_MS }
  const hasScreening = (organisation_id: OrganisationId) =>
    accountOf(accounts, organisation_id, 'tpsclear') !== undefined
  const { organisations } = directory
  const turns = makeTurns()
  return {
    ...parts,
    ...known,
    ...betweenCapabilities(writer, catalogue),
    writer,
    earlierTable,
    turns,
    teamAlone: makeAlone({ pool, turns }, 'changes of a team'),
    calendar,
    outside,
    shown,
    baseUrl: config.BASE_URL,
    tokens: makeTokens(keys, config.BASE_URL),
    allowsHttp: plainPermission(outbound, 'http:'),
    isClockMovable: config.ENVIRONMENT !== 'production',
    dateAt: (organisation_id: OrganisationId, now: string) => dateIn(timeZoneOf(organisations, organisation_id), now),
    checkSecret: makeSecretCheck(),
    checkBankAccount: makeBankAccountCheck(config),
    inboundLimits: makeInboundLimits(parts),
    integrationLog: makeIntegrationLog(pool, log),
    ...makeRecentContent({ pool, log, logIsHere: logIsHere(config) }),
    quoteOwner: makeQuoteOwner({ ...parts, shown }),
    hasSold: makeHasSold({ ...parts, shown }),
    merchants: makeMerchants({ keys, paymentAccounts, http: outside }),
    leases: makeLeases(pool, { log }),
    openAccount: accountOpener(accounts, (sealed, binding) => unseal(keys, sealed, binding)),
    leads: makeLeads(writer, pipelines, hasScreening),
    isErased: makeIsErased(writer),
    people: makePeople({ writer, digest: dataKeys.digest }),
    claimNumber: makeClaimNumber(writer),
    waitUntilReadable: makeWaitUntilReadable(pool),
    setUpPolicy: makeSetUp({ writer, catalogue, organisations, rulesOf: known.policyRules, calendar }),
    snapshots: makeMembershipSnapshots(parts),
    models: makeGuardedHttp({ ...outbound, timeoutMs: 10_000, bodyLimitBytes: 2 ** 20 }),
  }
}
export type CommandSide = Awaited<ReturnType<typeof makeCommandSide>>

const makeOwnWriter = ({ config, dataKeys, eventLog, metrics, progress, signal }: Parts) => {
  const writer = makeWriter({
    log: eventLog,
    seen: async (stream, position) => {
      const wasSeen = await progress.wait(categoryOf(stream), position, config.READ_YOUR_WRITES_MS)
      if (!wasSeen && !signal.aborted) metrics.unseenWrites.inc()
    },
  })
  dataKeys.onForget(writer.forget)
  return writer
}

/** Questions that capabilities ask about each other's state. */
export const betweenCapabilities = (writer: Writer, catalogue: Catalogue) => {
  const applications = commandHandler(writer, application)
  const rules = commandHandler(writer, policyRules)
  const models = commandHandler(writer, outcomeModel)
  const paymentAccounts = commandHandler(writer, paymentAccount)
  return {
    reportUnknownNames: makeReportUnknownNames(namedTargets(writer.log, catalogue)),
    /** The answers about consent on an application. */
    answersOf: makeApplicationConsent(writer, catalogue),
    /** The application's customer at the time of the event. */
    customerOf: async ({ stream, revision }: RecordedEvent) =>
      (await applications.loadFrom(idOf(stream), revision))?.record.customer?.id,
    policyOf: commandHandler(writer, policy).load,
    applicationOf: async (id: string) => (await applications.load(id))?.record,
    pipelineOf: commandHandler(writer, pipeline).load,
    outcomeModelOf: async (organisation_id: OrganisationId) => (await models.load(organisation_id)) ?? seededModel,
    hasRpiFigures: async (organisation_id: OrganisationId) =>
      ((await rules.load(organisation_id))?.rpi ?? []).length > 0,
    hasPaymentAccount: async (organisation_id: OrganisationId, mode: PaymentMode) =>
      (await paymentAccounts.load(paymentAccountIdOf(organisation_id, mode))) !== undefined,
  }
}
export type BetweenCapabilities = ReturnType<typeof betweenCapabilities>
