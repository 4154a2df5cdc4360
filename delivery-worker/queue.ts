import type { ClientBase, Pool } from 'pg'
import { sql } from '#infra/postgres/postgres.ts'
import type { Cancellation, Message, PlannedDelivery } from './plan.ts'

/** Longer than the time-out of a send, so that nobody else takes what is still being sent. */
const leaseMs = 30_000

/** A delivery that this worker is to send now, as its attempt of this number. */
export type Claimed = {
  readonly id: string
  readonly attempt: number
  readonly organisation_id: string
  readonly connection_id: string
  readonly application_id: string
  readonly quote_id: string | null
  readonly message: Message
  readonly base_url: string
  readonly sealed_secret: string
}

export type Completed = {
  readonly id: string
  readonly attempt: number
  readonly finished_at: string
  readonly outcome: 'answered' | 'unanswered' | 'refused'
  readonly status: number | null
  readonly reason: string | null
  /** What becomes of the delivery. */
  readonly state: 'delivered' | 'failed' | 'pending'
  /** When the next attempt is due, while it is pending. */
  readonly due_at: string | null
}

/** How many deliveries may be taken: altogether, for a connection, and for those where another limit holds. */
export type Room = {
  readonly total: number
  readonly connection: number
  readonly except: ReadonlyMap<string, number>
}

/** Adds what was planned; what is there already stays as it is. */
export const enqueue = async (db: ClientBase, planned: readonly PlannedDelivery[], now: Date): Promise<void> => {
  if (planned.length === 0) return
  // A document within the document: PostgreSQL would take the inner one apart, and cannot take apart every character.
  const rows = planned.map((each) => ({ ...each, message: JSON.stringify(each.message) }))
  await db.query(sql`
    insert into delivery (id, organisation_id, event_id, action_id, connection_id, type, position, application_id,
      quote_id, message, state, reason, due_at, planned_at, finished_at)
    select id, organisation_id, event_id, action_id, connection_id, type, position, application_id, quote_id, message::json,
      case when cancelled is null then 'pending' else 'cancelled' end, cancelled, ${now}, ${now},
      case when cancelled is null then null else ${now}::timestamptz end
    from json_to_recordset(${JSON.stringify(rows)}) as planned (
      id uuid, organisation_id uuid, event_id uuid, action_id uuid, connection_id uuid, type text, position text,
      application_id uuid, quote_id uuid, message text, cancelled text)
    on conflict (id) do nothing`)
}

/** Takes back what waits to be sent. What is being sent at this moment is sent. */
export const cancel = async (db: ClientBase, cancellation: Cancellation, now: Date): Promise<void> => {
  const { of, id, organisation_id, reason } = cancellation
  // By connection first: that is how the index of what is pending is ordered.
  await db.query(sql`
    with waiting as (
      select delivery.id from delivery_known as connection
      join delivery on delivery.connection_id = connection.id and delivery.state = 'pending'
      where connection.kind = 'connection' and connection.organisation_id = ${organisation_id}
        and case ${of}
          when 'action' then delivery.action_id = ${id}
          when 'connection' then delivery.connection_id = ${id}
          else true
        end
      order by delivery.id for update of delivery)
    update delivery set state = 'cancelled', reason = ${reason}, finished_at = ${now}
    from waiting where delivery.id = waiting.id`)
}

/**
 * Takes deliveries that are due, the longest waiting connections first, and writes down that they are being sent. None is
 * taken before the read models that its snapshot comes from have passed its event. An attempt that is still open was lost
 * with whoever began it.
 */
export const claim = async (pool: Pool, room: Room, now: Date): Promise<Claimed[]> => {
  if (room.total <= 0) return []
  const leaseEnd = new Date(now.getTime() + leaseMs)
  const { rows } = await pool.query<Claimed>(sql`
    with recursive connections as (
      (select connection_id, due_at from delivery where state = 'pending'
        order by connection_id, due_at limit 1)
      union all
      select next.connection_id, next.due_at from connections cross join lateral (
        select connection_id, due_at from delivery
        where state = 'pending' and connection_id > connections.connection_id
        order by connection_id, due_at limit 1) as next
    ), longest_waiting as (
      select connection_id, coalesce(exception.room, ${room.connection}) as room
      from connections
      left join unnest(${[...room.except.keys()]}::uuid[], ${[...room.except.values()]}::integer[])
        as exception (connection_id, room) using (connection_id)
      where due_at <= ${now} order by due_at
    ), picked as materialized (
      select due.id from longest_waiting cross join lateral (
        select id from delivery
        where state = 'pending' and connection_id = longest_waiting.connection_id
          and due_at <= ${now}
          and position <= (select passed.position from consumer_checkpoint as passed where name = 'applications')
          and (quote_id is null or position <= (select passed.position from consumer_checkpoint as passed where name = 'quotes'))
        order by due_at limit longest_waiting.room for update skip locked) as due
      limit ${room.total}
    ), taken as (
      update delivery set attempts = attempts + 1, due_at = ${leaseEnd}
      from picked where delivery.id = picked.id
      returning delivery.id, delivery.attempts as attempt, delivery.organisation_id, delivery.connection_id,
        delivery.application_id, delivery.quote_id, delivery.message
    ), lost as (
      update delivery_attempt set outcome = 'lost', finished_at = ${now}
      from taken cross join lateral (
        select ctid from delivery_attempt
        where delivery_id = taken.id and number < taken.attempt and finished_at is null limit 100) as open
      where taken.attempt > 1 and delivery_attempt.ctid = open.ctid
    ), begun as (
      insert into delivery_attempt (delivery_id, number, started_at) select id, attempt, ${now} from taken
    )
    select taken.*, connection.fact->>'base_url' as base_url, connection.fact->>'sealed_secret' as sealed_secret
    from taken join delivery_known as connection on connection.kind = 'connection' and connection.id = taken.connection_id`)
  return rows
}

/**
 * Writes down how attempts ended. A delivery that arrived is delivered, whoever sent it; a failure counts only while
 * nobody else has taken the delivery over.
 */
export const complete = async (pool: Pool, completed: readonly Completed[]): Promise<void> => {
  const inOrder = completed.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  await pool.query(sql`
    with done as materialized (
      select * from json_to_recordset(${JSON.stringify(inOrder)}) as done (
        id uuid, attempt integer, finished_at timestamptz, outcome text, status integer, reason text, state text,
        due_at timestamptz)
    ), attempts as (
      update delivery_attempt
      set finished_at = done.finished_at, outcome = done.outcome, status = done.status, reason = done.reason
      from done cross join lateral (
        select ctid from delivery_attempt where delivery_id = done.id and number = done.attempt limit 1) as own
      where delivery_attempt.ctid = own.ctid
    )
    update delivery
    set state = done.state,
      reason = case done.state when 'failed' then coalesce(done.reason, 'status ' || done.status) end,
      due_at = coalesce(done.due_at, delivery.due_at),
      finished_at = case done.state when 'pending' then null else done.finished_at end
    from done where delivery.id = done.id and (
      (done.state = 'delivered' and delivery.state <> 'delivered')
      or (delivery.state = 'pending' and delivery.attempts = done.attempt))`)
}
