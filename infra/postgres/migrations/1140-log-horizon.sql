-- Readers of the log wait for transactions that append, and no longer for all that write anything.
--
-- event_log.append is as before, but locks the table before its transaction has an id.
create or replace function event_log.append(
  streams text[], expecteds bigint[], sizes integer[], first_ids uuid[],
  appends integer[], places integer[], ids uuid[], types text[], schema_versions integer[], datas json[], metadatas json[]
) returns table (append integer, outcome text, revision bigint, transaction_id bigint, "position" bigint)
-- A plan made anew for each batch would take longer than its execution.
language plpgsql set plan_cache_mode = force_generic_plan as $function$
#variable_conflict use_column
declare
  accepted bigint[];
  this_transaction bigint;
begin
  -- Before this transaction has an id: event_log.horizon finds those that append by it.
  lock table event_log.event in row exclusive mode;

  -- A transaction that wrote earlier has an older id than the events that it would now append: readers may be past it.
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'An append must be the first write of its transaction.' using errcode = '25001';
  end if;

  -- For each append the last revision of its stream if the append may follow it, else null.
  accepted := array(
    select case
      when asked.expected = asked.last then asked.last
      when asked.expected = -2
        and (select known.id from event_log.event known where known.id = asked.first_id) is null then asked.last
    end
    from (
      select append.ordinal, append.expected, append.first_id, coalesce((
        select event.revision from event_log.event event
        where event.stream = append.stream order by event.revision desc limit 1), -1) as last
      from unnest(streams, expecteds, first_ids) with ordinality as append (stream, expected, first_id, ordinal)
      offset 0) as asked
    order by asked.ordinal);

  select pg_current_xact_id()::text::bigint + state.transaction_offset into this_transaction from event_log.state state;

  return query
  with stored as (
    insert into event_log.event as event
      (transaction_id, revision, id, schema_version, stream, category, type, data, metadata)
    select this_transaction, accepted[new.append] + 1 + new.place, new.id, new.schema_version,
      streams[new.append], split_part(streams[new.append], '-', 1), new.type, new.data, new.metadata
    from unnest(appends, places, ids, types, schema_versions, datas, metadatas)
      as new (append, place, id, type, schema_version, data, metadata)
    where accepted[new.append] is not null
    order by new.append, new.place
    returning event.stream, event.revision, event.position
  )
  select array_position(streams, stored.stream), 'appended', max(stored.revision), this_transaction, max(stored.position)
  from stored group by stored.stream;

  if array_position(accepted, null) is null then
    return;
  end if;

  -- The same events at the same place are the same append, which has been done. Of an event that is there, but not
  -- as part of the same append, nothing more may be stored.
  return query
  select asked.ordinal::integer,
    case when found.same then 'appended' when asked.expected = -2 then 'taken' else 'conflict' end,
    case when found.same then found.revision else last.revision end, found.transaction_id, found.position
  from unnest(streams, expecteds, sizes) with ordinality as asked (stream, expected, size, ordinal),
    lateral (
      select count(*) = asked.size and min(event.revision - new.place) = max(event.revision - new.place)
          and (asked.expected = -2 or min(event.revision - new.place) = asked.expected + 1) as same,
        max(event.revision) as revision, max(event.transaction_id) as transaction_id, max(event.position) as position
      from unnest(appends, places, ids) as new (append, place, id)
      join event_log.event event on event.id = new.id and event.stream = asked.stream
      where new.append = asked.ordinal) as found,
    lateral (select max(event.revision) as revision from event_log.event event where event.stream = asked.stream) as last
  where accepted[asked.ordinal] is null;
end
$function$;

-- Of transactions below this, all that append have ended: what they appended can be read by any statement that begins
-- after this one, and nothing more will come.
--
-- First the end of the given ids is read, and then who holds the lock that an append takes before it has an id. Who has an
-- id below that end and does not hold the lock by then has ended, or never appends. Who holds the lock without an id may be
-- about to show it: all that write are waited for then, as pg_snapshot_xmin says.
create function event_log.horizon() returns bigint language plpgsql volatile as $function$
declare
  given pg_snapshot := pg_current_snapshot();
  given_end bigint := pg_snapshot_xmax(given)::text::bigint;
  all_have_ids boolean;
  oldest bigint;
begin
  -- Ids of locks have 32 bits, so that they are counted back from the end of the given ones.
  with held as materialized (select * from pg_locks where granted)
  select bool_and(own.transactionid is not null),
    min(given_end - ((given_end - own.transactionid::text::bigint + 2147483648) % 4294967296 - 2147483648))
  into all_have_ids, oldest
  from held as appending left join held as own
    on own.virtualtransaction = appending.virtualtransaction and own.locktype = 'transactionid'
      and own.mode = 'ExclusiveLock'
  where appending.locktype = 'relation' and appending.relation = 'event_log.event'::regclass
    and appending.database = (select oid from pg_database where datname = current_database())
    and appending.mode = 'RowExclusiveLock';

  return case when all_have_ids is false then pg_snapshot_xmin(given)::text::bigint
      else least(given_end, oldest) end
    + (select transaction_offset from event_log.state);
end
$function$;
