import { randomBytes, randomUUID } from 'node:crypto'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { pricedInputs } from '#domain/applications/state.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { toStored } from '#domain/event.ts'
import type { CardCapture } from '#domain/payment-accounts/events.ts'
import type { Fields } from '#domain/rejection.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { ApplicationId, OrganisationId, QuoteId } from '#domain/values.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeBankAccountCheck } from '#infra/modulus-weights.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { makeStripe } from '#infra/stripe/provider.ts'
import { makeApplications } from '../../command-api/applications/applications.ts'
import { digest } from '../../command-api/applications/digest.ts'
import { cardRoutes } from '../../command-api/applications/card-routes.ts'
import { directDebitRoutes } from '../../command-api/applications/direct-debit-routes.ts'
import { mandateRoutes } from '../../command-api/applications/mandate-routes.ts'
import type { Merchant } from '../../command-api/payments/merchants.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { outsideHttp } from '../outside-http.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { organisation_id } from '../applications/release.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { born, quote, termRelease } from '../quotes/builders.ts'
import { stateOf } from '../scenario.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'

export const quotedAt = '2026-06-01T09:00:00.000Z'
export const runsOutAt = '2026-07-01T09:00:00.000Z'

const strangers = OrganisationId.parse('99999999-0000-4000-8000-000000000001')

export type Body = {
  readonly data: Readonly<Record<string, unknown>>
  readonly error: { readonly code: string; readonly message: string; readonly fields?: Fields }
}

type Started = Extract<ApplicationEvent, { type: 'ApplicationStarted' }>

/** The operations on quotes over real HTTP, on a log of their own whose personal data is sealed, at a time that tests move. */
export const openCheckout = async () => {
  const database = await testDatabase()
  await migrate(database.pool)
  await prepareLog(database.pool)
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  const stored = wholeLog(postgresLog({ url: database.url }), database.pool)
  const log = sealedLog(stored, dataKeys, storedEvents)
  const owners = new Map<string, ApplicationId>()
  let now = quotedAt
  let sold: Release = termRelease
  let capture: CardCapture = 'automatic'
  let hasAccount = true

  const writer = makeWriter({ log, seen: async () => undefined })
  const quoteOwner = async (_organisation: string, id: string) => {
    const application_id = owners.get(id)
    return application_id && { application_id }
  }
  const applications = makeApplications({
    writer,
    keys,
    catalogue: { release: async () => sold } as never, // nothing else of the catalogue is read
    quoteOwner: async (organisation, id) =>
      organisation === organisation_id ? quoteOwner(organisation, id) : undefined,
    organisations: new Map([[organisation_id, { stripe_test_mode: true, time_zone: 'Europe/London' }]]),
  })
  const callers = {
    server: serverCaller({ organisation_id }),
    browser: browserCaller({ organisation_id }),
    stranger: serverCaller({ organisation_id: strangers }),
  }
  const checkBankAccount = makeBankAccountCheck({
    MODULUS_WEIGHTS_FILE: undefined,
    MODULUS_SUBSTITUTIONS_FILE: undefined,
  })
  const stripe = await startStripe()
  const providerOf = makeStripe(outsideHttp(() => false))
  const merchant = (): Merchant => ({
    provider: providerOf({ base_url: stripe.url, secret_key: 'sk_test_northlight', stripe_account: null }),
    publishable_key: 'pk_test_northlight',
    stripe_account: null,
    capture,
  })
  const merchants = () => (hasAccount ? merchant() : undefined)
  const served = await serve(
    [
      ...directDebitRoutes({ applications, checkBankAccount }),
      ...mandateRoutes({ applications, merchants }),
      ...cardRoutes({ applications, merchants }),
    ],
    (request) => callers[(request.get('x-caller') ?? 'server') as keyof typeof callers],
    { keys, owners: { quote: quoteOwner }, clock: { now: () => new Date(now) } },
  )

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

  return {
    stripe,
    merchant,
    applications,
    writer,
    /** How cards are charged from now on. */
    chargeCards: (how: CardCapture) => (capture = how),
    /** Whether the organisation has an account with the provider. */
    haveAccount: (has: boolean) => (hasAccount = has),
    /** Whether the customer must see something before buying. */
    sell: (release: Release) => (sold = release),
    /** What the page, the cardholder and the banks do. */
    act: async (path: string, fields: Record<string, string> = {}) =>
      fetch(`${stripe.url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) }),
    log,
    stored,
    pool: database.pool,
    clock: (to: string) => (now = to),
    append,
    eventsOf: async (application_id: ApplicationId) => log.read(`application-${application_id}`),
    /** An application that was just quoted. */
    quoted: async ({ customer = born, ...changes }: Partial<Started> & { customer?: typeof born | null } = {}) => {
      const application_id = ApplicationId.parse(randomUUID())
      const quote_id = QuoteId.parse(randomUUID())
      const given: ApplicationStreamEvent[] = [
        started({ application_id, ...changes }),
        ...(customer ? [customerSaved(customer)] : []),
        answered({ smoker: false }),
        covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
      ]
      // Before there is a customer, the price is that of a soft customer, whose date of birth is the same.
      const priced = [...given.slice(0, 1), customerSaved(born), ...given.slice(customer ? 2 : 1)]
      const command = quote({ quote_id, digest, now: quotedAt })
      const issued = application.decide(command, stateOf(application, priced, quotedAt))
      await append(application_id, [...given, ...(customer ? issued : repriced(given, issued))])
      owners.set(quote_id, application_id)
      return { application_id, quote_id, share: shareTokenOf(keys, application_id) }
    },
    post: async (quote_id: string, operation: string, body?: unknown, headers?: Record<string, string>) => {
      const answer = await served.post(`/api/v1/quotes/${quote_id}/${operation}`, body, headers)
      return { ...answer, body: answer.body as Body } // the routes' own schemas have checked it
    },
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await stripe.close()
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type Checkout = Awaited<ReturnType<typeof openCheckout>>

const repriced = (given: readonly ApplicationStreamEvent[], issued: readonly ApplicationStreamEvent[]) => {
  const state = stateOf(application, given, quotedAt)
  if (!state) throw new Error('The application was not started.')
  const inputs_digest = digest(pricedInputs(state))
  return issued.map((event) => (event.type === 'QuoteIssued' ? { ...event, inputs_digest } : event))
}
