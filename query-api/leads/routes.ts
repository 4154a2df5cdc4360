import { z } from 'zod'
import { LeadFeedEvent, team } from '#domain/lead-feed/record.ts'
import { LeadStatus, type LeadShown } from '#domain/leads/events.ts'
import { isTerminal } from '#domain/leads/record.ts'
import { StageKind } from '#domain/pipeline/events.ts'
import { stageOf, type Pipelines } from '#domain/pipeline/record.ts'
import { CampaignId, CustomerId, SentInstant, type OrganisationId } from '#domain/values.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { route, type Route, type ScopeRule } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Limit, listOf, nextCursor, readCursor } from '../feed.ts'

const Lead = z
  .object({
    contact_id: CustomerId.describe('The lead’s id.'),
    external_system_id: z.string().nullable().describe('Its id in the organisation’s own CRM.'),
    status: LeadStatus,
    terminal: z.boolean().describe('Final: won, lost or ruled out.'),
    stage: z.object({
      key: z.string(),
      name: z.string(),
      kind: StageKind,
      probability: z.int().nullable().describe('The chance of a sale in percent.'),
    }),
    stage_entered_at: z.iso.datetime(),
    owner_assigned: z.boolean(),
    score: z.int().min(0).max(100),
    campaign_id: CampaignId.nullable(),
    first_touched_at: z.iso.datetime().nullable(),
    last_touched_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Lead' })

const LeadsQuery = z.object({
  status: listOf(LeadStatus).optional().describe('One or more statuses, separated by commas.'),
  campaign_id: CampaignId.optional(),
  cursor: Cursor.describe('The next_cursor of the page before; left out: from the beginning.'),
  updated_since: SentInstant.optional().describe(
    'From the leads that changed at or after this time on. Ignored with cursor.',
  ),
  limit: Limit,
})

export const EventsQuery = z.object({
  cursor: Cursor,
  contact_id: CustomerId.optional(),
  campaign_id: CampaignId.optional(),
  type: listOf(z.string().regex(/^[a-z_]+\.([a-z_]+|\*)$/, 'must be event types such as lead.created or activity.*'))
    .optional()
    .describe('One or more event types, separated by commas; activity.* is every activity.'),
  since: SentInstant.optional().describe('From what was recorded at or after this time on. Ignored with cursor.'),
  limit: Limit,
})

const readLeads: ScopeRule = [
  ['read', 'crm'],
  ['write', 'crm'],
]

type LeadRow = {
  readonly contact_id: CustomerId
  readonly position: string
  readonly external_system_id: string | null
  readonly document: LeadShown
  readonly updated_at: Date
}

export type EventRow = {
  readonly event_id: string
  readonly position: string
  readonly contact_id: CustomerId
  readonly external_system_id: string | null
  readonly campaign_id: CampaignId | null
  readonly type: string
  readonly recorded_at: Date
  readonly document: Pick<LeadFeedEvent, 'occurred_at' | 'campaign_key' | 'payload' | 'actor'>
}

type Deps = {
  /** For pages, which take longer than lookups of single records. */
  readonly pool: Database
  readonly pipelines: Pipelines
}

/** The two feeds of an API application about the leads that it sent. */
export const leadRoutes = ({ pool, pipelines }: Deps): Route[] => [
  route(
    {
      method: 'get',
      address: '/api/v1/crm/leads',
      tag: 'CRM',
      summary: 'List the leads that this application sent, oldest change first: a lead that changes comes round again',
      access: { kind: 'application', scopes: readLeads, serverOnly: true },
      query: LeadsQuery,
      answers: { 200: z.object({ data: z.array(Lead), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
      example: { query: { limit: '20' } },
    },
    async ({ query, caller }) => {
      const { organisation_id, api_application_id } = caller
      const { status, campaign_id, cursor, updated_since, limit } = query
      const place = readCursor('leads', cursor)
      const since = cursor === undefined ? updated_since : undefined
      const { rows } = await pool.query<LeadRow>(
        leadPage({ organisation_id, api_application_id, status, campaign_id, place, since, limit }),
      )
      const { stages } = pipelines(organisation_id)
      const data = rows.map((row) => shownLead(row, stages))
      return { status: 200, body: { data, next_cursor: nextCursor('leads', rows, cursor) } }
    },
  ),
  route(
    {
      method: 'get',
      address: '/api/v1/crm/events',
      tag: 'CRM',
      summary: 'List what happened to the leads that this application sent, oldest first',
      access: { kind: 'application', scopes: [['read', 'crm']], serverOnly: true },
      query: EventsQuery,
      answers: { 200: z.object({ data: z.array(LeadFeedEvent), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
      example: { query: { limit: '20' } },
    },
    async ({ query: { cursor, since, ...filters }, caller }) => {
      const { organisation_id, api_application_id } = caller
      const place = readCursor('events', cursor)
      const { rows } = await pool.query<EventRow>(
        eventPage({
          ...filters,
          organisation_id,
          viewer_id: api_application_id,
          place,
          since: cursor === undefined ? since : undefined,
        }),
      )
      return { status: 200, body: { data: rows.map(shownEvent), next_cursor: nextCursor('events', rows, cursor) } }
    },
  ),
]

const shownLead = (
  { contact_id, external_system_id, document, updated_at }: LeadRow,
  stages: ReturnType<Pipelines>['stages'],
): z.output<typeof Lead> => {
  const { stage, ...shown } = document
  const { label = stage.key, probability = null } = stageOf({ stages }, stage.key) ?? {}
  return {
    ...shown,
    contact_id,
    external_system_id,
    terminal: isTerminal(shown.status),
    stage: { ...stage, name: label, probability },
    updated_at: updated_at.toISOString(),
  }
}

export const shownEvent = ({ document, position: _position, type, recorded_at, ...row }: EventRow): LeadFeedEvent => ({
  ...row,
  ...document,
  event_type: type,
  recorded_at: recorded_at.toISOString(),
})

type LeadPage = {
  readonly organisation_id: OrganisationId
  readonly api_application_id: string
  readonly status: readonly LeadStatus[] | undefined
  readonly campaign_id: string | undefined
  readonly place: string
  readonly since: string | undefined
  readonly limit: number
}

const position = `"position" collate "C"`

type Values = { readonly values: unknown[]; readonly value: (given: unknown) => string }

const valuesOf = (...values: unknown[]): Values => ({ values, value: (given) => `$${values.push(given)}` })

/** The first rows of all pages together: each page is read in the order of the feed through an index of its own. */
const merged = (table: string, conditions: readonly (readonly string[])[]): string => {
  const pages = conditions.map(
    (each) => `(select * from ${table} where ${each.join(' and ')} order by ${position} limit $4)`,
  )
  return `select * from (${pages.join(' union all ')}) as found order by ${position} limit $4`
}

/**
 * The place from which a feed has everything of a time or later. The clocks of processes differ a little, so the first by
 * time need not be the first in the feed: it is among the first ones by time. No more are looked at, however many there are.
 * Rows shown late, after trouble with their record, count from then on; the few that there are say when in their places.
 */
const firstSince = (table: string, own: string, time: string, since: string): string => `(
  select min(${position}) from (
    (select "position" from ${table} where ${own} and ${time} >= ${since} order by ${time}, ${position} limit 1000)
    union all (select "position" from ${table} where ${own} and ${shownLateSince(since)})) as early
  where ${position} > $3)`

/** A place behind others is `<position>+<microseconds>+<position>`, as projections/place.ts makes it. */
const shownLateSince = (since: string): string => `"position" like '%+%'
  and lpad(split_part("position", '+', 2), 20, '0') collate "C"
    >= lpad(greatest(extract(epoch from ${since}::timestamptz) * 1000000, 0)::numeric(20)::text, 20, '0')`

/**
 * Beyond the cursor or, where one begins without, not before the first. Of one kind only: said so that the place helps with
 * no index but that of the kind. With another one PostgreSQL might look through all that is of other kinds.
 */
const beyond = (first: string | undefined, kind?: readonly [column: string, value: string]): readonly string[] => {
  const [compare, place] = first === undefined ? ['>', '$3'] : ['>=', first]
  if (!kind) return [`${position} ${compare} ${place}`]
  const [column, is] = kind
  return [`${column} = ${is}`, `(${column}, ${position}) ${compare} (${is}, ${place})`]
}

/** A page of the feed of leads. It costs the same however many leads are of other statuses or campaigns. */
const leadPage = ({ organisation_id, api_application_id, status, campaign_id, place, since, limit }: LeadPage) => {
  const { values, value } = valuesOf(organisation_id, api_application_id, place, limit)
  const own = `organisation_id = $1 and api_application_id = $2`
  const first = since === undefined ? undefined : firstSince('leads', own, 'updated_at', value(since))
  const campaign = campaign_id === undefined ? [] : [`campaign_id = ${value(campaign_id)}`]
  const wanted = status ?? (campaign_id === undefined ? undefined : LeadStatus.options)
  const text = merged(
    'leads',
    wanted?.map((each) => [own, ...campaign, ...beyond(first, ['status', value(each)])]) ?? [[own, ...beyond(first)]],
  )
  return { text, values }
}

type EventPage = {
  readonly organisation_id: OrganisationId
  readonly viewer_id: string
  readonly contact_id?: string | undefined
  readonly campaign_id?: string | undefined
  readonly type?: readonly string[] | undefined
  readonly place: string
  readonly since?: string | undefined
  readonly limit: number
}

const externalIdOfAll = `select document #>> '{marks,external_system_id}' from lead_records
  where lead_records.organisation_id = page.organisation_id and lead_records.contact_id = page.contact_id`
const externalIdOfSender = `select external_system_id from leads
  where leads.organisation_id = page.organisation_id and leads.api_application_id = page.viewer_id
    and leads.contact_id = page.contact_id`

/** A page of what happened. Types are read one after the other. */
export const eventPage = ({ organisation_id, viewer_id, contact_id, campaign_id, type, ...page }: EventPage) => {
  const { values, value } = valuesOf(organisation_id, viewer_id, page.place, page.limit)
  const own = `organisation_id = $1 and viewer_id = $2`
  const { since } = page
  const first = since === undefined ? undefined : firstSince('lead_events', own, 'recorded_at', value(since))
  const narrowed = [
    ...(contact_id === undefined ? [] : [`contact_id = ${value(contact_id)}`]),
    ...(campaign_id === undefined ? [] : [`campaign_id = ${value(campaign_id)}`]),
  ]
  const families = type?.filter((each) => each.endsWith('.*')).map((each) => each.slice(0, -2)) ?? []
  const types = type?.filter((each) => !families.includes(each.slice(0, each.indexOf('.')))) ?? []
  const wanted = [
    ...types.map((each) => ['type', value(each)] as const),
    ...families.map((each) => ['family', value(each)] as const),
  ]
  const conditions = wanted.map((each) => [own, ...narrowed, ...beyond(first, each)])
  // Not a join: PostgreSQL might read all leads for it.
  const text = `select event_id, "position", contact_id, campaign_id, type, recorded_at, document,
      (${viewer_id === team ? externalIdOfAll : externalIdOfSender}) as external_system_id
    from (${merged('lead_events', type === undefined ? [[own, ...narrowed, ...beyond(first)]] : conditions)}) as page
    order by ${position}`
  return { text, values }
}
