import { changesOf } from '#domain/changes.ts'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { RecordedEvent } from '#domain/event.ts'
import { Rejection } from '#domain/rejection.ts'
import { ApiApplicationId, OrganisationId, SentInstant, type OrganisationId as Organisation } from '#domain/values.ts'
import { inBusinessTime } from '#infra/clock.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { parseRequest, Problem } from '#infra/http/problem.ts'
import { auditRoute, route, type CheckedRequest, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { asOfAddresses } from './addresses.ts'
import { isKnownAt, type Moment } from './moment.ts'
import { relatedEvents } from './related-events.ts'
import { untilFound } from './until-found.ts'
import {
  makeSeats,
  openSeat,
  shownCategories,
  type FoundRoute,
  type RoutesOver,
  type Seat,
  type Seats,
} from './seat.ts'

type Deps = {
  readonly pool: Pool
  readonly db: Database
  readonly eventLog: EventLog
  readonly routesOver: RoutesOver
}

const Position = z.string().min(1).max(200)
const Address = z
  .string()
  .max(2_000)
  .regex(/^\/(api|admin)\/v1\/./, 'must begin with /api/v1/ or /admin/v1/')
  .refine((address) => !/\0|%00/.test(address), 'must not contain the character U+0000')
  .describe('What is asked for, as it is asked for now, with its own parameters: `/admin/v1/policies/<id>/record`.')

const atPosition = 'What the log knew up to this position: the `position` of an event.'
const atKnown = 'What the log knew at this moment: the events that were recorded by then.'
const atHappened = 'Of what was known, only what had happened by then, in business time.'

const AsOf = z
  .object({
    address: z.string(),
    events: z.int().describe('So many events were looked at.'),
    last_position: z.string().nullable().describe('The position of the last of these. null: there is none.'),
    answer: z.unknown().describe('The answer as it was, in the shape that it has now.'),
  })
  .meta({ id: 'AsOf' })

const Difference = z
  .object({
    address: z.string(),
    changes: z.array(
      z.object({
        path: z.string().describe('Where in the answer: `data.premiums[0].status`.'),
        before: z.unknown().describe('null: nothing.'),
        after: z.unknown().describe('null: nothing.'),
      }),
    ),
  })
  .meta({ id: 'Difference' })

const path = z.object({ organisation_id: OrganisationId })
const seats = 2

/** A record as it was at a moment, and its differences between two. */
export const asOfRoutes = (deps: Deps): { readonly routes: readonly Route[]; readonly close: () => Promise<void> } => {
  const waiting = makeSeats(seats, async () => openSeat(deps.pool, deps.eventLog, deps.routesOver))
  const showing = { ...deps, seats: waiting }
  return { routes: [asOfRoute(showing), differenceRoute(showing)], close: waiting.close }
}

type Showing = Deps & { readonly seats: Seats }

const asOfRoute = (deps: Showing): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/as_of',
      summary: 'Show a record as it was at a moment, as the address that shows it now would have',
      path,
      query: z.object({
        address: Address,
        position: Position.optional().describe(atPosition),
        known_at: SentInstant.optional().describe(atKnown),
        happened_at: SentInstant.optional().describe(atHappened),
      }),
      example: { query: { address: '/api/v1/products', known_at: '2100-01-01T00:00:00.000Z' } },
      answers: { 200: z.object({ data: AsOf }) },
      errors: ['invalid_parameter', 'conflict'],
    },
    async ({ path: { organisation_id }, query: { address, ...moment }, ...facts }) => {
      if ((moment.position === undefined) === (moment.known_at === undefined)) throw oneMoment('position', 'known_at')
      const shown = await showAt(deps, { organisation_id, address, moment }, facts)
      const last_position = shown.events.at(-1)?.position ?? null
      return {
        status: 200,
        body: { data: { address, events: shown.events.length, last_position, answer: shown.answer } },
      }
    },
  )

const differenceRoute = (deps: Showing): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/difference',
      summary: 'Show how a record differs between two moments: each value before and after',
      path,
      query: z.object({
        address: Address,
        from_position: Position.optional().describe(atPosition),
        from_known_at: SentInstant.optional().describe(atKnown),
        to_position: Position.optional().describe(`${atPosition} Neither of the two: now.`),
        to_known_at: SentInstant.optional().describe(atKnown),
      }),
      example: { query: { address: '/api/v1/products', from_known_at: '2020-01-01T00:00:00.000Z' } },
      answers: { 200: z.object({ data: Difference }) },
      errors: ['invalid_parameter', 'conflict'],
    },
    async ({ path: { organisation_id }, query, ...facts }) => {
      const { address, from_position, from_known_at, to_position, to_known_at } = query
      if ((from_position === undefined) === (from_known_at === undefined))
        throw oneMoment('from_position', 'from_known_at')
      if (to_position !== undefined && to_known_at !== undefined) throw oneMoment('to_position', 'to_known_at')
      const at = async (moment: Moment) => showOrNothing(deps, { organisation_id, address, moment }, facts)
      const before = await at({ position: from_position, known_at: from_known_at })
      const after = await at({ position: to_position, known_at: to_known_at })
      if (before === nothing && after === nothing) throw new Problem('not_found', 'It was there at neither moment.')
      const changes = changesOf(before, after).map((change) => ({
        path: change.path,
        before: change.before ?? null,
        after: change.after ?? null,
      }))
      return { status: 200, body: { data: { address, changes } } }
    },
  )

const oneMoment = (one: string, other: string) =>
  new Problem('invalid_parameter', `Give one of ${one} and ${other}.`, {
    fields: { [one]: `Give either this or ${other}.` },
  })

type Asked = { readonly organisation_id: Organisation; readonly address: string; readonly moment: Moment }

const nothing = {}

/** Before it was there, it is nothing. */
const showOrNothing = async (deps: Showing, asked: Asked, facts: RequestFacts): Promise<unknown> => {
  try {
    return (await showAt(deps, asked, facts)).answer
  } catch (error) {
    if ((error instanceof Problem || error instanceof Rejection) && error.code === 'not_found') return nothing
    throw error
  }
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

const showAt = async (
  { seats: waiting, pool: db, eventLog }: Showing,
  { organisation_id, address, moment }: Asked,
  facts: RequestFacts,
): Promise<{ readonly answer: unknown; readonly events: readonly RecordedEvent[] }> =>
  waiting.with(organisation_id, async (seat) => {
    const url = new URL(address, 'http://service')
    const { found, types } = requireShown(seat, url.pathname)
    await untilFound({ db, eventLog }, moment)
    const isKnown = isKnownAt(moment)
    const ids = [...new Set((decodeURI(address).match(uuid) ?? []).map((id) => id.toLowerCase()))]
    const events = await relatedEvents(
      { db, eventLog },
      {
        organisation_id,
        ids: ids.filter((id) => id !== organisation_id),
        types: [...types, ...seat.setUpTypes],
        categories: shownCategories,
        isKnown,
      },
    )
    const checked = checkedRequest(found, url, organisation_id, { ...facts, now: nowAt(moment, events, facts.now) })
    const setEventAside = (event: RecordedEvent): void => {
      if (moment.happened_at !== undefined) throw cannotFollow(event)
    }
    const { body } = await seat.over({ events, setEventAside }, async () => found.route.handle(checked))
    return { answer: body, events }
  })

const requireShown = (
  seat: Seat,
  pathname: string,
): { readonly found: FoundRoute; readonly types: readonly string[] } => {
  const found = seat.find(pathname)
  const refused = (reason: string) =>
    new Problem('invalid_parameter', 'Correct address and send the request again.', { fields: { address: reason } })
  if (!found) throw refused('is not an address that query-api answers')
  const asOf = asOfAddresses[found.route.spec.address]
  if (!asOf || 'because' in asOf) throw refused(`cannot be shown as of a moment. ${asOf?.because ?? ''}`.trim())
  return { found, types: asOf.types }
}

const cannotFollow = ({ id, type }: RecordedEvent) =>
  new Problem(
    'conflict',
    `${type} (event ${id}) had happened by then, and cannot be followed without what had not. Leave happened_at out.`,
  )

/** The time to which a record that depends on it is shown: when the last event happened, or the moment that is asked for. */
const nowAt = ({ known_at, happened_at }: Moment, events: readonly RecordedEvent[], now: string): string => {
  if (happened_at !== undefined) return happened_at
  return known_at === undefined ? (events.at(-1)?.metadata.occurred_at ?? now) : inBusinessTime(known_at, now)
}

/** The request as the organisation's own server, or whoever looks into the past, would send it. */
const checkedRequest = (
  { route: { spec }, params }: FoundRoute,
  { searchParams }: URL,
  organisation_id: Organisation,
  facts: RequestFacts,
): CheckedRequest => {
  const sent = params()
  if (sent['organisation_id'] !== undefined && sent['organisation_id'].toLowerCase() !== organisation_id)
    throw new Problem('not_found', 'There is nothing at this address. Check the id in it.')
  const query = { ...Object.fromEntries(searchParams), ...(asksForOrganisation(spec.query) && { organisation_id }) }
  const caller = {
    organisation_id,
    api_application_id: ApiApplicationId.parse(organisation_id),
    // A page of the firm: what lets somebody act for a customer is not shown to whoever only looks.
    kind: 'browser' as const,
    scopes: new Set(['read', 'write', 'crm', 'outcomes'] as const),
  }
  return {
    ...facts,
    path: spec.path && parseRequest(spec.path, sent, 'not_found'),
    query: spec.query && parseRequest(spec.query, query, 'invalid_parameter'),
    body: undefined,
    text: undefined,
    numbers: [],
    caller: spec.access.kind === 'application' ? caller : undefined,
  }
}

const asksForOrganisation = (schema: z.ZodType | undefined): boolean =>
  schema instanceof z.ZodObject && 'organisation_id' in schema.shape
