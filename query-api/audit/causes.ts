import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { DeliveryKey } from '../delivery-log.ts'
import type { EventRow } from './asked.ts'

/** So much is shown of what one request caused. */
export const mostNodes = 1_000

type Request = { readonly organisation_id: string; readonly request_id: string }

/**
 * The events of a request, and those that follow from them: what a reaction appends has the same request, what a timer does later
 * names the event that set it. In the order of the log, one more than is shown. Each is looked for in its own place of an index, as
 * in `search.ts`.
 */
export const findCaused = async (
  db: Database,
  { organisation_id, request_id }: Request,
): Promise<readonly EventRow[]> => {
  const { rows } = await db.query<EventRow>(sql`
    with recursive caused as (
      (select event_id, stream, revision from recorded_events
        where (organisation_id, correlation_id) >= (${organisation_id}::uuid, ${request_id}::text)
          and (organisation_id, correlation_id) <= (${organisation_id}::uuid, ${request_id}::text)
        order by organisation_id, correlation_id, recorded_at, position limit ${mostNodes + 1})
      union
      select next.event_id, next.stream, next.revision from caused cross join lateral (
        select event_id, stream, revision from recorded_events
        where (organisation_id, causation_id) >= (${organisation_id}::uuid, caused.event_id::text)
          and (organisation_id, causation_id) <= (${organisation_id}::uuid, caused.event_id::text)
          and causation_id is not null
        order by organisation_id, causation_id, recorded_at, position limit ${mostNodes + 1}) as next
    ), shown as materialized (select * from caused limit ${mostNodes + 1})
    select event.* from shown cross join lateral (
      select stream, revision, position, recorded_at, occurred_at, event_id, kind, actor_type, actor_id, correlation_id,
        causation_id, person_id, second_person_id
      from recorded_events
      where (organisation_id, stream, revision) >= (${organisation_id}::uuid, shown.stream, shown.revision)
      order by organisation_id, stream, revision limit 1) as event
    order by event.position`)
  return rows
}

export type TimerRow = {
  readonly kind: string
  readonly id: string
  readonly stream: string
  readonly due_at: Date
  readonly event_id: string
}

/** The timers that these events have set and that are still to fire. */
export const findTimers = async (
  db: Database,
  organisation_id: string,
  events: readonly EventRow[],
): Promise<readonly TimerRow[]> => {
  const { rows } = await db.query<TimerRow>(sql`
    select due_times.kind, due_times.id, due_times.stream, due_times.due_at, due_times.event_id
    from unnest(${events.map(({ event_id }) => event_id)}::uuid[]) as wanted (event_id)
    join due_times on organisation_id = ${organisation_id} and due_times.event_id = wanted.event_id
    order by due_at, kind, id limit ${mostNodes + 1}`)
  return rows
}

/** The webhooks that tell of these events. */
export const findDeliveries = async (
  db: Database,
  organisation_id: string,
  events: readonly EventRow[],
): Promise<readonly DeliveryKey[]> => {
  // By the time of the event, only the partitions of those weeks are looked into.
  const { rows } = await db.query<DeliveryKey>(sql`
    select found.id, found.recorded_at
    from unnest(${events.map(({ event_id }) => event_id)}::uuid[], ${events.map(({ recorded_at }) => recorded_at)}::timestamptz[])
      as wanted (event_id, recorded_at)
    cross join lateral (
      select id, recorded_at, planned_at from delivery
      where event_id = wanted.event_id and recorded_at = wanted.recorded_at and organisation_id = ${organisation_id}
      union all
      select id, recorded_at, planned_at from delivery_kept
      where event_id = wanted.event_id and recorded_at = wanted.recorded_at and organisation_id = ${organisation_id}
      limit ${mostNodes}) as found
    order by found.planned_at, found.id limit ${mostNodes + 1}`)
  return rows
}
