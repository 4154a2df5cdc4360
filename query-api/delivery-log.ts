import { z } from 'zod'
import { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

export const DeliveryState = z.enum(['pending', 'delivered', 'failed', 'cancelled'])

const Head = z
  .object({
    method: z.string().optional(),
    url: z.string().optional().describe('Without its query.'),
    status: z.int().optional(),
    body_sha256: z.string().nullish().describe('The digest of what was sent, as hex: it stays when the body goes.'),
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

export const Delivery = z
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
    state: DeliveryState,
    reason: z.string().nullable().describe('Why it failed or was cancelled.'),
    recorded_at: z.iso.datetime().describe('When the event was recorded.'),
    planned_at: z.iso.datetime(),
    due_at: z.iso.datetime().nullable().describe('When it is next tried, while it is pending.'),
    finished_at: z.iso.datetime().nullable(),
    attempts: z.array(Attempt),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.output<typeof Delivery>

export type DeliveryKey = { readonly id: string; readonly recorded_at: Date }

type Row = Omit<Delivery, 'recorded_at' | 'planned_at' | 'due_at' | 'finished_at'> & {
  readonly recorded_at: Date
  readonly planned_at: Date
  readonly due_at: Date | null
  readonly finished_at: Date | null
}

/**
 * Deliveries with every attempt and what was answered, without bodies. Of those that ended longer ago than they are kept, what
 * stays for good.
 */
export const readDeliveries = async (db: Database, keys: readonly DeliveryKey[]): Promise<Delivery[]> => {
  if (keys.length === 0) return []
  const { rows } = await db.query<Row>(sql`
    select found.id, found.organisation_id, found.event_id, found.type, found.sequence, found.subject, found.stream,
      found.action_id, found.connection_id, found.state, found.reason, found.recorded_at, found.planned_at, found.finished_at,
      nullif(greatest(due_at, leased_until), 'infinity') as due_at, coalesce(kept, (
        select coalesce(json_agg(json_build_object('number', number, 'started_at', started_at, 'finished_at', finished_at,
          'outcome', outcome, 'status', status, 'reason', reason, 'request', exchange -> 'request',
          'response', exchange -> 'response') order by number), '[]')
        from (
          select number, started_at, finished_at, outcome, status, reason, exchange from delivery_attempt
          where delivery_id = found.id and delivery_attempt.recorded_at = found.recorded_at
          union all
          select attempts_before + sent + unsent + 1, started_at, null, null, null, null, null from delivery_queue
          where delivery_queue.id = found.id and started_at is not null) as attempt)) as attempts
    from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ recorded_at }) => recorded_at)}::timestamptz[])
      with ordinality as wanted (id, recorded_at, place)
    cross join lateral (
      select id, organisation_id, event_id, type, sequence::integer, json_build_object('type', subject_type, 'id', subject_id) as subject,
        stream, action_id, connection_id, state, reason, recorded_at, planned_at, finished_at, null::json as kept
      from delivery where id = wanted.id and recorded_at = wanted.recorded_at
      union all
      select id, organisation_id, event_id, type, sequence::integer, json_build_object('type', subject_type, 'id', subject_id),
        stream, action_id, connection_id, state, reason, recorded_at, planned_at, finished_at, attempts
      from delivery_kept where id = wanted.id and recorded_at = wanted.recorded_at
      limit 1) as found
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
