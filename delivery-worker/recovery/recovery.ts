import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError, type ClientBase, type Pool } from 'pg'
import type { DeliveryRecoveryEvent } from '#domain/deliveries/events.ts'
import type { Log } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import type { Capabilities } from '../capability.ts'

/** A delivery that failed was recorded at most so long before: the attempts, and the time until the first of them. */
const longestUnderwayMs = 24 * 3_600_000

/**
 * The time from which deliveries are looked at. Without one given, a little before the connection's first failure, for what
 * was planned just before.
 */
export const recoverySince = async (
  db: ClientBase,
  { since, delivery_id, connection_id }: DeliveryRecoveryEvent,
): Promise<Date> => {
  if (since !== null) return new Date(since)
  if (delivery_id !== null) return new Date(0)
  const { rows } = await db.query<{ failing_since: Date | null }>(sql`
    select failing_since from delivery_setting where connection_id = ${connection_id}`)
  const failingSince = rows[0]?.failing_since
  return failingSince ? new Date(failingSince.getTime() - longestUnderwayMs) : new Date(0)
}

type Recovery = {
  readonly id: string
  readonly organisation_id: string
  readonly delivery_id: string | null
  readonly connection_id: string | null
  readonly types: readonly string[] | null
  readonly states: readonly string[]
  readonly until: Date
  readonly per_second: number
  readonly after_recorded_at: Date
  readonly after_id: string
}

type ReadRow = {
  readonly id: string
  readonly recorded_at: Date
  readonly subject_type: string
  readonly matches: boolean
}

/** The most deliveries that are looked at in one step, and that are put back into the queue. */
const readAtOnce = 2_000
const resentAtOnce = 200
const idleMs = 500
const failedRestSeconds = 10

type Parts = {
  readonly pool: Pool
  readonly log: Log
  readonly capabilities: Capabilities
  readonly signal: AbortSignal
  /** Called when in a moment there will be something to send. */
  readonly onResent: () => void
}

/** Carries out what the operator asked to be sent again. Each request is with one worker at a time, step by step. */
export const startRecoveries = ({ pool, log, capabilities, signal, onResent }: Parts) => {
  const run = async () => {
    while (!signal.aborted) {
      let isDone = true
      try {
        const { worked, resent, failure } = await recoverStep(pool, capabilities)
        isDone = !worked
        if (resent > 0) onResent()
        if (failure !== undefined) log.warn({ error: failure }, 'a recovery of deliveries failed, trying again later')
      } catch (error) {
        log.warn({ error }, 'a recovery of deliveries failed, trying again')
      }
      if (isDone) await pause(idleMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return { finished: run() }
}

type Step = { readonly worked: boolean; readonly resent: number; readonly failure?: unknown }

/**
 * One step of a recovery that is due, all of it or nothing: deliveries are put back and its place is moved on. One that
 * fails is put off, so that others do not wait behind it.
 */
export const recoverStep = (pool: Pool, capabilities: Capabilities): Promise<Step> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<Recovery>(sql`
      select id, organisation_id, delivery_id, connection_id, types, states, until, per_second, after_recorded_at, after_id
      from delivery_recovery where finished_at is null and next_at <= now()
      order by next_at limit 1 for update skip locked`)
    const [recovery] = rows
    if (!recovery) return { worked: false, resent: 0 }
    await db.query('savepoint step')
    try {
      return { worked: true, resent: await carryOn(db, capabilities, recovery) }
    } catch (failure) {
      // Only what the database refuses would be refused again at once.
      if (!(failure instanceof DatabaseError)) throw failure
      await db.query('rollback to savepoint step')
      await db.query(sql`
        update delivery_recovery set next_at = now() + make_interval(secs => ${failedRestSeconds})
        where id = ${recovery.id}`)
      return { worked: true, resent: 0, failure }
    }
  })

/** Puts the next deliveries of a recovery back; returns how many. */
const carryOn = async (db: ClientBase, capabilities: Capabilities, recovery: Recovery): Promise<number> => {
  const most = Math.max(1, Math.min(resentAtOnce, Math.floor(recovery.per_second)))
  const { read, isLast } = await readNext(db, recovery, most)
  const matching = read.filter(({ matches }) => matches)
  const resent = await resend(db, capabilities, matching)
  const end = read.at(-1)
  await db.query(sql`
    update delivery_recovery set resent = resent + ${resent}, skipped = skipped + ${matching.length - resent},
      after_recorded_at = ${end?.recorded_at ?? recovery.after_recorded_at}, after_id = ${end?.id ?? recovery.after_id},
      next_at = now() + make_interval(secs => ${resent / recovery.per_second}),
      finished_at = case when ${isLast} then now() end
    where id = ${recovery.id}`)
  return resent
}

/** The next deliveries in the order of their events, as far as the last one that may be put back in this step. */
const readNext = async (
  db: ClientBase,
  recovery: Recovery,
  most: number,
): Promise<{ readonly read: readonly ReadRow[]; readonly isLast: boolean }> => {
  const { organisation_id, delivery_id, connection_id, types, states, until, after_recorded_at, after_id } = recovery
  const unsent = states.includes('delivered') ? '' : 'and unsent_at is not null'
  const one = delivery_id === null ? '' : 'and id = $9'
  const values: unknown[] = [organisation_id, after_recorded_at, after_id, until, connection_id, types, states]
  const { rows } = await db.query<ReadRow>({
    text: `select id, recorded_at, subject_type, ($5::uuid is null or connection_id = $5)
        and ($6::text[] is null or type = any ($6)) and state = any ($7) as matches
      from delivery
      where organisation_id = $1 and (recorded_at, id) > ($2, $3::uuid) and recorded_at <= $4 ${unsent} ${one}
      order by recorded_at, id limit $8`,
    values: [...values, readAtOnce, ...(delivery_id === null ? [] : [delivery_id])],
  })
  const places = rows.flatMap(({ matches }, index) => (matches ? [index] : []))
  const lastPlace = places[most - 1]
  const isCut = lastPlace !== undefined && lastPlace < rows.length - 1
  return {
    read: isCut ? rows.slice(0, lastPlace + 1) : rows,
    isLast: !isCut && rows.length < readAtOnce,
  }
}

/**
 * Puts deliveries back into the queue, under their ids, with five new attempts. What waits already, or whose connection or
 * organisation is gone, is left alone. Returns how many that were.
 */
const resend = async (db: ClientBase, capabilities: Capabilities, deliveries: readonly ReadRow[]): Promise<number> => {
  if (deliveries.length === 0) return 0
  const rows = deliveries.map(({ id, recorded_at, subject_type }) => ({
    id,
    recorded_at,
    waits_for: capabilities.subjects.find(({ type }) => type === subject_type)?.readModels ?? [],
  }))
  const { rowCount } = await db.query(sql`
    with wanted as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}) as wanted (id uuid, recorded_at timestamptz, waits_for text[])
    ), locked as materialized (
      select delivery.id, delivery.recorded_at, wanted.waits_for
      from wanted join delivery using (id, recorded_at) order by delivery.id for update of delivery
    ), again as (
      update delivery set state = 'pending', reason = null, finished_at = null, unsent_at = null
      from locked as wanted
      where delivery.id = wanted.id and delivery.recorded_at = wanted.recorded_at and state <> 'pending'
        and exists (select from delivery_known as connection where connection.kind = 'connection'
          and connection.id = delivery.connection_id and (connection.facts ->> 'removed')::boolean is not true)
        and not exists (select from delivery_known as organisation where organisation.kind = 'organisation'
          and organisation.id = delivery.organisation_id and (organisation.facts ->> 'active')::boolean is false)
      returning delivery.*, wanted.waits_for
    )
    insert into delivery_queue (id, recorded_at, organisation_id, action_id, connection_id, stream, position, waits_for,
      attempts_before, in_order, due_at)
    select again.id, again.recorded_at, again.organisation_id, again.action_id, again.connection_id, stream, position, waits_for,
      (select coalesce(max(number), 0) from delivery_attempt as attempt
        where attempt.delivery_id = again.id and attempt.recorded_at = again.recorded_at),
      coalesce(setting.in_order, false),
      case when setting.in_order and (rank() over (partition by again.connection_id, stream order by position) > 1
        or exists (select from delivery_queue as earlier where earlier.in_order
          and earlier.connection_id = again.connection_id and earlier.stream = again.stream
          and earlier.position < again.position)) then 'infinity' else now() end
    from again left join delivery_setting as setting using (connection_id)
    on conflict (id) do nothing`)
  return rowCount ?? 0
}
