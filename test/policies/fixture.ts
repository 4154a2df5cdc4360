import { randomBytes, randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { toStored, type Position } from '#domain/event.ts'
import type { CardCapture } from '#domain/payment-accounts/events.ts'
import type { Policy } from '#domain/policies/record.ts'
import type { Fields } from '#domain/rejection.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { ApplicationId, OrganisationId, PolicyId, QuoteId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { derivedId } from '#infra/ids.ts'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'
import { makeStripe } from '#infra/stripe/provider.ts'
import { outsideHttp } from '../outside-http.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { makeApplications } from '../../command-api/applications/applications.ts'
import { bindRoute } from '../../command-api/applications/bind-route.ts'
import { cardRoutes } from '../../command-api/applications/card-routes.ts'
import { checkoutRoutes } from '../../command-api/applications/checkout-routes.ts'
import { directDebitRoutes } from '../../command-api/applications/direct-debit-routes.ts'
import { mandateRoutes } from '../../command-api/applications/mandate-routes.ts'
import { quoteRoutes } from '../../command-api/applications/quote-routes.ts'
import { settlementRoutes } from '../../command-api/payments/settlement-routes.ts'
import type { Catalogue } from '../../command-api/catalogue/live-catalogue.ts'
import { makeClaimNumber } from '../../command-api/policies/number.ts'
import { makeWaitUntilReadable } from '../../command-api/policies/readable.ts'
import { makeCheckMandate } from '../../command-api/payments/check-mandate.ts'
import { makeReplaceBankDetails } from '../../command-api/payments/policy-mandates.ts'
import { premiumRoutes } from '../../command-api/premiums/routes.ts'
import { policyAdminRoutes } from '../../command-api/policies/routes.ts'
import { claimRoutes } from '../../command-api/claims/routes.ts'
import { servicingRoutes } from '../../command-api/policies/servicing-routes.ts'
import { makeSetUp } from '../../command-api/policies/set-up.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { applications as applicationsModel } from '../../projections/applications/projection.ts'
import { policies } from '../../projections/policies/projection.ts'
import { quotes } from '../../projections/quotes/projection.ts'
import { policyRoutes } from '../../query-api/policies/routes.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { organisation_id } from '../applications/release.ts'
import { checkoutRelease, sha256 } from '../checkout/builders.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { mortal, type Kill } from '../killed-process.ts'
import { quote } from '../quotes/builders.ts'
import { tables } from '../rating/request.ts'
import { fillReadModel } from '../read-model.ts'
import { stateOf } from '../scenario.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'
import { anna, bankDetailsSaved } from './builders.ts'
import { england } from './calendars.ts'

export const quotedAt = '2026-06-01T09:00:00.000Z'

const baseUrl = 'https://service.example'

const strangers = OrganisationId.parse('99999999-0000-4000-8000-000000000001')

export type Body = {
  readonly data: Policy
  readonly error: { readonly code: string; readonly message: string; readonly fields?: Fields }
}

type Started = Extract<ApplicationEvent, { type: 'ApplicationStarted' }>

type Firm = { readonly release?: Release; readonly calendar?: BankCalendar }

/** The way from a quote to a policy over real HTTP, on a log of its own whose personal data is sealed, at a time that tests move. */
export const openSales = async ({ release = checkoutRelease(), calendar = england }: Firm = {}) => {
  const database = await testDatabase()
  await migrate(database.pool)
  await prepareLog(database.pool)
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  const log = wholeLog(sealedLog(postgresLog({ url: database.url }), dataKeys, storedEvents), database.pool)
  const projections = [applicationsModel, quotes, policies]
  await fillReadModel(database.pool, projections, [])
  const owners = new Map<string, ApplicationId>()
  let now = quotedAt
  const stripe = await startStripe()
  const provider = makeStripe(outsideHttp(() => false))({
    base_url: stripe.url,
    secret_key: 'sk_test_northlight',
    stripe_account: null,
  })
  let capture: CardCapture = 'manual'
  const merchants = () => ({ provider, publishable_key: null, stripe_account: null, capture })
  const checkBankAccount = makeBankAccountCheck({
    MODULUS_WEIGHTS_FILE: undefined,
    MODULUS_SUBSTITUTIONS_FILE: undefined,
  })

  let read: Position | undefined
  let reading = Promise.resolve()
  const project = () => {
    reading = reading.then(async () => {
      const events = await log.readAll(read === undefined ? {} : { beyond: read })
      await fillReadModel(database.pool, projections, events)
      read = events.at(-1)?.position ?? read
    })
    return reading
  }
  // A transaction of another test may still hide, from every reader, what was appended after it began.
  const seen = async (_stream: string, position: Position) => {
    await vi.waitUntil(
      async () => {
        await project()
        return read !== undefined && read >= position
      },
      { timeout: 60_000, interval: 5 },
    )
  }
  const whileProjecting =
    <Given extends readonly unknown[]>(work: (...given: Given) => Promise<void>) =>
    async (...given: Given) => {
      const under = { way: true }
      const done = work(...given).finally(() => (under.way = false))
      while (under.way) await project()
      await done
    }
  const catalogue: Catalogue = {
    current: () => ({ release, lifecycle_state: 'production' }),
    release: async () => release,
    rateTable: async (_organisation, key) => tables.get(key),
    rateTablesOf: async () => tables,
    slugs: () => [release.slug],
  }
  const callers = {
    server: serverCaller({ organisation_id }),
    browser: browserCaller({ organisation_id }),
    stranger: serverCaller({ organisation_id: strangers }),
  }
  const ownerOf = async (_organisation: string, id: string) => {
    const application_id = owners.get(id)
    return application_id && { application_id }
  }

  /** A process of its own, that may be killed. */
  const startProcess = async (kill?: Kill) => {
    const own = mortal(kill)
    const writer = makeWriter({ log: own.log(log), seen })
    const ownMerchants = () => ({ ...merchants(), provider: own.provider(provider) })
    const organisations = new Map([[organisation_id, { stripe_test_mode: true, time_zone: 'Europe/London' }]])
    const applications = makeApplications({
      writer,
      keys,
      catalogue,
      quoteOwner: async (organisation, id) =>
        organisation === organisation_id ? ownerOf(organisation, id) : undefined,
      organisations,
    })
    const setUp = makeSetUp({ calendar, writer, catalogue, organisations, rulesOf: policyRulesOf(new Map()) })
    const served = await serve(
      [
        ...quoteRoutes(applications),
        ...directDebitRoutes({ applications, checkBankAccount }),
        ...mandateRoutes({ applications, merchants: ownMerchants }),
        ...cardRoutes({ applications, merchants: ownMerchants }),
        ...checkoutRoutes({ applications }),
        ...settlementRoutes(applications),
        bindRoute({
          applications,
          merchants: ownMerchants,
          policies: {
            claimNumber: makeClaimNumber(writer),
            setUp,
            waitUntilReadable: whileProjecting(makeWaitUntilReadable(database.pool)),
            baseUrl,
          },
        }),
        ...servicingRoutes({
          calendar,
          writer,
          baseUrl,
          catalogue,
        }),
        ...claimRoutes({
          calendar,
          writer,
          isErased: async () => false,
          dateAt: (_organisation, at) => at.slice(0, 10),
        }),
        ...premiumRoutes({ calendar, writer, baseUrl, dateAt: (_organisation, at) => at.slice(0, 10) }),
        ...policyAdminRoutes({
          calendar,
          writer,
          baseUrl,
          checkMandate: makeCheckMandate({ writer, merchants: ownMerchants }),
          replaceBankDetails: makeReplaceBankDetails({ writer, checkBankAccount }),
          dateAt: (_organisation, at) => at.slice(0, 10),
        }),
        ...policyRoutes({
          pool: database.pool,
          db: database.pool,
          eventLog: log,
          files: makeSealedFiles({ pool: database.pool, dataKeys }),
          baseUrl,
        }),
      ],
      (request) => callers[(request.get('x-caller') ?? 'server') as keyof typeof callers],
      { keys, owners: { quote: ownerOf, policy: ownerOf }, clock: { now: () => new Date(now) } },
    )
    return {
      ...served,
      writer,
      merchants: ownMerchants,
      setUp,
      bind: async (quote_id: string, body: object = {}, headers?: Record<string, string>) => {
        const answer = await served.post(`/api/v1/quotes/${quote_id}/bind`, body, headers)
        return { ...answer, body: answer.body as Body } // the routes' own schemas have checked it
      },
      confirm: (quote_id: string) => served.post(`/api/v1/quotes/${quote_id}/confirm`),
    }
  }
  const main = await startProcess()

  const append = async (application_id: ApplicationId, events: readonly ApplicationStreamEvent[]) => {
    const metadata = {
      organisation_id,
      actor: { type: 'system', id: null } as const,
      correlation_id: 'test',
      causation_id: null,
      occurred_at: now,
    }
    const added = events.map((event) => ({ id: randomUUID(), ...toStored(applicationStreamEvents, event), metadata }))
    await log.append(`application-${application_id}`, 'any', added)
  }

  const filledIn = (application_id: ApplicationId, changes: Partial<Started>, customer: Partial<typeof anna>) => [
    started({ application_id, inline_bacs_mandate: false, direct_debit_first: true, ...changes }),
    customerSaved(customer),
    answered({ smoker: false }),
    covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
  ]
  const owns = (application_id: ApplicationId, quote_id: string) => {
    owners.set(quote_id, application_id)
    owners.set(derivedId('policy', organisation_id, quote_id), application_id)
  }

  return {
    ...main,
    log,
    owns,
    /** How cards are charged from now on. */
    chargeCards: (how: CardCapture) => (capture = how),
    /** An application that can be quoted. */
    filled: async (changes: Partial<Started> = {}) => {
      const application_id = ApplicationId.parse(randomUUID())
      await append(application_id, filledIn(application_id, changes, anna))
      return application_id
    },
    stripe,
    provider,
    merchants,
    catalogue,
    dataKeys,
    pool: database.pool,
    startProcess,
    project,
    append,
    clock: (to: string) => (now = to),
    typesOf: async (stream: string) => (await log.read(stream)).map(({ type }) => type),
    eventsOf: async (stream: string) => log.read(stream),
    policyIdOf: (quote_id: string) => PolicyId.parse(derivedId('policy', organisation_id, quote_id)),
    /** An application that was quoted, confirmed, and has bank details: ready to be bound. */
    ready: async ({
      customer = anna,
      confirmed = true,
      banked = true,
      ...changes
    }: Partial<Started> & {
      readonly customer?: Partial<typeof anna>
      readonly confirmed?: boolean
      readonly banked?: boolean
    } = {}) => {
      const application_id = ApplicationId.parse(randomUUID())
      const quote_id = QuoteId.parse(randomUUID())
      const given = filledIn(application_id, changes, customer)
      const issued = application.decide(quoting(quote_id, release), stateOf(application, given, quotedAt))
      await append(application_id, [...given, ...issued, ...(banked ? [bankDetailsSaved(quote_id)] : [])])
      owns(application_id, quote_id)
      await project()
      if (confirmed) await main.confirm(quote_id)
      return { application_id, quote_id, share: shareTokenOf(keys, application_id) }
    },
    [Symbol.asyncDispose]: async () => {
      await main[Symbol.asyncDispose]()
      await stripe.close()
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type Sales = Awaited<ReturnType<typeof openSales>>

const quoting = (quote_id: QuoteId, release: Release) => quote({ quote_id, release, now: quotedAt, digest: sha256 })
