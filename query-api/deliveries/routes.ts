import type { Pool } from 'pg'
import { z } from 'zod'
import { EndpointConnectionId } from '#domain/integrations/events.ts'
import { ApplicationId, OrganisationId, QuoteId } from '#domain/values.ts'
import { LifecycleActionId, LifecycleEventType } from '#domain/workflows/events.ts'
import { notFound, Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'

const State = z.enum(['pending', 'delivered', 'failed', 'cancelled'])

const Attempt = z
  .object({
    number: z.int(),
    started_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable().describe('null: it is being sent, or was lost with its sender.'),
    outcome: z
      .enum(['answered', 'unanswered', 'refused', 'lost'])
      .nullable()
      .describe('refused: we did not try, the address may not be reached. lost: its sender ended before it did.'),
    status: z.int().nullable().describe('What the receiver answered.'),
    reason: z.string().nullable().describe('Why there was no answer.'),
  })
  .meta({ id: 'DeliveryAttempt' })

const Delivery = z
  .object({
    id: z.uuid().describe('Also the Idempotency-Key.'),
    organisation_id: OrganisationId,
    event_id: z.uuid(),
    type: LifecycleEventType,
    application_id: ApplicationId,
    quote_id: QuoteId.nullable(),
    lifecycle_action_id: LifecycleActionId,
    endpoint_connection_id: EndpointConnectionId,
    state: State,
    reason: z.string().nullable().describe('Why it failed or was cancelled.'),
    planned_at: z.iso.datetime(),
    due_at: z.iso.datetime().nullable().describe('When it is next tried, while it is pending.'),
    finished_at: z.iso.datetime().nullable(),
    attempts: z.array(Attempt),
  })
  .meta({ id: 'Delivery' })
type Delivery = z.input<typeof Delivery>

const Filters = z.object({
  organisation_id: OrganisationId,
  state: State.optional(),
  type: LifecycleEventType.optional(),
  event_id: z.uuid().optional(),
  application_id: ApplicationId.optional(),
  endpoint_connection_id: EndpointConnectionId.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().optional(),
})

const operator = { tag: 'Operator', access: { kind: 'operator' } } as const

const columns = `
  id, organisation_id, event_id, type, application_id, quote_id, action_id as lifecycle_action_id,
  connection_id as endpoint_connection_id, state, reason, planned_at, finished_at,
  case state when 'pending' then due_at end as due_at,
  coalesce((
    select json_agg(json_build_object('number', number, 'started_at', started_at, 'finished_at', finished_at,
      'outcome', outcome, 'status', status, 'reason', reason) order by number)
    from delivery_attempt where delivery_id = delivery.id), '[]') as attempts`

type Row = Omit<Delivery, 'planned_at' | 'due_at' | 'finished_at'> & {
  readonly planned_at: Date
  readonly due_at: Date | null
  readonly finished_at: Date | null
}

/** What was sent, to whom, and what became of it: the log of deliveries with every attempt. */
export const deliveryRoutes = ({ pool }: { readonly pool: Pool }): Route[] => [
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/deliveries',
      summary: 'List the webhooks of an organisation with their attempts, newest first',
      query: Filters,
      answers: { 200: z.object({ data: z.array(Delivery), next_cursor: z.string().nullable() }) },
    },
    async ({ query }) => {
      const { organisation_id, state, type, event_id, application_id, endpoint_connection_id, limit, cursor } = query
      const place = cursor === undefined ? [null, null, null] : placeOf(cursor)
      const filters = [organisation_id, state, type, event_id, application_id, endpoint_connection_id]
      const rows = await read(
        pool,
        `select ${columns} from delivery
        where organisation_id = $1 and ($2::text is null or state = $2) and ($3::text is null or type = $3)
          and ($4::uuid is null or event_id = $4) and ($5::uuid is null or application_id = $5)
          and ($6::uuid is null or connection_id = $6)
          and ($8::timestamptz is null or (planned_at, event_id, id) < ($8, $9::uuid, $10::uuid))
          ${state === 'failed' || state === 'cancelled' ? `and state in ('failed', 'cancelled')` : ''}
        order by planned_at desc, event_id desc, id desc limit $7`,
        [...filters, limit + 1, ...place],
      )
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        status: 200,
        body: { data: page.map(shown), next_cursor: last && rows.length > limit ? cursorAt(last) : null },
      }
    },
  ),
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/deliveries/:id',
      summary: 'Show a webhook with its attempts',
      path: z.object({ id: z.uuid() }),
      answers: { 200: z.object({ data: Delivery }) },
    },
    async ({ path }) => {
      const [row] = await read(pool, `select ${columns} from delivery where id = $1`, [path.id])
      if (!row) throw notFound('delivery')
      return { status: 200, body: { data: shown(row) } }
    },
  ),
]

/** Before a delivery worker has ever run, there are no tables, and nothing was sent. */
const read = async (pool: Pool, text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
  try {
    return (await pool.query<Row>(text, [...values])).rows
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === undefinedTable) return []
    throw error
  }
}

const undefinedTable = '42P01'

const shown = ({ planned_at, due_at, finished_at, attempts, ...row }: Row): Delivery => ({
  ...row,
  planned_at: planned_at.toISOString(),
  due_at: due_at?.toISOString() ?? null,
  finished_at: finished_at?.toISOString() ?? null,
  attempts: attempts.map((attempt) => ({
    ...attempt,
    started_at: new Date(attempt.started_at).toISOString(),
    finished_at: attempt.finished_at === null ? null : new Date(attempt.finished_at).toISOString(),
  })),
})

const Place = z.tuple([z.iso.datetime(), z.uuid(), z.uuid()])

const cursorAt = ({ planned_at, event_id, id }: Row): string =>
  Buffer.from(JSON.stringify([planned_at.toISOString(), event_id, id])).toString('base64url')

const placeOf = (cursor: string): z.output<typeof Place> => {
  const { data } = Place.safeParse(parsed(Buffer.from(cursor, 'base64url').toString()))
  if (data) return data
  const fields = { cursor: 'is not one that this list has given' }
  throw new Problem('invalid_parameter', 'Use the next_cursor of an earlier answer, or leave cursor out.', { fields })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
