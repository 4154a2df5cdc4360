import { randomBytes } from 'node:crypto'
import { vi } from 'vitest'
import { emptyDirectory } from '#domain/access/record.ts'
import type { CampaignRef } from '#domain/leads/events.ts'
import { categoryOf, fromStored, type Position, type RecordedEvent } from '#domain/event.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { ApiApplicationId, ApplicationId, CustomerId, OrganisationId } from '#domain/values.ts'
import { customer } from '#domain/customers/customer.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import type { OutcomeModel } from '#domain/outcomes/events.ts'
import { outcomeModelsOf, seededModel } from '#domain/outcomes/record.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import type { Clock } from '#infra/clock.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { Scope } from '#infra/http/route.ts'
import type { Catalogue } from '../../command-api/catalogue/live-catalogue.ts'
import { betweenCapabilities, type CommandSide } from '../../command-api/command-side.ts'
import { customers as customersCapability } from '../../command-api/customers/capability.ts'
import { erasures as erasuresCapability } from '../../command-api/erasures/capability.ts'
import { leads as leadsCapability } from '../../command-api/leads/capability.ts'
import { outcomes as outcomesCapability } from '../../command-api/outcomes/capability.ts'
import { pipeline as pipelineCapability } from '../../command-api/pipeline/capability.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { contextOf, type SomeReaction } from '../../command-api/reactions/reaction.ts'
import { makeLeads, type OneLeadCommand } from '../../command-api/leads/live-leads.ts'
import { makeIsErased } from '../../command-api/retention/is-erased.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { consentHistory, customers, verificationHistory } from '../../projections/customers/projection.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { heldOutcomes, outcomes } from '../../projections/outcomes/projection.ts'
import { products } from '../../projections/catalogue/projection.ts'
import { customerAdminRoutes } from '../../query-api/customers/routes.ts'
import { leadAdminRoutes } from '../../query-api/leads/admin-routes.ts'
import { leadRoutes } from '../../query-api/leads/routes.ts'
import { outcomeRoutes } from '../../query-api/outcomes/routes.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { fillReadModel } from '../read-model.ts'
import { samples } from '../stored-events/samples.ts'
import { serve, serverCaller } from '../serve.ts'
import { organisation_id, partner, pipeline, receive, user, website } from './builders.ts'

const never = new AbortController().signal

const northlight = {
  id: organisation_id,
  slug: 'northlight',
  name: 'Northlight',
  currency_code: 'GBP',
  time_zone: 'Europe/London',
  stripe_test_mode: true,
  active: true,
}

/** A product with an alias. */
const sold = { products: [{ key: 'term-life', name: 'Term life', aliases: ['TL1'] }] }

const patience = { timeout: 60_000, interval: 5 }
const strangers = OrganisationId.parse('99999999-0000-4000-8000-000000000001')

const callers = {
  website: serverCaller({ organisation_id, api_application_id: website }),
  partner: serverCaller({ organisation_id, api_application_id: partner }),
  stranger: serverCaller({ organisation_id: strangers, api_application_id: ApiApplicationId.parse(website) }),
}
export type CallerName = keyof typeof callers

const isCaller = (name: string): name is CallerName => name in callers

/** The headers of a request by this caller, with these scopes. */
export const as = (name: CallerName, scopes?: readonly Scope[]): Record<string, string> => ({
  'x-caller': name,
  ...(scopes && { 'x-scopes': scopes.join(' ') }),
})

/** Leads, outcomes and what is read of them, on a log and read models of their own. What was written can be read at once. */
export const openLeads = async (declared: Partial<OutcomeModel> = {}) => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const log = wholeLog(postgresLog({ url: database.url }), database.pool)
  let time = '2026-01-15T12:00:00.000Z'
  const clock: Clock = { now: () => new Date(time) }
  const pipelines = pipelinesOf(new Map<string, Pipeline>([[organisation_id, pipeline]]))

  let read: Position | undefined
  const pending: RecordedEvent[] = []
  let reading = Promise.resolve()
  const projections = [
    products,
    customers,
    consentHistory,
    verificationHistory,
    leads,
    leadFeed,
    leadRecords,
    outcomes,
    heldOutcomes,
  ]
  let reactions: readonly SomeReaction[] = []
  let heldBack: string | undefined
  const react = async (recorded: RecordedEvent) => {
    for (const reaction of reactions) {
      if (reaction.name === heldBack) continue
      const isWanted = reaction.categories.includes(categoryOf(recorded.stream)) && recorded.type in reaction.events
      const context = isWanted && contextOf(reaction, recorded, never)
      if (context) await reaction.react(fromStored(reaction.events, recorded) as never, recorded, context)
    }
  }
  const readOn = () => {
    reading = reading.then(async () => {
      const events = await log.readAll(read === undefined ? {} : { beyond: read })
      await fillReadModel(database.pool, projections, events)
      read = events.at(-1)?.position ?? read
      pending.push(...events)
    })
    return reading
  }
  await readOn()
  const writer = makeWriter({
    log,
    seen: async (_stream, position) => {
      await vi.waitUntil(async () => {
        await readOn()
        return read !== undefined && read >= position
      }, patience)
    },
  })
  const made = makeLeads(writer, pipelines, () => true)
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  const directory = emptyDirectory()
  directory.organisations.set(organisation_id, northlight)
  directory.organisations.set(strangers, { ...northlight, id: strangers })
  const models = {
    pipelines,
    outcomeModels: outcomeModelsOf(new Map([[organisation_id, { ...seededModel, ...sold, ...declared }]])),
  }
  const catalogue = { slugs: () => [], release: async () => undefined }
  const people = makePeople({ writer, digest: dataKeys.digest })
  const shown = { eventLog: log, progress: { wait: async () => true }, withinMs: 0 }
  // What else the command side is made from, nothing of this calls.
  const side = {
    ...betweenCapabilities(writer, catalogue as unknown as Catalogue),
    ...models,
    writer,
    pool: database.pool,
    shown,
    directory,
    dataKeys,
    leads: made,
    isErased: makeIsErased(writer),
    catalogue,
    people,
    keys,
    clock,
    baseUrl: 'https://cover.example',
    // Nothing works by itself here but reactions.
    signal: AbortSignal.abort(),
  } as unknown as CommandSide
  const capabilities = [
    customersCapability,
    erasuresCapability,
    pipelineCapability,
    leadsCapability,
    outcomesCapability,
  ]
  reactions = capabilities.flatMap(({ work }) => work?.(side).reactions ?? [])
  const served = await serve(
    [
      ...leadRoutes({ pool: database.pool, pipelines }),
      ...leadAdminRoutes({ pool: database.pool, eventLog: log, pipelines }),
      ...customerAdminRoutes({ pool: database.pool }),
      ...outcomeRoutes({
        pool: database.pool,
        outcomeModels: models.outcomeModels,
        applications: directory.applications,
      }),
      ...capabilities.flatMap(({ routes }) => routes?.(side) ?? []),
    ],
    (request) => {
      const name = request.get('x-caller') ?? 'website'
      if (!isCaller(name)) throw new Error(`There is no caller ${name}.`)
      const scopes = request.get('x-scopes')
      return scopes === undefined ? callers[name] : { ...callers[name], scopes: new Set(scopes.split(' ') as Scope[]) }
    },
    { clock },
  )
  const customersOf = commandHandler(writer, customer)
  const context = () => ({
    organisation_id,
    actor: { type: 'operator', id: null } as const,
    correlation_id: 'test',
    now: time,
  })

  return {
    ...served,
    pool: database.pool,
    log,
    writer,
    leads: made,
    directory,
    /** Reacts to what has happened, until everything that followed can be read. */
    settled: async () => {
      for (await readOn(); pending.length > 0; await readOn()) for (const event of pending.splice(0)) await react(event)
    },
    /** Reacts once more to all that has happened, as another process might. */
    reactAgain: async () => {
      for (const event of await log.readAll()) await react(event)
    },
    /** The reaction of this name does nothing for now. */
    holdBack: (name: string | undefined) => {
      heldBack = name
    },
    /** Puts a stored sample into the log, in this stream. */
    happened: async (name: string, stream?: string) => {
      const sample = samples.find((each) => each.name === name)?.event
      if (!sample) throw new Error(`There is no sample ${name}.`)
      const { type, schema_version, data, metadata } = sample
      const event = { id: crypto.randomUUID(), type, schema_version, data, metadata }
      await log.append(stream ?? sample.stream, 'any', [event])
    },
    /** Puts an event into the log. */
    append: async (stream: string, { type, data }: { readonly type: string; readonly data: object }) => {
      const { now, ...metadata } = context()
      const event = { id: crypto.randomUUID(), type, schema_version: 1, data: { ...data } }
      await log.append(stream, 'any', [{ ...event, metadata: { ...metadata, causation_id: null, occurred_at: now } }])
    },
    /** What is known of the person of a lead. */
    know: async (customer_id: CustomerId, details: Partial<CustomerDetails>) => {
      if (details.email)
        await people.claim({ organisation_id, kind: 'email', value: details.email }, customer_id, context())
      const application_id = ApplicationId.parse(crypto.randomUUID())
      const known = { ...nothingKnown, ...details }
      const command = { type: 'RecordCustomer', organisation_id, customer_id, application_id, by: 'server' } as const
      await customersOf.handle(customer_id, { ...command, details: known, sent: details }, context())
    },
    claimExternalId: (customer_id: CustomerId, value: string) =>
      people.claim({ organisation_id, kind: 'external_id', value }, customer_id, context()),
    context,
    at: (instant: string) => {
      time = instant
    },
    /** Acts on a lead, as a member of the team. */
    act: async (contact_id: CustomerId, ...acts: readonly OneLeadCommand[]) =>
      made.handle({ contact_id, acts, by: user }, context()),
    /** Sends a new lead in. */
    send: async (
      sender = website,
      changes: Parameters<typeof receive>[0] = {},
      campaign: CampaignRef | null = null,
    ) => {
      const contact_id = changes.contact_id ?? CustomerId.parse(crypto.randomUUID())
      const arrival = receive({ contact_id, ingest_id: crypto.randomUUID(), api_application_id: sender, ...changes })
      await made.handle({ contact_id, acts: [arrival], by: { type: 'api', name: 'Website' }, campaign }, context())
      return contact_id
    },
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof openLeads>>
