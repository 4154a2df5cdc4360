-- What is settled in the log no longer waits for all that write while some append has no transaction id yet.

-- Since when each append locks the table before it has an id; null until a process has started after the migration. An append
-- that 1140 has overtaken took its id first: event_log.horizon would not see it.
alter table event_log.state add column locks_first_since timestamptz;
update event_log.state set locks_first_since = '-infinity' where not exists (select from event_log.event);

-- Of transactions below this, all that append have ended: what they appended can be read by any statement that begins
-- after this one, and nothing more will come.
--
-- First the given ids are read, and then who holds the lock that an append takes before it has an id. Who was given an id and
-- does not hold the lock by then has ended, or never appends. An append without an id will get a later one, or it has one that
-- its locks do not show yet: that is one of those that were running, and nobody else shows it. What has no process is a prepared
-- transaction, whose locks are moved one after the other: where it may be the one that appends, all that were running count.
create or replace function event_log.horizon() returns bigint language plpgsql volatile as $function$
declare
  given pg_snapshot := pg_current_snapshot();
  given_end bigint := pg_snapshot_xmax(given)::text::bigint;
  all_ended bigint := pg_snapshot_xmin(given)::text::bigint;
  state event_log.state;
  oldest bigint;
begin
  select * into strict state from event_log.state;

  -- No attempt to append takes as long as this.
  if state.locks_first_since is null or state.locks_first_since > clock_timestamp() - interval '10 seconds' then
    return all_ended + state.transaction_offset;
  end if;

  -- Ids of locks have 32 bits, so that they are counted back from the end of the given ones.
  with held as materialized (select * from pg_locks where granted),
  own as materialized (
    select virtualtransaction,
      given_end - ((given_end - transactionid::text::bigint + 2147483648) % 4294967296 - 2147483648) as id
    from held where locktype = 'transactionid' and mode = 'ExclusiveLock' and pid is not null),
  appending as materialized (
    select held.pid, own.id from held left join own using (virtualtransaction)
    where locktype = 'relation' and relation = 'event_log.event'::regclass and mode = 'RowExclusiveLock'
      and database = (select oid from pg_database where datname = current_database()))
  select least(
    (select min(id) from appending),
    (select min(running::text::bigint) from pg_snapshot_xip(given) as running
      where exists (select from appending where id is null)
        and (exists (select from appending where pid is null) or running::text::bigint not in (select id from own))))
  into oldest;

  return greatest(all_ended, least(given_end, oldest)) + state.transaction_offset;
end
$function$;
