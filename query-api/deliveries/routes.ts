import { z } from 'zod'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import { isWithin } from '#infra/http/team.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { readBodies } from './bodies.ts'
import { Delivery, DeliveryState, readDeliveries, type DeliveryKey } from '../delivery-log.ts'
import { beginning, cursorAfter, pageParameters } from '../page.ts'

const Filters = z.object({
  organisation_id: OrganisationId,
  state: DeliveryState.optional(),
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
      ...teamRoute('owner', 'operator'),
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
      ...teamRoute('owner', 'operator'),
      method: 'get',
      address: '/admin/v1/deliveries/:id',
      summary: 'Show a webhook with its attempts',
      path: z.object({ id: z.uuid() }),
      answers: { 200: z.object({ data: Delivery }) },
    },
    async ({ path, user }) => {
      const { rows } = await db.query<DeliveryKey>(sql`select id, recorded_at from delivery where id = ${path.id}`)
      const [delivery] = await readDeliveries(db, rows)
      if (!delivery || !isWithin({ user }, delivery.organisation_id)) throw notFound('delivery')
      const bodiesOf = await readBodies(db, dataKeys, delivery)
      return { status: 200, body: { data: { ...delivery, attempts: delivery.attempts.map(bodiesOf) } } }
    },
  ),
]

/** A page reads no more rows than this, with any filter. */
const scanned = 10_000

/** The keys of a page, and where the next one begins. What no index holds is filtered among a bounded number of rows. */
const findKeys = async (
  pool: Database,
  { organisation_id, state, type, event_id, subject_id, stream, connection_id, limit, cursor, ...times }: Filters,
): Promise<{ readonly keys: readonly DeliveryKey[]; readonly next: DeliveryKey | undefined }> => {
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
  const { rows } = await pool.query<DeliveryKey & { readonly matches: boolean }>({
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
