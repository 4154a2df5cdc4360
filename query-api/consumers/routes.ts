import type { Pool } from 'pg'
import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { auditConsumer } from '#infra/audit-tree/tree-rows.ts'
import { consumerHealth, type ConsumerRecord } from '#infra/consumers/checkpoint.ts'
import { heldLeases } from '#infra/consumers/lease.ts'
import { readRequestedRebuilds, type RequestedRebuild } from '#infra/consumers/requested-rebuilds.ts'
import { lastFaults, pageOfSetAside } from '#infra/consumers/set-aside.ts'
import { waitingSince } from '#infra/consumers/standstill.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { realNow } from '#infra/clock.ts'
import { cursorOf, readCursorAs } from '#infra/http/cursor.ts'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import { readModelVersions } from '#infra/read-models.ts'
import { faultOf } from '#infra/reason.ts'
import { pageParameters } from '../page.ts'

const Fault = z.object({
  event_id: z.uuid(),
  event_type: z.string(),
  fault: z.string().describe('Name, code and place in the code; `OwnError` of an error of our own. Never its message.'),
  set_aside_at: z.iso.datetime(),
})

const Rebuild = z
  .object({
    state: z.enum(['waiting', 'under_way', 'done', 'given_up']),
    requested_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable().describe('One whose process was ended in the middle is begun again.'),
    done: z.int().describe('How much of the log it has read, in the unit of `behind`.'),
    total: z.int().nullable().describe('How much there is to read; null: that is not known yet.'),
    finished_at: z.iso.datetime().nullable(),
    fault: z.string().nullable().describe('Why it was given up. The read model is then as it was.'),
  })
  .meta({ id: 'ReadModelRebuild' })

const Consumer = z
  .object({
    name: z.string(),
    role: z.string().nullable().describe('Whose processes run it; null where none of this version has yet.'),
    version: z.int(),
    state: z
      .enum(['running', 'set_aside', 'rebuilding', 'not_leased'])
      .describe('`set_aside`: it runs, and records wait. `not_leased`: no process runs it at the moment.'),
    position: z.string().nullable().describe('Up to here it has handled the log; null: nothing yet.'),
    head: z.string().nullable().describe('The end of the log.'),
    behind: z.int().describe('How far it is behind the end: in events in PostgreSQL, in bytes in EventStoreDB.'),
    behind_seconds: z.number().describe('For how long the next event has waited for it.'),
    records_set_aside: z.int(),
    is_resumable: z.boolean().describe('False where rows belong to several records: then it is rebuilt instead.'),
    is_rebuildable: z.boolean().describe('True of read models.'),
    held: z
      .object({ process_id: z.uuid().nullable(), since: z.iso.datetime().nullable() })
      .nullable()
      .describe('The process that runs it, where one does.'),
    last_fault: Fault.nullable().describe('Of the records that wait, the one that was set aside last.'),
    rebuild: Rebuild.nullable().describe('The last that was asked for.'),
  })
  .meta({ id: 'Consumer' })
type Consumer = z.infer<typeof Consumer>

const SetAsideRecord = z
  .object({
    record: z.string().describe('The stream of the record that waits.'),
    stream: z.string().describe('A stream whose events wait with it.'),
    revision: z.int().describe('From this event of the stream on.'),
    event_id: z.uuid(),
    event_type: z.string(),
    fault: z.string().nullable().describe('As in `last_fault`; null where it only waits behind another event.'),
    set_aside_at: z.iso.datetime(),
    resume_requested_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'SetAsideRecord' })

type Parts = {
  readonly pool: Pool
  /** As it is stored: nothing of an event is read but its time. */
  readonly storedLog: Pick<EventLog, 'head' | 'measure' | 'readAll'>
}

/** True for the rest of a rebuild that was ended in the middle, which the next one removes. */
const isLeft = ({ name }: ConsumerRecord): boolean => name.endsWith(' (rebuild)')

/** The lease under which a process runs a consumer. */
const leasesOf = (name: string): readonly string[] =>
  name === auditConsumer.name ? [auditConsumer.lease] : [name, `read model ${name}`]

const rebuildLease = (name: string): string => `rebuild ${name}`

const rebuildState = ({ started_at, finished_at, failure }: RequestedRebuild) => {
  if (finished_at) return failure === null ? 'done' : 'given_up'
  return started_at ? 'under_way' : 'waiting'
}

const shownRebuild = (rebuild: RequestedRebuild): z.infer<typeof Rebuild> => ({
  state: rebuildState(rebuild),
  requested_at: rebuild.requested_at.toISOString(),
  started_at: rebuild.started_at?.toISOString() ?? null,
  done: rebuild.done,
  total: rebuild.total,
  finished_at: rebuild.finished_at?.toISOString() ?? null,
  fault: rebuild.failure === null ? null : faultOf(rebuild.failure),
})

type Known = { readonly held: ReadonlySet<string>; readonly rebuild: RequestedRebuild | undefined }

const stateOf = ({ name, set_aside }: ConsumerRecord, { held, rebuild }: Known): Consumer['state'] => {
  if (held.has(rebuildLease(name))) return 'rebuilding'
  if (!leasesOf(name).some((lease) => held.has(lease))) return 'not_leased'
  if (rebuild?.finished_at === null) return 'rebuilding'
  return set_aside > 0 ? 'set_aside' : 'running'
}

/** All consumers of the log, in whichever process they run, with what they hold and how far behind they are. */
const readConsumers = async ({ pool, storedLog }: Parts): Promise<Consumer[]> => {
  const [found, head] = await Promise.all([consumerHealth(pool), storedLog.head()])
  const stored = found.filter((each) => !isLeft(each))
  const names = stored.map(({ name }) => name)
  const [held, faults, rebuilds] = await Promise.all([
    heldLeases(pool, [...names.flatMap(leasesOf), ...names.map(rebuildLease)]),
    lastFaults(pool, names),
    readRequestedRebuilds(pool),
  ])
  const since = waitingSince(storedLog)
  const now = realNow()
  return Promise.all(
    stored.map(async (each) => {
      const { name, version, role, position, taken_by, taken_at, set_aside, shares_rows } = each
      const isBehind = head !== undefined && (position === null || position < head)
      const waits = isBehind ? await since(position) : undefined
      const fault = faults.get(name)
      const rebuild = rebuilds.get(name)
      return {
        name,
        role,
        version,
        state: stateOf(each, { held, rebuild }),
        position,
        head: head ?? null,
        behind: isBehind ? storedLog.measure(head) - (position === null ? 0 : storedLog.measure(position)) : 0,
        behind_seconds: waits ? Math.max(0, Math.round((now - waits.getTime()) / 100) / 10) : 0,
        records_set_aside: set_aside,
        is_resumable: !shares_rows,
        is_rebuildable: readModelVersions.has(name),
        held: leasesOf(name).some((lease) => held.has(lease))
          ? { process_id: taken_by, since: taken_at?.toISOString() ?? null }
          : null,
        last_fault: fault
          ? {
              event_id: fault.event_id,
              event_type: fault.type,
              fault: faultOf(fault.reason),
              set_aside_at: fault.set_aside_at.toISOString(),
            }
          : null,
        rebuild: rebuild ? shownRebuild(rebuild) : null,
      }
    }),
  )
}

export const ConsumerName = z.string().min(1).max(300)

const requireConsumer = async (parts: Parts, name: string): Promise<Consumer> => {
  const found = (await readConsumers(parts)).find((each) => each.name === name)
  if (!found) throw notFound('consumer')
  return found
}

const Place = z.tuple([z.string(), z.string()])

/** The work that follows the log, as operators see it. */
export const consumerRoutes = (parts: Parts): Route[] => [
  route(
    {
      ...impersonalRoute('operator'),
      method: 'get',
      address: '/admin/v1/consumers',
      summary: 'List all that follows the log: read models, reactions and plans, with how far behind each is',
      answers: { 200: z.object({ data: z.array(Consumer) }) },
    },
    async () => ({ status: 200, body: { data: await readConsumers(parts) } }),
  ),
  route(
    {
      ...impersonalRoute('operator'),
      method: 'get',
      address: '/admin/v1/consumers/:name',
      summary: 'Show one of them',
      path: z.object({ name: ConsumerName }),
      example: { path: { name: 'applications' } },
      answers: { 200: z.object({ data: Consumer }) },
    },
    async ({ path: { name } }) => ({ status: 200, body: { data: await requireConsumer(parts, name) } }),
  ),
  route(
    {
      ...impersonalRoute('operator'),
      method: 'get',
      address: '/admin/v1/consumers/:name/set_aside',
      summary: 'List the records that it has set aside, and what each waits for',
      path: z.object({ name: ConsumerName }),
      query: z.object(pageParameters),
      example: { path: { name: 'applications' } },
      answers: { 200: z.object({ data: z.array(SetAsideRecord), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { name }, query: { limit, cursor } }) => {
      const after = cursor === undefined ? undefined : readCursorAs(cursor, Place)
      await requireConsumer(parts, name)
      const rows = await pageOfSetAside(parts.pool, name, { after, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const data = page.map(({ type, reason, set_aside_at, resume_requested_at, ...each }) => ({
        ...each,
        event_type: type,
        fault: reason === null ? null : faultOf(reason),
        set_aside_at: set_aside_at.toISOString(),
        resume_requested_at: resume_requested_at?.toISOString() ?? null,
      }))
      return { status: 200, body: { data, next_cursor: last ? cursorOf([last.record, last.stream]) : null } }
    },
  ),
]
