import type { ClientBase, Pool } from 'pg'
import { sql } from '#infra/postgres/postgres.ts'
import type { Candidate } from './slots.ts'

const none = '00000000-0000-0000-0000-000000000000'
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** At most so many connections of one organisation are looked at in one go, and so many altogether. */
const ofOneOrganisation = 256
const altogether = 1_000

type Place = { readonly organisation_id: string; readonly connection_id: string }
type Row = Candidate & { readonly is_due: boolean; readonly is_last: boolean }

/** The candidates found are used again for so long, while there is more than can be sent. */
const keptMs = 50

type Found = { readonly candidates: readonly Candidate[]; readonly withUnproven: boolean; readonly at: number }

/**
 * Finds connections that have something due, each time from the place where the search before stopped, so that all
 * organisations and all connections have their turn. It costs one step in the index for each connection that has
 * something pending, however much that is.
 */
export const candidateSearch = (pool: Pool, monotonicMs: () => number = () => performance.now()) => {
  let after: Place = { organisation_id: none, connection_id: none }
  let kept: Found | undefined

  const look = async (withUnproven: boolean, full: readonly string[]): Promise<readonly Candidate[]> => {
    const { found, end } = await search(pool, after, withUnproven, full)
    if (end || after.connection_id === none) {
      if (end) after = end
      return found
    }
    // The end of the index was reached: the rest comes before the place where the search began.
    const rest = await search(pool, { organisation_id: none, connection_id: none }, withUnproven, full)
    const seen = new Set(found.map(({ connection_id }) => connection_id))
    return [...found, ...rest.found.filter(({ connection_id }) => !seen.has(connection_id))]
  }

  return {
    /** An organisation that is full has no room for another connection that is not proven. */
    find: async (withUnproven: boolean, full: readonly string[] = []): Promise<readonly Candidate[]> => {
      const isUsable = kept && monotonicMs() - kept.at < keptMs && (kept.withUnproven || !withUnproven)
      if (kept && isUsable) return turnedTo(kept.candidates, after)
      const at = monotonicMs()
      const candidates = await look(withUnproven, full)
      kept = candidates.length > 0 ? { candidates, withUnproven, at } : undefined
      return candidates
    },
    /** The candidates found are out of date. */
    forget: (): void => {
      kept = undefined
    },
    /** The next search begins behind this one. */
    moveTo: ({ organisation_id, connection_id }: Place): void => {
      after = { organisation_id, connection_id }
    },
  }
}

/** The same, beginning behind a place. */
const turnedTo = (candidates: readonly Candidate[], { connection_id }: Place): readonly Candidate[] => {
  const first = candidates.findIndex((each) => each.connection_id === connection_id) + 1
  return [...candidates.slice(first), ...candidates.slice(0, first)]
}

/** `end` is where it stopped for this time; undefined when it reached the end of the index. */
const search = async (
  pool: Pool,
  { organisation_id, connection_id }: Place,
  withUnproven: boolean,
  full: readonly string[],
): Promise<{ readonly found: readonly Candidate[]; readonly end: Place | undefined }> => {
  const statement = sql`
    with recursive pending as (
      (select organisation_id, connection_id, due_at, 1 as place from delivery_queue
        where (organisation_id, connection_id) > (${organisation_id}::uuid, ${connection_id}::uuid)
          and (leased_until is null or leased_until <= now())
        order by organisation_id, connection_id, due_at limit 1)
      union all
      select next.organisation_id, next.connection_id, next.due_at,
        case when next.organisation_id = pending.organisation_id then place + 1 else 1 end
      from pending cross join lateral (
        select organisation_id, connection_id, due_at from delivery_queue as queue
        where (queue.organisation_id, queue.connection_id) > (pending.organisation_id,
          case when place >= ${ofOneOrganisation} then ${last}::uuid else pending.connection_id end)
          and (leased_until is null or leased_until <= now())
        order by organisation_id, connection_id, due_at limit 1) as next
    ), candidate as (
      select *, row_number() over () = ${altogether} as is_last from (select * from pending limit ${altogether}) as pending
    )
    select candidate.organisation_id, connection_id, coalesce(state, 'new') as standing, is_last,
      coalesce(per_second, at_once) is not null as limited, disable_after_minutes is not null as watched,
      disabled_at is null and due_at <= now() and (state is distinct from 'half_open' or probe_until <= now())
        and (per_second is null
          or next_at <= now() + make_interval(secs => greatest(1, 1 / per_second) - 1 / per_second)) as is_due
    from candidate left join delivery_endpoint using (connection_id) left join delivery_setting using (connection_id)
    where is_last or (disabled_at is null and due_at <= now()
      and (state = 'closed' or (${withUnproven} and candidate.organisation_id <> all (${full}::uuid[])))
      and (state is distinct from 'half_open' or probe_until <= now()))`
  const { rows } = await pool.query<Row>({ ...statement, name: 'delivery-search' })
  return {
    found: rows.filter(
      ({ is_due, standing, organisation_id: organisation }) =>
        is_due && (standing === 'closed' || (withUnproven && !full.includes(organisation))),
    ),
    end: rows.find(({ is_last }) => is_last),
  }
}

/**
 * `closed`: it answers in time. `slow`: it succeeds, but slowly. `open`: neither. `unknown`: nothing was sent, so a probe is
 * given back.
 */
export type Standing = 'closed' | 'slow' | 'open' | 'unknown'

/** Records the state of connections, for all workers. What has not changed is not written. */
export const recordStandings = async (pool: Pool, standings: ReadonlyMap<string, Standing>): Promise<void> => {
  const inOrder = [...standings].toSorted(([one], [other]) => (one < other ? -1 : 1))
  await pool.query(sql`
    with seen as materialized (
      select * from unnest(${inOrder.map(([id]) => id)}::uuid[], ${inOrder.map(([, standing]) => standing)}::text[])
        as seen (connection_id, standing)
    ), given_back as (
      update delivery_endpoint as endpoint set state = 'open', probe_until = null
      from seen where endpoint.connection_id = seen.connection_id and standing = 'unknown' and state = 'half_open'
    )
    insert into delivery_endpoint (connection_id, state)
    select connection_id, standing from seen left join delivery_endpoint as before using (connection_id)
    where standing <> 'unknown' and before.state is distinct from standing
    on conflict (connection_id) do update set state = excluded.state, since = now(), probe_until = null`)
}

/** The ends of sends over a connection: an answer of 4xx is neither. */
export type Health = 'well' | 'failing'

/**
 * Counts how long connections have been failing that are disabled when that takes too long. What is disabled, or half-way
 * there, is news.
 */
export const recordHealth = async (pool: Pool, health: ReadonlyMap<string, Health>): Promise<void> => {
  const inOrder = [...health].toSorted(([one], [other]) => (one < other ? -1 : 1))
  await pool.query(sql`
    with seen as materialized (
      select * from unnest(${inOrder.map(([id]) => id)}::uuid[], ${inOrder.map(([, each]) => each)}::text[])
        as seen (connection_id, health)
    ), well as (
      update delivery_setting as setting set failing_since = null, warned_at = null
      from seen where setting.connection_id = seen.connection_id and health = 'well' and failing_since is not null
    ), failing as materialized (
      select setting.* from delivery_setting as setting join seen using (connection_id)
      where health = 'failing' and disable_after_minutes is not null and disabled_at is null
      for update of setting
    ), counted as (
      update delivery_setting as setting
      set failing_since = coalesce(failing.failing_since, now()),
        warned_at = case when failing.failing_since <= now() - make_interval(secs => failing.disable_after_minutes * 30)
          then coalesce(failing.warned_at, now()) end,
        disabled_at = case when failing.failing_since <= now() - make_interval(mins => failing.disable_after_minutes)
          then now() end
      from failing where setting.connection_id = failing.connection_id
      returning setting.*, failing.warned_at as warned_before
    )
    insert into delivery_news (organisation_id, type, data)
    select organisation_id, case when disabled_at is null then 'ConnectionFailing' else 'ConnectionDisabled' end,
      case when disabled_at is null
        then json_build_object('connection_id', connection_id, 'failing_since', failing_since,
          'disabled_from', failing_since + make_interval(mins => disable_after_minutes))
        else json_build_object('connection_id', connection_id, 'failing_since', failing_since) end
    from counted where disabled_at is not null or (warned_at is not null and warned_before is null)`)
}

/** A connection that was changed starts again as new. */
export const forgetStandings = async (db: ClientBase, connectionIds: readonly string[]): Promise<void> => {
  if (connectionIds.length === 0) return
  await db.query(sql`delete from delivery_endpoint where connection_id = any (${connectionIds}::uuid[])`)
}
