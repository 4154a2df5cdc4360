import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Clock } from '#infra/clock.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import type { Log } from '#infra/log.ts'
import { relayOf } from '#infra/kafka/relay-of.ts'
import { isTableNotMade, sql, transaction } from '#infra/postgres/postgres.ts'
import { planner } from '../planning/planner.ts'
import { fromLog } from '../planning/planning.ts'
import { keepAccesses } from './keep-accesses.ts'
import { partitionsFor, weekAfter, weekOf } from './partitions.ts'

type UpkeepParts = {
  readonly pool: Pool
  readonly leases: Leases
  readonly log: Log
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly retentionDays: number
  /** The days for which it is kept who was shown what. */
  readonly accessDays: number
}

const everyMs = 3_600_000
const afterTroubleMs = 60_000
const weeksAhead = 2

/** Makes partitions ahead and drops what is no longer kept, every hour, in one worker of all. */
export const startUpkeep = (parts: UpkeepParts): { readonly finished: Promise<void> } => {
  const { leases, log, signal } = parts
  const run = async () => {
    while (!signal.aborted) {
      let restMs = everyMs
      try {
        const lease = await leases.take('delivery upkeep', signal)
        if (!lease) return
        try {
          await keepUp(parts)
        } finally {
          await lease.release()
        }
      } catch (error) {
        log.warn({ error }, 'upkeep of deliveries failed, trying again')
        restMs = afterTroubleMs
      }
      await pause(restMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return { finished: run() }
}

/** Does once what is to be done every hour. */
export const keepUp = async ({
  pool,
  log,
  clock,
  retentionDays,
  accessDays,
}: Omit<UpkeepParts, 'leases' | 'signal'>): Promise<void> => {
  const now = await databaseTime(pool)
  const weeks = Array.from({ length: weeksAhead + 1 }, (_, index) => now + index * 7 * 86_400_000)
  await partitionsFor(pool)(weeks.map((instant) => new Date(instant).toISOString()))
  await forgetSubjects(pool, retentionDays)
  await forgetCalls(pool, retentionDays)
  await forgetCallsOfFirms(pool, clock.now())
  await forgetNotes(pool, retentionDays)
  await forgetSetUp(pool)
  for (const week of await weeksKept(pool)) {
    if (weekAfter(week) > now - retentionDays * 86_400_000) continue
    await thinOut(pool, week, retentionDays)
    if (await drop(pool, week)) log.info({ week: new Date(week) }, 'old deliveries dropped')
  }
  // Last, since it waits for whoever reads the accesses.
  await keepAccesses({ pool, log, accessDays })
}

const databaseTime = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ now: Date }>('select now()')
  return rows[0]?.now.getTime() ?? Date.now()
}

const weeksKept = async (pool: Pool): Promise<readonly number[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'delivery'::regclass order by name`,
  )
  return rows.map(({ name }) => weekOf(Date.parse(`${name.slice('delivery_'.length).replaceAll('_', '-')}T00:00:00Z`)))
}

const thinnedAtOnce = 2_000

/**
 * Moves what ended long ago of a week to `delivery_kept`, though something else of that week is still needed, so that a
 * connection that is switched off does not keep the deliveries of all others. Events of that time are then not planned again,
 * since it is no longer known which of them were sent.
 */
const thinOut = async (pool: Pool, week: number, retentionDays: number): Promise<void> => {
  const [from, to] = [new Date(week), new Date(weekAfter(week))]
  await pool.query(sql`
    update delivery_planning set dropped_before = ${to}
    where dropped_before is null or dropped_before < ${to}::timestamptz`)
  const thinFrom = async (after: string): Promise<string | undefined> => {
    const { rows } = await pool.query<{ id: string }>(sql`
      with looked_at as materialized (
        select id from delivery where recorded_at >= ${from} and recorded_at < ${to} and id > ${after}::uuid
        order by id limit ${thinnedAtOnce}
      ), gone as (
        delete from delivery using looked_at
        where delivery.id = looked_at.id and recorded_at >= ${from} and recorded_at < ${to} and state <> 'pending'
          and finished_at < now() - make_interval(days => ${retentionDays})
        returning delivery.*
      ), attempts as (
        delete from delivery_attempt using gone
        where delivery_id = gone.id and delivery_attempt.recorded_at >= ${from} and delivery_attempt.recorded_at < ${to}
        returning delivery_id, number, delivery_attempt.started_at, delivery_attempt.finished_at, outcome, status,
          delivery_attempt.reason, exchange -> 'request' as request
      ), kept as (
        insert into delivery_kept (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, sequence,
          subject_type, subject_id, state, reason, planned_at, finished_at, attempts)
        select recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, sequence, subject_type,
          subject_id, state, reason, planned_at, finished_at, (
            select coalesce(json_agg(json_build_object('number', number, 'started_at', started_at, 'finished_at', finished_at,
              'outcome', outcome, 'status', status, 'reason', reason, 'request',
              case when request is not null then json_build_object('method', request -> 'method', 'url', request -> 'url',
                'headers', '{}'::json, 'body_sha256', request -> 'body_sha256') end, 'response', null) order by number), '[]')
            from attempts where delivery_id = gone.id)
        from gone
      )
      select id from looked_at order by id offset ${thinnedAtOnce - 1}`)
    return rows[0]?.id
  }
  let after: string | undefined = '00000000-0000-0000-0000-000000000000'
  while (after !== undefined) after = await thinFrom(after)
}

/** Drops the partitions of a week in which nothing is left. It gives up when it would have to wait for long. */
const drop = async (pool: Pool, week: number): Promise<boolean> => {
  const [from, to] = [new Date(week), new Date(weekAfter(week))]
  const isNeeded = sql`select from delivery where recorded_at >= ${from} and recorded_at < ${to} limit 1`
  if ((await pool.query(isNeeded)).rowCount === 1) return false

  return transaction(pool, async (db) => {
    await db.query(`set local lock_timeout = '2s'`)
    await db.query('lock table delivery, delivery_attempt in access exclusive mode')
    if ((await db.query(isNeeded)).rowCount === 1) return false
    const suffix = from.toISOString().slice(0, 10).replaceAll('-', '_')
    await db.query(`drop table "delivery_${suffix}", "delivery_attempt_${suffix}"`)
    return true
  })
}

const forgottenAtOnce = 5_000

/** Forgets subjects about which nothing happened for long. If something does, they are read from the log again. */
const forgetSubjects = async (pool: Pool, retentionDays: number): Promise<void> => {
  for (;;) {
    const { rowCount } = await pool.query(sql`
      delete from delivery_known where kind = 'subject' and id = any (array(
        select id from delivery_known
        where kind = 'subject' and learned_at < now() - make_interval(days => ${retentionDays})
        limit ${forgottenAtOnce}))`)
    if ((rowCount ?? 0) < forgottenAtOnce) return
  }
}

/** Drops old entries of the integration log; what is left of each connection is bounded by its slots. */
const forgetCalls = async (pool: Pool, retentionDays: number): Promise<void> => {
  for (;;) {
    const { rowCount } = await pool.query(sql`
      delete from integration_log where (connection_id, slot) in (
        select connection_id, slot from integration_log
        where (at at time zone 'UTC')::date <= ((now() - make_interval(days => ${retentionDays})) at time zone 'UTC')::date
          and at < now() - make_interval(days => ${retentionDays})
        limit ${forgottenAtOnce} for update skip locked)`)
    if ((rowCount ?? 0) < forgottenAtOnce) return
  }
}

/** Drops entries of the integration log that are over all periods of their organisation that bind. */
const forgetCallsOfFirms = async (pool: Pool, now: Date): Promise<void> => {
  try {
    for (;;) {
      const { rowCount } = await pool.query(sql`
        delete from integration_log where (connection_id, slot) in (
          select connection_id, slot from retention_rules as rules cross join lateral (
            select min(now() - period::interval) as before from (
              select rules.document #>> '{periods,integration_log}' as period
              union all
              select former ->> 'period' from json_array_elements(rules.document -> 'former') as former
              where former ->> 'kind' = 'integration_log' and (former ->> 'until')::timestamptz > ${now}::timestamptz) as binding
            having bool_and(period is not null)) as kept
          cross join lateral (
            select connection_id, slot from integration_log as entry
            where entry.organisation_id = rules.organisation_id and direction in ('inbound', 'outbound')
              and accepted in (true, false) and at < kept.before
            limit ${forgottenAtOnce} for update skip locked) as old
          limit ${forgottenAtOnce})`)
      if ((rowCount ?? 0) < forgottenAtOnce) return
    }
  } catch (error) {
    // No organisation has said anything yet.
    if (!isTableNotMade(error)) throw error
  }
}

/** The cost of reading can be shown for a year. */
const useKeptDays = 400

/** Also bounded by nothing else: messages that went to the outbox, what was sent again, and what reading cost on a day. */
const forgetNotes = async (pool: Pool, retentionDays: number): Promise<void> => {
  for (const { table, isOld } of [
    { table: 'outreach_outbox', isOld: 'sent_at < now() - make_interval(days => $1)' },
    { table: 'delivery_recovery', isOld: 'finished_at < now() - make_interval(days => $1)' },
    { table: 'reading_use', isOld: `day < (now() - make_interval(days => greatest($1, ${useKeptDays})))::date` },
  ]) {
    const text = `delete from ${table} where ctid = any (array(select ctid from ${table} where ${isOld} limit ${forgottenAtOnce}))`
    while (((await pool.query(text, [retentionDays])).rowCount ?? 0) === forgottenAtOnce);
  }
}

/**
 * Forgets what was set up before the last thing that every planner has passed: of each thing, the last state up to there stays.
 * A partition that was planned as far as it was published is as far as the relay.
 */
const forgetSetUp = async (pool: Pool): Promise<void> => {
  await pool.query(sql`
    with planned as (
      select case when published.position is null or own.position >= published.position then relay.position
        else own.position end as position
      from delivery_planning join kafka_published as published on source = 'kafka ' || topic
      left join consumer_checkpoint as own on own.name = ${`${planner.name} `} || topic || ' ' || partition
      left join consumer_checkpoint as relay on relay.name = ${relayOf('').name} || topic
      union all
      select own.position from delivery_planning join consumer_checkpoint as own on own.name = ${planner.name}
      where source = ${fromLog}
    ), passed as (
      select min(coalesce(position, '')) as position from planned
    )
    delete from delivery_set_up as old using passed
    where old.position < passed.position and exists (
      select from delivery_set_up as later
      where later.organisation_id = old.organisation_id and later.kind = old.kind and later.id = old.id
        and later.position > old.position and later.position <= passed.position)`)
}
