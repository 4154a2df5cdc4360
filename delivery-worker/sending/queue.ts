import type { ClientBase, Pool, QueryConfig } from 'pg'
import type { Json } from '#domain/event.ts'
import { sql, transaction, type Query } from '#infra/postgres/postgres.ts'
import { consumersBeside } from '#infra/read-models.ts'
import { leaseSeconds, leaseSpreadSeconds } from './leases.ts'
import type { Allotted } from '../endpoints/slots.ts'
import type { Cancellation, PlannedDelivery } from '../planning/plan.ts'

/** A delivery that this worker is to send now. */
export type Claimed = {
  readonly id: string
  readonly recorded_at: Date
  /** The number of the attempt. */
  readonly number: number
  readonly started_at: Date
  /** Attempts that were really sent before this one. */
  readonly sent: number
  /** Attempts that were lost or not sent before this one. */
  readonly unsent: number
  readonly waited_seconds: number
  readonly organisation_id: string
  readonly connection_id: string
  readonly event_id: string
  readonly type: string
  readonly stream: string
  readonly sequence: number
  readonly subject_type: string
  readonly subject_id: string
  readonly message: Json
  /** Null when the connection is not known. */
  readonly connection_type: string | null
  readonly connection: Json | null
}

export type Completed = {
  readonly id: string
  readonly recorded_at: Date
  readonly connection_id: string
  readonly number: number
  readonly started_at: Date
  readonly outcome: 'answered' | 'unanswered' | 'refused' | 'not_sent'
  readonly status: number | null
  readonly reason: string | null
  /** The state of the delivery afterwards. */
  readonly state: 'delivered' | 'failed' | 'pending'
  /** The wait until the next attempt, while it is pending. */
  readonly delay_seconds: number
  readonly waited_seconds: number
  /** The request and the answer, without secrets. */
  readonly exchange: Json | null
  /** The bodies of an attempt that failed, as base64, and the data key that opens them. */
  readonly key_id: string | null
  readonly sealed: string | null
}

/** Adds what was planned; what is there already stays as it is. */
export const enqueue = async (db: ClientBase, planned: readonly PlannedDelivery[]): Promise<void> => {
  if (planned.length === 0) return
  // A document within the document: PostgreSQL would take the inner one apart, and cannot take apart every character.
  const rows = planned.map((each) => ({ ...each, message: JSON.stringify(each.message) }))
  await db.query(sql`
    with planned as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}) as planned (
        id uuid, recorded_at timestamptz, organisation_id uuid, event_id uuid, action_id uuid, connection_id uuid, type text,
        stream text, position text, sequence bigint, subject_type text, subject_id uuid, waits_for text[], message text, cancelled text)
    ), added as (
      insert into delivery (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
        sequence, subject_type, subject_id, message, state, reason, finished_at, unsent_at)
      select recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
        sequence, subject_type, subject_id, message::json, case when cancelled is null then 'pending' else 'cancelled' end, cancelled,
        case when cancelled is null then null else now() end, case when cancelled is null then null else now() end
      from planned
      on conflict (id, recorded_at) do nothing
      returning id
    )
    insert into delivery_queue (id, recorded_at, organisation_id, action_id, connection_id, stream, position, waits_for,
      in_order, due_at)
    select id, recorded_at, planned.organisation_id, action_id, connection_id, stream, position, waits_for,
      coalesce(setting.in_order, false),
      case when setting.in_order and (rank() over (partition by connection_id, stream order by position) > 1
        or exists (select from delivery_queue as earlier where earlier.in_order
          and earlier.connection_id = planned.connection_id and earlier.stream = planned.stream
          and earlier.position < planned.position)) then 'infinity' else now() end
    from planned join added using (id) left join delivery_setting as setting using (connection_id)
    where cancelled is null`)
}

/** Cancels what waits to be sent. What is being sent at this moment is sent. */
export const cancel = async (db: ClientBase, cancellation: Cancellation): Promise<void> => {
  const { of, id, organisation_id, position, reason } = cancellation
  await db.query(sql`
    with waiting as materialized (
      select id, recorded_at from delivery_queue
      where organisation_id = ${organisation_id} and position < ${position}
        and case ${of} when 'action' then action_id = ${id} when 'connection' then connection_id = ${id} else true end
      order by id for update
    ), removed as (
      delete from delivery_queue using waiting where delivery_queue.id = waiting.id
    )
    update delivery set state = 'cancelled', reason = ${reason}, finished_at = now(), unsent_at = now()
    from waiting where delivery.id = waiting.id and delivery.recorded_at = waiting.recorded_at`)
}

/**
 * Claims deliveries that are due, as many of each connection as it was allotted, each for one worker. One whose read models
 * have not passed its event, or have set its record aside and so show an old state of it, is put off, the longer the
 * longer it has waited. An attempt that is still open was lost with the worker that began it. A failing connection has
 * one probe at a time, whichever worker sends it.
 */
export const claim = async (pool: Pool, allotted: readonly Allotted[]): Promise<Claimed[]> => {
  const [unlimited, limited] = [allotted.filter((each) => !each.limited), allotted.filter((each) => each.limited)]
  return [...(await claimRooms(pool, unlimited, false)), ...(await claimLimited(pool, limited))]
}

/** A connection may send so many seconds' worth at once after a pause. */
const burstSeconds = 1

/**
 * Claims over connections with a rate, or a number of deliveries at once, of their own. The row of each is locked meanwhile,
 * so that all workers together keep to it; a worker that finds it locked leaves the connection to the other.
 */
const claimLimited = async (pool: Pool, allotted: readonly Allotted[]): Promise<Claimed[]> => {
  if (allotted.length === 0) return []
  return transaction(pool, async (db) => {
    const { rows: locked } = await db.query<{ readonly connection_id: string }>(sql`
      select connection_id from delivery_setting
      where connection_id = any (${allotted.map(({ connection_id }) => connection_id)}::uuid[])
      for update skip locked`)
    // Only a new statement sees what other workers have claimed up to now.
    const { rows: rooms } = await db.query<{ readonly connection_id: string; readonly room: number }>(sql`
      select connection_id, floor(greatest(0, least(
          case when per_second is null then 'infinity'::double precision
            else per_second * extract(epoch from now() - greatest(next_at, now())
              + make_interval(secs => greatest(${burstSeconds}, 1 / per_second)))::double precision + 1e-6 end,
          case when at_once is null then 'infinity'::double precision else at_once - (
            select count(*) from delivery_queue as queue
            where queue.connection_id = setting.connection_id and is_counted and leased_until > now()) end,
          1e6)))::integer as room
      from delivery_setting as setting
      where connection_id = any (${locked.map(({ connection_id }) => connection_id)}::uuid[]) and disabled_at is null`)
    const roomOf = new Map(rooms.map(({ connection_id, room }) => [connection_id, room]))
    const within = allotted.map((each) => ({
      ...each,
      room: Math.min(each.room, roomOf.get(each.connection_id) ?? 0),
    }))
    const claimed = await claimRooms(
      db,
      within.filter(({ room }) => room > 0),
      true,
    )
    await db.query(sql`
      update delivery_setting as setting
      set next_at = greatest(next_at, now()) + make_interval(secs => used.count / per_second)
      from (select connection_id, count(*) from unnest(${claimed.map(({ connection_id }) => connection_id)}::uuid[])
        as claimed (connection_id) group by connection_id) as used
      where used.connection_id = setting.connection_id and per_second is not null`)
    return claimed
  })
}

/**
 * The arrays stand in selects of their own, so that the planner does not look at their values: it then keeps one plan, where
 * planning again for each claim would take longer than the claim. Rows that are locked are reached by their place.
 */
const claimRooms = async (
  db: Pool | ClientBase,
  allotted: readonly Allotted[],
  isCounted: boolean,
): Promise<Claimed[]> => {
  if (allotted.length === 0) return []
  const { rows } = await db.query<Claimed>(
    prepared(
      'delivery-claim',
      sql`
    with passed as materialized (
      select coalesce(own.name, stored.name) as name, (array_agg(position order by own.name))[1] as position
      from consumer_checkpoint as stored left join unnest(
        (select ${[...consumersBeside.keys()]}::text[]), (select ${[...consumersBeside.values()]}::text[])
      ) as own (name, consumer) on own.consumer = stored.name
      where position is not null group by 1
    ), picked as materialized (
      select due.* from unnest(
        (select ${allotted.map(({ organisation_id }) => organisation_id)}::uuid[]),
        (select ${allotted.map(({ connection_id }) => connection_id)}::uuid[]),
        (select ${allotted.map(({ room }) => room)}::integer[])) as allotted (organisation_id, connection_id, room)
      cross join lateral (
        select ctid as place, id, recorded_at, connection_id, attempts_before, sent,
          unsent + (started_at is not null)::integer as unsent, started_at,
          (select count(*) from passed where name = any (waits_for) and passed.position >= queue.position)
            = cardinality(waits_for)
            and not exists (select from consumer_set_aside as aside
              where aside.consumer = any (waits_for) and aside.record = queue.stream) as is_ready
        from delivery_queue as queue
        where queue.organisation_id = allotted.organisation_id and queue.connection_id = allotted.connection_id
          and due_at <= now() and (leased_until is null or leased_until <= now())
        order by due_at, position limit allotted.room for update skip locked) as due
    ), put_off as (
      update delivery_queue as queue
      set due_at = now() + least(interval '30 s', greatest(interval '20 ms', (now() - queue.recorded_at) / 4))
      where queue.ctid = any (array(select place from picked where not is_ready))
    ), probed as (
      update delivery_endpoint as endpoint
      set state = 'half_open', probe_until = now() + make_interval(secs => ${leaseSeconds})
      where connection_id in (select connection_id from picked where is_ready)
        and (state = 'open' or (state = 'half_open' and probe_until <= now()))
      returning connection_id
    ), allowed as materialized (
      select picked.* from picked left join delivery_endpoint as endpoint using (connection_id)
      where is_ready
        and (endpoint.state is null or endpoint.state in ('closed', 'slow') or connection_id in (select connection_id from probed))
    ), taken as (
      update delivery_queue as queue
      set leased_until = now() + make_interval(secs => ${leaseSeconds} + ${leaseSpreadSeconds} * random()),
        started_at = now(), unsent = unsent + (started_at is not null)::integer, is_counted = ${isCounted}
      where queue.ctid = any (array(select place from allowed))
      returning queue.id, queue.recorded_at, queue.attempts_before + queue.sent + queue.unsent + 1 as number,
        queue.started_at, queue.sent, queue.unsent, queue.waited_seconds
    ), lost as (
      insert into delivery_attempt (recorded_at, delivery_id, number, started_at, outcome)
      select recorded_at, id, attempts_before + sent + unsent, started_at, 'lost' from allowed where started_at is not null
      on conflict do nothing
    )
    select taken.*, delivery.organisation_id, delivery.connection_id, delivery.event_id, delivery.type, delivery.stream,
      delivery.sequence::integer, delivery.subject_type, delivery.subject_id, delivery.message,
      connection.type as connection_type, connection.facts as connection
    from taken cross join lateral (
      select * from delivery where delivery.id = taken.id and delivery.recorded_at = taken.recorded_at limit 1) as delivery
    left join delivery_known as connection on connection.kind = 'connection' and connection.id = delivery.connection_id`,
    ),
  )
  return rows
}

/**
 * Records how attempts ended. A delivery that arrived is delivered, whichever worker sent it; a failure counts only while
 * no other worker has claimed the delivery again.
 */
export const complete = async (pool: Pool, completed: readonly Completed[]): Promise<void> => {
  const inOrder = completed.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  await pool.query(
    prepared(
      'delivery-complete',
      sql`
    with done as materialized (
      select * from json_to_recordset(${JSON.stringify(inOrder)}) as done (
        id uuid, recorded_at timestamptz, number integer, started_at timestamptz, outcome text, status integer, reason text,
        state text, delay_seconds real, waited_seconds real, exchange json, key_id uuid, sealed text)
    ), attempts as (
      insert into delivery_attempt (recorded_at, delivery_id, number, started_at, outcome, status, reason, exchange, key_id,
        sealed)
      select recorded_at, id, number, started_at, outcome, status, reason, exchange, key_id, decode(sealed, 'base64')
      from done
      on conflict (delivery_id, number, recorded_at) do update set
        finished_at = excluded.finished_at, outcome = excluded.outcome, status = excluded.status, reason = excluded.reason,
        exchange = excluded.exchange, key_id = excluded.key_id, sealed = excluded.sealed
    ), again as (
      update delivery_queue as queue
      set due_at = now() + make_interval(secs => done.delay_seconds), waited_seconds = done.waited_seconds,
        sent = sent + (done.outcome <> 'not_sent')::integer, unsent = unsent + (done.outcome = 'not_sent')::integer,
        started_at = null, leased_until = null, is_counted = false
      from done where queue.id = done.id and done.state = 'pending'
        and attempts_before + sent + unsent + 1 = done.number
    ), finished as (
      delete from delivery_queue as queue using done
      where queue.id = done.id
        and (done.state = 'delivered' or (done.state = 'failed' and attempts_before + sent + unsent + 1 = done.number))
      returning queue.id, queue.connection_id, queue.stream, queue.in_order, queue.sent
    ), next_in_order as (
      update delivery_queue as queue set due_at = now()
      from (select distinct connection_id, stream from finished where in_order) as ended
      cross join lateral (
        select id from delivery_queue as waiting
        where waiting.in_order and waiting.connection_id = ended.connection_id and waiting.stream = ended.stream
          and not exists (select from finished where finished.id = waiting.id)
        order by position limit 1) as first
      where queue.id = first.id and queue.due_at = 'infinity'
    ), failed as (
      insert into delivery_news (organisation_id, type, data)
      select delivery.organisation_id, 'DeliveryFailed', json_build_object('delivery_id', delivery.id,
        'connection_id', delivery.connection_id, 'event_id', event_id, 'event_type', delivery.type, 'subject_type', subject_type,
        'subject_id', subject_id, 'attempts', finished.sent + 1, 'status', done.status,
        'reason', coalesce(done.reason, 'status ' || done.status))
      from done join finished using (id) join delivery on delivery.id = done.id and delivery.recorded_at = done.recorded_at
      where done.state = 'failed' and delivery.type not like 'webhook.%'
    )
    update delivery
    set state = done.state, finished_at = now(),
      reason = case done.state when 'failed' then coalesce(done.reason, 'status ' || done.status) end,
      unsent_at = case done.state when 'failed' then now() end
    from done where delivery.id = done.id and delivery.recorded_at = done.recorded_at and (
      (done.state = 'delivered' and delivery.state <> 'delivered')
      or (done.state = 'failed' and delivery.state = 'pending'
        and exists (select from finished where finished.id = done.id)))`,
    ),
  )
}

/**
 * Makes the first delivery of a record due where that was missed, because the one before it ended, or was cancelled, at the
 * moment when it was planned. Returns whether there was one.
 */
export const releaseInOrder = async (pool: Pool): Promise<boolean> => {
  const { rowCount } = await pool.query(sql`
    update delivery_queue set due_at = now() where id = any (array(
      select id from delivery_queue as waiting
      where due_at = 'infinity' and (not in_order or not exists (
        select from delivery_queue as earlier where earlier.in_order and earlier.connection_id = waiting.connection_id
          and earlier.stream = waiting.stream and earlier.position < waiting.position))
      limit 1000 for update skip locked))`)
  return (rowCount ?? 0) > 0
}

/** Planning a statement over all partitions takes longer than executing it. */
const prepared = (name: string, statement: Query): QueryConfig => ({ ...statement, name })
