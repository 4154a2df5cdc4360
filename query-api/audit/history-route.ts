import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { kindOf, publishedName } from '#domain/event-kinds.ts'
import type { Json } from '#domain/event.ts'
import { money } from '#domain/money.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters, Revision } from '../page.ts'
import { AuditEvent, personalParameter, shownData, type Personal } from './event.ts'
import { historyOf, withoutPeople, type HistoryStep } from './record-history.ts'
import { findRecord, type FoundRecord } from './find-record.ts'
import { sentenceOf } from './sentences/all.ts'
import { userNames } from '../user-names.ts'
import { named, Who, whoOf } from './who.ts'

const WhoActed = Who.extend({
  said_to_be: z.string().nullable().describe('Of an operator key, which a program may have: for whom it said it acts.'),
}).meta({ id: 'Who' })

const Change = z
  .object({
    path: z.string().describe('Where in the record: `premiums.<id>.status`.'),
    before: z.unknown().describe('null: nothing.'),
    after: z.unknown(),
    masked: z.boolean().describe('True where the value, or a name within it, may identify a person: it is not shown.'),
  })
  .meta({ id: 'RecordChange' })

const HistoryEntry = AuditEvent.omit({ record: true, person_ids: true })
  .extend({
    sentence: z.string().describe('What happened, in words.'),
    who: WhoActed,
    cause: z
      .object({ reaction: z.string(), record: AuditEvent.shape.record })
      .nullable()
      .describe('Of a reaction: to an event of which record.'),
    basis: z
      .array(z.object({ name: z.string(), value: z.unknown() }))
      .describe('On what basis: reasons and notes, as they were given then.'),
    changes: z
      .array(Change)
      .nullable()
      .describe('What it changed in the record. null: the record cannot be followed as far as here.'),
    is_cut: z.boolean().describe('True where it changed more than is shown.'),
  })
  .meta({ id: 'HistoryEntry' })
type HistoryEntry = z.input<typeof HistoryEntry>

type Deps = {
  readonly db: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly applications: Directory['applications']
  readonly organisations: Directory['organisations']
}

/** The history of any record. */
export const auditHistoryRoute = (deps: Deps): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/records/:type/:id/history',
      summary: 'Tell what happened to a record, oldest first: who, when, on what basis, and what it changed',
      path: z.object({
        organisation_id: OrganisationId,
        type: z
          .string()
          .regex(/^[a-z_]{1,50}$/)
          .describe('`application`, `quote`, `policy`, `premium`, `claim`, `customer`, `lead` …'),
        id: z.uuid().toLowerCase(),
      }),
      query: z.object({
        limit: pageParameters.limit,
        cursor: Revision.optional().describe('The next_cursor of an earlier answer.'),
        personal: personalParameter,
      }),
      answers: { 200: z.object({ data: z.array(HistoryEntry), next_cursor: z.string().nullable() }) },
    },
    async ({ path, query }) => {
      const record = await findRecord(deps.db, path)
      if (!record) throw notFound('record')
      return { status: 200, body: await pageOf(deps, record, path.organisation_id, query) }
    },
  )

type Query = { readonly limit: number; readonly cursor?: number | undefined; readonly personal: Personal }

// An event can change some megabytes, a release for example.
const mostBytes = 4_000_000

const pageOf = async (deps: Deps, record: FoundRecord, organisation_id: OrganisationId, query: Query) => {
  const { limit, cursor = -1, personal } = query
  const data: HistoryEntry[] = []
  const nameOf = userNames(deps.eventLog)
  let bytes = 0
  let isOurs = false
  for await (const step of historyOf(deps.eventLog, { ...record, organisation_id, after: cursor, personal })) {
    isOurs = true
    const { revision } = step.recorded
    if (revision <= cursor || !isAbout(step, record)) continue
    if (data.length === limit || bytes > mostBytes) return { data, next_cursor: String(data.at(-1)?.revision) }
    const told = entryOf(deps, step, record, { organisation_id, personal })
    const entry = { ...told, who: await named(told.who, nameOf) }
    bytes += JSON.stringify(entry).length
    data.push(entry)
  }
  if (!isOurs) throw notFound('record')
  return { data, next_cursor: null }
}

/** Of a record that stands on the stream of another, such as a claim: what names it. */
const isAbout = ({ told }: HistoryStep, { part }: FoundRecord): boolean =>
  part === undefined || told?.[part.name] === part.id

const mostChanges = 200

const entryOf = (
  deps: Deps,
  { recorded, told, changes }: HistoryStep,
  { part }: FoundRecord,
  { organisation_id, personal }: { readonly organisation_id: OrganisationId; readonly personal: Personal },
): HistoryEntry => {
  const { id, revision, position, type, metadata, recorded_at } = recorded
  const { actor, correlation_id, causation_id, occurred_at, cause } = metadata
  const shown = shownData(recorded, personal)
  const own = part && changes?.filter(({ path }) => path.includes(part.id))
  const listed = own ?? changes
  const currency = deps.organisations.get(organisation_id)?.currency_code ?? 'GBP'
  return {
    event_id: id,
    position,
    revision,
    type,
    published_as: publishedName(kindOf(type, told ?? {})) ?? null,
    actor,
    request_id: correlation_id,
    caused_by: causation_id,
    occurred_at,
    recorded_at: recorded_at.toISOString(),
    ...shown,
    sentence: told
      ? sentenceOf(type, withoutPeople(told), (pence) =>
          pence === null ? 'an unknown amount' : money(pence, currency),
        )
      : 'What happened cannot be read any more.',
    who: {
      ...whoOf(deps.applications, actor, recorded.metadata),
      said_to_be: actor.type === 'operator' ? saidToBe(shown.data) : null,
    },
    cause: cause ? { reaction: cause.reaction, record: recordOf(cause.stream) } : null,
    basis: basisOf(shown.data),
    changes: listed?.slice(0, mostChanges).map(shownChange) ?? null,
    is_cut: (listed?.length ?? 0) > mostChanges,
  }
}

const shownChange = ({ path, before = null, after = null, masked }: NonNullable<HistoryStep['changes']>[number]) => ({
  path,
  before,
  after,
  masked,
})

const recordOf = (stream: string) => {
  const dash = stream.indexOf('-')
  return { type: stream.slice(0, dash), id: stream.slice(dash + 1) }
}

/** The fields in which an event says who acted, as they were typed in. */
const actors = ['by', 'decided_by', 'requested_by', 'made_by'] as const

const Said = z.union([z.string().min(1), z.object({ name: z.string().min(1) }).transform(({ name }) => name)])

const saidToBe = (data: Json): string | null =>
  actors.map((name) => Said.safeParse(data[name]).data).find((said) => said !== undefined) ?? null

/** The fields in which events say why, by whom, or on whose word. */
const reasons: readonly string[] = [
  'reason',
  'reason_code',
  'reason_message',
  'cause',
  'why',
  'note',
  'by',
  'method',
  'wording',
  'how',
  'via',
  'source',
]

const basisOf = (data: Json) =>
  reasons.flatMap((name) => {
    const value = data[name]
    return value === undefined || value === null || value === '' ? [] : [{ name, value }]
  })
