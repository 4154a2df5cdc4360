import { z } from 'zod'
import { DeliveryRecoveryId, EndedState } from '#domain/deliveries/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import { isWithin } from '#infra/http/team.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { pageOf, pageParameters, readCursor } from '../page.ts'

const Recovery = z
  .object({
    id: DeliveryRecoveryId,
    organisation_id: OrganisationId,
    requested_at: z.iso.datetime(),
    delivery_id: z.uuid().nullable(),
    connection_id: z.uuid().nullable(),
    types: z.array(z.string()).nullable().describe('null: all.'),
    states: z.array(EndedState),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    per_second: z.number(),
    resent: z.int().describe('How many were put back into the queue so far.'),
    skipped: z.int().describe('How many were not: they wait already, or their connection or organisation is gone.'),
    finished_at: z.iso.datetime().nullable().describe('When all were put back; null: it goes on.'),
  })
  .meta({ id: 'DeliveryRecovery' })
type Recovery = z.output<typeof Recovery>

const ConnectionState = z
  .object({
    connection_id: z.uuid(),
    organisation_id: OrganisationId,
    standing: z
      .enum(['new', 'closed', 'slow', 'open', 'half_open'])
      .describe('Of the circuit breaker; closed: it answers in time.'),
    failing_since: z.iso.datetime().nullable().describe('Counted where the connection may be disabled.'),
    disabled_at: z.iso.datetime().nullable().describe('Since when nothing is sent over it; what is planned waits.'),
    waiting: z.int().describe('Deliveries that are pending, counted up to 10,000.'),
    oldest_waiting_at: z.iso.datetime().nullable().describe('When the oldest of their events was recorded.'),
  })
  .meta({ id: 'DeliveryConnection' })
type ConnectionState = z.output<typeof ConnectionState>

type Times = 'requested_at' | 'since' | 'until' | 'finished_at'
type Row = Omit<Recovery, Times> & {
  readonly requested_at: Date
  readonly since: Date
  readonly until: Date
  readonly finished_at: Date | null
}
type ConnectionRow = Omit<ConnectionState, 'failing_since' | 'disabled_at' | 'oldest_waiting_at'> & {
  readonly failing_since: Date | null
  readonly disabled_at: Date | null
  readonly oldest_waiting_at: Date | null
}

const columns = `id, organisation_id, requested_at, delivery_id, connection_id, types, states, since, until, per_second, resent,
  skipped, finished_at`

/** Deliveries sent again at the operator's request, and the state of connections. */
export const deliveryRecoveryRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      ...impersonalRoute('owner', 'operator'),
      method: 'get',
      address: '/admin/v1/delivery_recoveries',
      summary: 'List what the operator asked to be sent again, newest first, with how far it is',
      query: z.object({ organisation_id: OrganisationId, ...pageParameters }),
      answers: { 200: z.object({ data: z.array(Recovery), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, limit, cursor } }) => {
      const place = cursor === undefined ? undefined : readCursor(cursor)
      const { rows } = await pool.query<Row>({
        text: `select ${columns} from delivery_recovery
          where organisation_id = $1 ${place ? 'and (requested_at, id) < ($3, $4::uuid)' : ''}
          order by requested_at desc, id desc limit $2`,
        values: [organisation_id, limit + 1, ...(place ? [place.at, place.id] : [])],
      })
      const { page, next_cursor } = pageOf(rows, limit, ({ requested_at: at, id }) => ({ at, id }))
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
  route(
    {
      ...impersonalRoute('owner', 'operator'),
      method: 'get',
      address: '/admin/v1/delivery_recoveries/:id',
      summary: 'Show how far it is that deliveries are sent again',
      path: z.object({ id: DeliveryRecoveryId }),
      answers: { 200: z.object({ data: Recovery }) },
    },
    async ({ path, user }) => {
      const { rows } = await pool.query<Row>({
        text: `select ${columns} from delivery_recovery where id = $1`,
        values: [path.id],
      })
      if (!rows[0] || !isWithin({ user }, rows[0].organisation_id)) throw notFound('delivery recovery')
      return { status: 200, body: { data: shown(rows[0]) } }
    },
  ),
  route(
    {
      ...impersonalRoute('owner', 'operator'),
      method: 'get',
      address: '/admin/v1/delivery_connections',
      summary: 'List how the connections of an organisation do that have something to send or settings of their own',
      query: z.object({ organisation_id: OrganisationId, limit: pageParameters.limit, cursor: Cursor }),
      answers: { 200: z.object({ data: z.array(ConnectionState), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, limit, cursor } }) => {
      const after = cursor === undefined ? lowest : readCursor(cursor).id
      const { rows } = await pool.query<ConnectionRow>(sql`
        with recursive pending as (
          (select connection_id, 1 as number from delivery_queue
            where organisation_id = ${organisation_id} and connection_id > ${after}
            order by connection_id limit 1)
          union all
          select next.connection_id, number + 1 from pending cross join lateral (
            select connection_id from delivery_queue
            where organisation_id = ${organisation_id} and connection_id > pending.connection_id
            order by connection_id limit 1) as next
          where number <= ${limit}
        ), listed as (
          select connection_id from pending
          union
          (select connection_id from delivery_setting
            where organisation_id = ${organisation_id} and connection_id > ${after} order by connection_id
            limit ${limit + 1})
        )
        select connection_id, ${organisation_id}::uuid as organisation_id, coalesce(state, 'new') as standing,
          failing_since, disabled_at, coalesce(waiting, 0) as waiting, oldest_waiting_at
        from listed left join delivery_setting using (connection_id) left join delivery_endpoint using (connection_id)
        left join lateral (
          select count(*)::integer as waiting, min(recorded_at) as oldest_waiting_at from (
            select recorded_at from delivery_queue as queue
            where queue.organisation_id = ${organisation_id} and queue.connection_id = listed.connection_id
            order by due_at limit 10000) as counted) as queued on true
        order by connection_id limit ${limit + 1}`)
      const { page, next_cursor } = pageOf(rows, limit, ({ connection_id: id }) => ({ at: new Date(0), id }))
      return { status: 200, body: { data: page.map(shownConnection), next_cursor } }
    },
  ),
]

/** Before every other. */
const lowest = '00000000-0000-0000-0000-000000000000'

const shown = ({ requested_at, since, until, finished_at, ...row }: Row): Recovery => ({
  ...row,
  requested_at: requested_at.toISOString(),
  since: since.toISOString(),
  until: until.toISOString(),
  finished_at: finished_at?.toISOString() ?? null,
})

const shownConnection = (row: ConnectionRow): ConnectionState => ({
  ...row,
  failing_since: row.failing_since?.toISOString() ?? null,
  disabled_at: row.disabled_at?.toISOString() ?? null,
  oldest_waiting_at: row.oldest_waiting_at?.toISOString() ?? null,
})
