import { vi } from 'vitest'
import type { CampaignRef } from '#domain/leads/events.ts'
import type { Position } from '#domain/event.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { ApiApplicationId, CustomerId, OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { Scope } from '#infra/http/route.ts'
import { makeLeads, type OneLeadCommand } from '../../command-api/live-leads.ts'
import { makeWriter } from '../../command-api/writer.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { leadRoutes } from '../../query-api/leads/routes.ts'
import { testDatabase } from '../database.ts'
import { fillReadModel } from '../read-model.ts'
import { serve, serverCaller } from '../serve.ts'
import { organisation_id, partner, pipeline, receive, user, website } from './builders.ts'

const patience = { timeout: 20_000, interval: 5 }
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
export const openLeads = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const log = postgresLog({ url: database.url })
  let time = '2026-01-15T12:00:00.000Z'
  const clock: Clock = { now: () => new Date(time) }
  const pipelines = pipelinesOf(new Map<string, Pipeline>([[organisation_id, pipeline]]))

  let read: Position | undefined
  let reading = Promise.resolve()
  const projections = [leads, leadFeed, leadRecords]
  const readOn = () => {
    reading = reading.then(async () => {
      const events = await log.readAll(read === undefined ? {} : { beyond: read })
      await fillReadModel(database.pool, projections, events)
      read = events.at(-1)?.position ?? read
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
  const made = makeLeads(writer, pipelines)
  const served = await serve(
    [...leadRoutes({ pool: database.pool, pipelines })],
    (request) => {
      const name = request.get('x-caller') ?? 'website'
      if (!isCaller(name)) throw new Error(`There is no caller ${name}.`)
      const scopes = request.get('x-scopes')
      return scopes === undefined ? callers[name] : { ...callers[name], scopes: new Set(scopes.split(' ') as Scope[]) }
    },
    { clock },
  )
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
      const contact_id = CustomerId.parse(crypto.randomUUID())
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
