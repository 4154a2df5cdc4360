import { randomBytes, randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import type { Application } from '#domain/applications/record.ts'
import { productEvents, type ProductEvent, type Release, type LifecycleState } from '#domain/catalogue/events.ts'
import { toStored, type Position } from '#domain/event.ts'
import type { Fields } from '#domain/rejection.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { ApiApplicationId, OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { makeLog } from '#infra/log.ts'
import { makeLiveFolds } from '#infra/consumers/live-folds.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { applicationRoutes as commandRoutes } from '../../command-api/applications/routes.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { followCatalogue } from '../../command-api/catalogue/live-catalogue.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { applications } from '../../projections/applications/projection.ts'
import { releases } from '../../projections/catalogue/projection.ts'
import { customers } from '../../projections/customers/projection.ts'
import { applicationRoutes as queryRoutes } from '../../query-api/applications/routes.ts'
import { teamApplicationRoutes } from '../../query-api/applications/team-routes.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { fillReadModel } from '../read-model.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'
import { jointRelease, marketRelease, organisation_id, release } from './release.ts'

const patience = { timeout: 60_000, interval: 5 }

const strangers = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
const api = (index: number) => ApiApplicationId.parse(`d0000000-0000-4000-8000-00000000000${index}`)

const callers = {
  server: serverCaller({ organisation_id, api_application_id: api(1) }),
  anotherServer: serverCaller({ organisation_id, api_application_id: api(2) }),
  browser: browserCaller({ organisation_id, api_application_id: api(3) }),
  anotherBrowser: browserCaller({ organisation_id, api_application_id: api(4) }),
  stranger: serverCaller({ organisation_id: strangers, api_application_id: api(5) }),
}
type CallerName = keyof typeof callers

const isCaller = (name: string): name is CallerName => name in callers

/** The headers of a request by this caller. */
export const as = (name: CallerName, headers: Record<string, string> = {}) => ({ ...headers, 'x-caller': name })

export type Body = {
  readonly data: Application
  readonly error: { readonly code: string; readonly message: string; readonly fields?: Fields }
}

/** Puts a product into the log: drafted, published, and in a state. */
const publish = async (log: EventLog, product: Release, lifecycle_state: LifecycleState) => {
  const { id: _id, number: _number, ...draft } = product
  const events: readonly ProductEvent[] = [
    { type: 'ProductDrafted', draft },
    { type: 'ReleasePublished', release: product },
    { type: 'ProductLifecycleChanged', organisation_id: product.organisation_id, lifecycle_state },
  ]
  const metadata = {
    organisation_id: product.organisation_id,
    actor: { type: 'operator', id: null },
    correlation_id: 'test',
    causation_id: null,
    occurred_at: new Date().toISOString(),
  } as const
  const stored = events.map((event) => ({ id: randomUUID(), ...toStored(productEvents, event), metadata }))
  await log.append(`product-${product.product_id}`, 'no_stream', stored)
}

const productOf = (index: number, slug: string, like = release): Release => ({
  ...like,
  id: ReleaseId.parse(`20000000-0000-4000-8000-00000000001${index}`),
  product_id: ProductId.parse(`10000000-0000-4000-8000-00000000001${index}`),
  slug,
})

/** Both APIs over applications, on a log and read models of their own. What a command answered can be read at once. */
export const applicationApis = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  const log = wholeLog(sealedLog(postgresLog({ url: database.url }), dataKeys, storedEvents), database.pool)
  const closing = new AbortController()
  await publish(log, release, 'production')
  await publish(log, productOf(1, 'health'), 'production')
  await publish(log, productOf(2, 'trial'), 'sandbox')
  await publish(log, productOf(4, 'couple', jointRelease), 'production')
  await publish(log, productOf(5, 'market', marketRelease), 'production')
  await publish(log, productOf(3, 'gone'), 'archived')
  const catalogue = await followCatalogue(
    log,
    makeLiveFolds({
      eventLog: log,
      log: makeLog('silent', 'test'),
      signal: closing.signal,
      progress: makeProgress(),
    }),
  )

  // A transaction of another test may still hide, from every reader, what was appended after it began.
  await vi.waitUntil(() => catalogue.current(organisation_id, 'gone')?.lifecycle_state === 'archived', patience)

  let read: Position | undefined
  let reading = Promise.resolve()
  const readOn = () => {
    reading = reading.then(async () => {
      const events = await log.readAll(read === undefined ? {} : { beyond: read })
      await fillReadModel(database.pool, [applications, customers, releases], events)
      read = events.at(-1)?.position ?? read
    })
    return reading
  }
  const seen = async (_stream: string, position: Position) => {
    await vi.waitUntil(async () => {
      await readOn()
      return read !== undefined && read >= position
    }, patience)
  }
  const writer = makeWriter({ log, seen })
  dataKeys.onForget(writer.forget)
  const organisation = { stripe_test_mode: false, time_zone: 'Europe/London' }
  const served = await serve(
    [
      ...commandRoutes({
        writer,
        keys,
        catalogue,
        quoteOwner: async () => undefined,
        policies: {
          claimNumber: async () => 'POL-000000000',
          setUp: async () => undefined,
          waitUntilReadable: async () => undefined,
          baseUrl: '',
        },
        checkBankAccount: () => true,
        merchants: () => undefined,
        organisations: new Map([organisation_id, strangers].map((id) => [id, organisation])),
        people: makePeople({ writer, digest: dataKeys.digest }),
      }),
      ...queryRoutes({ db: database.pool, keys }),
      ...teamApplicationRoutes({ db: database.pool, pool: database.pool, eventLog: log }),
    ],
    (request) => {
      const name = request.get('x-caller') ?? 'server'
      if (!isCaller(name)) throw new Error(`There is no caller ${name}.`)
      return callers[name]
    },
    { keys },
  )
  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const answered = await served.send(method, `/api/v1/applications${path}`, body, headers)
    return { ...answered, body: answered.body as Body } // the routes' own schemas have checked it
  }

  return {
    log,
    writer,
    keys,
    dataKeys,
    pool: database.pool,
    start: (changes: object = {}, headers?: Record<string, string>) =>
      send('POST', '', { product_slug: 'life', journey_slug: 'full', ...changes }, headers),
    get: (id: string, headers?: Record<string, string>) => send('GET', `/${id}`, undefined, headers),
    save: (id: string, body: unknown, headers?: Record<string, string>) => send('PATCH', `/${id}`, body, headers),
    saveSoftCustomer: (id: string, body: unknown, headers?: Record<string, string>) =>
      send('PATCH', `/${id}/soft_customer`, body, headers),
    chooseInterstitial: (id: string, body: unknown, headers?: Record<string, string>) =>
      send('PATCH', `/${id}/interstitial_choice`, body, headers),
    /** The operator's acts and views. */
    team: (method: string, path: string, body?: unknown) =>
      served.send(method, `/admin/v1/team_applications${path}`, body),
    searchMarket: (id: string, headers?: Record<string, string>) =>
      send('POST', `/${id}/market_quotes`, undefined, headers),
    selectResult: (id: string, body: unknown) => send('POST', `/${id}/market_quotes/select`, body),
    quote: (id: string) => send('POST', `/${id}/quotes`, {}),
    savePartner: (id: string, body: unknown, headers?: Record<string, string>) =>
      send('PATCH', `/${id}/partner`, body, headers),
    saveCustomer: (id: string, body: unknown, headers?: Record<string, string>) =>
      send('PATCH', `/${id}/customer`, body, headers),
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await served[Symbol.asyncDispose]()
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof applicationApis>>
