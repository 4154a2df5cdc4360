import { z } from 'zod'
import { LifecycleEventType } from '#domain/workflows/events.ts'
import { OrganisationId, ProductId, SentInstant } from '#domain/values.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Limit, listOf, nextCursor, readCursor } from '../feed.ts'

const LifecycleEvent = z
  .object({
    id: z.uuid(),
    type: z.string().describe('For example policy.bound. New types can be added.'),
    occurred_at: z.iso.datetime(),
    recorded_at: z.iso.datetime(),
    sequence: z.int().describe('Greater for a later event of the same record.'),
    aggregate: z.object({ type: z.string(), id: z.uuid() }),
    payload: z.record(z.string(), z.unknown()),
    product_id: ProductId.nullable(),
    organization_id: OrganisationId,
  })
  .meta({ id: 'LifecycleEvent' })
type LifecycleEvent = z.output<typeof LifecycleEvent>

const Query = z.object({
  cursor: Cursor.describe('The next_cursor of the page before; left out: from the beginning.'),
  type: listOf(z.string().regex(/^[a-z_]+\.[a-z_]+$/, 'must be event types such as policy.bound'))
    .optional()
    .describe(`One or more event types, separated by commas: ${LifecycleEventType.options.slice(0, 3).join(', ')} …`),
  product_id: ProductId.optional(),
  since: SentInstant.optional().describe('From what was recorded at or after this time on. Ignored with cursor.'),
  limit: Limit,
})

type Row = { readonly position: string; readonly document: LifecycleEvent }

const list = 'lifecycle_events'

/** The feed of lifecycle events: a receiver that was down catches up by itself. */
export const lifecycleEventRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/api/v1/lifecycle_events',
      tag: 'Lifecycle events',
      summary:
        'List what was or would have been sent as lifecycle webhook, without snapshot, oldest first. Nothing is dropped: go on with next_cursor, at any time',
      access: { kind: 'application', scopes: readOrWrite, serverOnly: true },
      query: Query,
      answers: { 200: z.object({ data: z.array(LifecycleEvent), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
      example: { query: { limit: '20' } },
    },
    async ({ query: { cursor, ...filters }, caller }) => {
      const place = readCursor(list, cursor)
      const since = cursor === undefined ? filters.since : undefined
      const { rows } = await pool.query<Row>(
        lifecyclePage({ ...filters, organisation_id: caller.organisation_id, place, since }),
      )
      return {
        status: 200,
        body: { data: rows.map(({ document }) => document), next_cursor: nextCursor(list, rows, cursor) },
      }
    },
  ),
]

type Page = {
  readonly organisation_id: string
  readonly type?: readonly string[] | undefined
  readonly product_id?: string | undefined
  readonly place: string
  readonly since?: string | undefined
  readonly limit: number
}

/** A page in the order of the log. Types are read one after the other, each through an index, unless there is a product. */
export const lifecyclePage = ({ organisation_id, type, product_id, place, since, limit }: Page) => {
  const values: unknown[] = [organisation_id, place, limit]
  const value = (given: unknown) => `$${values.push(given)}`
  // Times are almost in the order of positions: among the first of a time is the first position.
  const at = since === undefined ? '' : value(since)
  const from =
    since === undefined
      ? ''
      : `and recorded_at >= ${at} and position >= (select min(position) from (
          select position from lifecycle_event where organisation_id = $1 and recorded_at >= ${at}
          order by recorded_at, position limit 1000) as first)`
  const ofProduct = product_id === undefined ? '' : `and product_id = ${value(product_id)}`
  const wanted =
    type === undefined
      ? ['']
      : product_id === undefined
        ? type.map((each) => `and type = ${value(each)}`)
        : [`and type = any (${value(type)}::text[])`]
  const pages = wanted.map(
    (one) => `(select position, document from lifecycle_event
      where organisation_id = $1 and position > $2 ${from} ${ofProduct} ${one} order by position limit $3)`,
  )
  return { text: `select * from (${pages.join(' union all ')}) as page order by position limit $3`, values }
}
