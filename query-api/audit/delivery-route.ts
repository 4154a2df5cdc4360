import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { Delivery, readDeliveries, type DeliveryKey } from '../delivery-log.ts'

const mostShown = 1_000

/** The webhooks that told of an event, however long ago. */
export const auditDeliveryRoute = ({ pool }: { readonly pool: Database }): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/events/:event_id/deliveries',
      summary:
        'Show what was sent of an event: where, when, with which answer and the digest of its body. Up to 1,000 webhooks, the first planned first',
      path: z.object({ organisation_id: OrganisationId, event_id: z.uuid() }),
      answers: { 200: z.object({ data: z.array(Delivery) }) },
    },
    async ({ path: { organisation_id, event_id } }) => {
      const { rows } = await pool.query<DeliveryKey>(sql`
        select id, recorded_at from (
          select id, recorded_at, planned_at from delivery
          where event_id = ${event_id} and organisation_id = ${organisation_id}
          union all
          select id, recorded_at, planned_at from delivery_kept
          where event_id = ${event_id} and organisation_id = ${organisation_id}) as told
        order by planned_at, id limit ${mostShown}`)
      if (rows.length === 0 && !(await isThere(pool, organisation_id, event_id))) throw notFound('event')
      return { status: 200, body: { data: await readDeliveries(pool, rows) } }
    },
  )

/** The audit log has an entry of every event, by its id. */
const isThere = async (db: Database, organisation_id: string, event_id: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql`
    select from audit_leaf join audit_tree on audit_tree.id = tree_id
    where event_id = ${event_id} and organisation_id = ${organisation_id} limit 1`)
  return rowCount === 1
}
