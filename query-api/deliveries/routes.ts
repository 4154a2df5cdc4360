import { z } from 'zod'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { operatorRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { readBodies } from './bodies.ts'
import { beginning, cursorAfter, pageParameters } from '../page.ts'

const State = z.enum(['pending', 'delivered', 'failed', 'cancelled'])

const Head = z
  .object({
    method: z.string().optional(),
    url: z.string().optional().describe('Without its query.'),
    status: z.int().optional(),
    headers: z.record(z.string(), z.string()).describe('Of headers that may hold a secret only the name.'),
    body: z
      .string()
      .optional()
      .describe('The first 4 kB; shown of a single delivery and of attempts that failed, until the person is erased.'),
  })
  .meta({ id: 'DeliveryAttemptHead' })

const Attempt = z
  .object({
    number: z.int(),
    started_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable().describe('null: it is being sent, or was lost with its worker.'),
    outcome: z
      .enum(['answered', 'unanswered', 'refused', 'not_sent', 'lost'])
      .nullable()
      .describe(
        'refused: the address may not be reached. not_sent: nothing could be sent, for a reason on our side. lost: its worker ended before it did. The last two do not count towards the five attempts.',
      ),
    status: z.int().nullable().describe('What the receiver answered.'),
    reason: z.string().nullable().describe('Why there was no answer, or why nothing was sent.'),
    request: Head.nullable().describe('What was sent, without secrets.'),
    response: Head.nullable().describe('What was answered, without secrets.'),
  })
  .meta({ id: 'DeliveryAttempt' })

const Subject = z.object({ type: z.string(), id: z.uuid() })

const Delivery = z
  .object({
    id: z.uuid().describe('Also the Idempotency-Key.'),
    organisation_id: OrganisationId,
    event_id: z.uuid(),
    type: z.string().describe('The published name of the event.'),
    sequence: z.int().describe('Greater for a later event of the same stream; also sent as X-Service-Sequence.'),
    subject: Subject.describe('What it is about: an application or a quote, for example.'),
    stream: z.string().describe('The stream of the event: `application-<id>` for an application and its quotes.'),
    action_id: z.uuid().describe('The action that asked for it.'),
    connection_id: z.uuid().describe('The connection that it is sent over.'),
    state: State,
    reason: z.string().nullable().describe('Why it failed or was cancelled.'),
    recorded_at: z.iso.datetime().describe('When the event was recorded.'),
    planned_at: z.iso.datetime(),
    due_at: z.iso.datetime().nullable().describe('When it is next tried, while it is pending.'),
    finished_at: z.iso.datetime().nullable(),
    attempts: z.array(Attempt),
  })
  .meta({ id: 'Delivery' })
type Delivery = z.output<typeof Delivery>

const Filters = z.object({
  organisation_id: OrganisationId,
  state: State.optional(),
  type: z.string().optional(),
  event_id: z.uuid().optional(),
  subject_id: z.uuid().optional(),
  stream: z.string().optional(),
  connection_id: z.uuid().optional(),
  since: SentInstant.optional().describe('Of events that were recorded at or after this time.'),
  until: SentInstant.optional().describe('Of events that were recorded before this time.'),
  ...pageParameters,
})
type Filters = z.output<typeof Filters>

type Deps = {
  /** For lists, which look at up to 10,000 rows: lookups of others must not wait behind them. */
  readonly pool: Database
  readonly db: Database
  readonly dataKeys: Pick<DataKeys, 'byId'>
}

/** The log of deliveries with every attempt: content, connection and outcome. */
export const deliveryRoutes = ({ pool, db, dataKeys }: Deps): Route[] => [
  route(
    {
      ...operatorRoute,
      method: 'get',
      address: '/admin/v1/deliveries',
      summary:
        'List the webhooks of an organisation with their attempts, newest event first. A page may hold fewer than limit, or none, although there are more: go on with next_cursor',
      query: Filters,
      answers: { 200: z.object({ data: z.array(Delivery), next_cursor: z.string().nullable() }) },
    },
    async ({ query }) => {
      const { keys, next } = await findKeys(pool, query)
      return {
        status: 200,
        body: {
          data: await readDeliveries(pool, keys),
          next_cursor: next ? cursorAfter(next.recorded_at, next.id) : null,
        },
      }
    },
  ),
  route(
    {
      ...operatorRoute,
      method: 'get',
      address: '/admin/v1/deliveries/:id',
      summary: 'Show a webhook with its attempts',
      path: z.object({ id: z.uuid() }),
      answers: { 200: z.object({ data: Delivery }) },
    },
    async ({ path }) => {
      const { rows } = await db.query<Key>(sql`select id, recorded_at from delivery where id = ${path.id}`)
      const [delivery] = await readDeliveries(db, rows)
      if (!delivery) throw notFound('delivery')
      const bodiesOf = await readBodies(db, dataKeys, delivery)
      return { status: 200, body: { data: { ...delivery, attempts: delivery.attempts.map(bodiesOf) } } }
    },
  ),
]

type Key = { readonly id: string; readonly recorded_at: Date }

/** A page reads no more rows than this, with any filter. */
const scanned = 10_000

/** The keys of a page, and where the next one begins. What no index holds is filtered among a bounded number of rows. */
const findKeys = async (
  pool: Database,
  { organisation_id, state, type, event_id, subject_id, stream, connection_id, limit, cursor, ...times }: Filters,
): Promise<{ readonly keys: readonly Key[]; readonly next: Key | undefined }> => {
  // Always bounds of the index, and never a condition that may be left unasked: that would be checked row by row.
  const { since = '-infinity', until } = times
  const { at, id } = beginning(cursor, until)
  const isFiltered = state !== undefined || type !== undefined || connection_id !== undefined
  const unsent = state === 'failed' || state === 'cancelled' ? 'and unsent_at is not null' : ''
  // A condition that is not asked for is left out, so that the right index is used.
  const indexed = [
    ...(event_id === undefined ? [] : [{ column: 'event_id', value: event_id }]),
    ...(subject_id === undefined ? [] : [{ column: 'subject_id', value: subject_id }]),
    ...(stream === undefined ? [] : [{ column: 'stream', value: stream }]),
  ]
  const values = [
    organisation_id,
    at,
    id,
    isFiltered ? scanned : limit + 1,
    limit + 1,
    state,
    type,
    connection_id,
    since,
  ]
  const { rows } = await pool.query<Key & { readonly matches: boolean }>({
    text: `with looked_at as materialized (
      select id, recorded_at, ($6::text is null or state = $6) and ($7::text is null or type = $7)
        and ($8::uuid is null or connection_id = $8) as matches
      from delivery
      where organisation_id = $1 and (recorded_at, id) < ($2::timestamptz, $3::uuid)
        and recorded_at >= $9::timestamptz and recorded_at <= $2::timestamptz ${unsent}
        ${indexed.map(({ column }, index) => `and ${column} = $${values.length + 1 + index}`).join(' ')}
      order by recorded_at desc, id desc limit $4
    ), numbered as (select *, row_number() over () as number from looked_at)
    (select id, recorded_at, true as matches from numbered where matches order by number limit $5)
    union all
    (select id, recorded_at, false from numbered where number = $4 and number = ${scanned})`,
    values: [...values, ...indexed.map(({ value }) => value)],
  })
  const matching = rows.filter(({ matches }) => matches)
  const keys = matching.slice(0, limit)
  return { keys, next: matching.length > limit ? keys.at(-1) : rows.find(({ matches }) => !matches) }
}

type Row = Omit<Delivery, 'recorded_at' | 'planned_at' | 'due_at' | 'finished_at'> & {
  readonly recorded_at: Date
  readonly planned_at: Date
  readonly due_at: Date | null
  readonly finished_at: Date | null
}

const readDeliveries = async (db: Database, keys: readonly Key[]): Promise<Delivery[]> => {
  if (keys.length === 0) return []
  const { rows } = await db.query<Row>(sql`
    select found.*, nullif(greatest(due_at, leased_until), 'infinity') as due_at, (
        select coalesce(json_agg(json_build_object('number', number, 'started_at', started_at, 'finished_at', finished_at,
          'outcome', outcome, 'status', status, 'reason', reason, 'request', exchange -> 'request',
          'response', exchange -> 'response') order by number), '[]')
        from (
          select number, started_at, finished_at, outcome, status, reason, exchange from delivery_attempt
          where delivery_id = found.id and delivery_attempt.recorded_at = found.recorded_at
          union all
          select attempts_before + sent + unsent + 1, started_at, null, null, null, null, null from delivery_queue
          where delivery_queue.id = found.id and started_at is not null) as attempt) as attempts
    from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ recorded_at }) => recorded_at)}::timestamptz[])
      with ordinality as wanted (id, recorded_at, place)
    cross join lateral (
      select id, organisation_id, event_id, type, sequence::integer, json_build_object('type', subject_type, 'id', subject_id) as subject,
        stream, action_id, connection_id, state, reason, recorded_at, planned_at, finished_at
      from delivery where id = wanted.id and recorded_at = wanted.recorded_at limit 1) as found
    left join delivery_queue on delivery_queue.id = found.id
    order by place`)
  return rows.map(shown)
}

const shown = ({ recorded_at, planned_at, due_at, finished_at, attempts, ...row }: Row): Delivery => ({
  ...row,
  recorded_at: recorded_at.toISOString(),
  planned_at: planned_at.toISOString(),
  due_at: due_at?.toISOString() ?? null,
  finished_at: finished_at?.toISOString() ?? null,
  attempts: attempts.map((attempt) => ({
    ...attempt,
    started_at: new Date(attempt.started_at).toISOString(),
    finished_at: attempt.finished_at === null ? null : new Date(attempt.finished_at).toISOString(),
  })),
})
