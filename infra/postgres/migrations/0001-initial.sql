-- Everything that the version before migrations made at its start, hence `if not exists`. No later migration needs that.

-- The event log.
--
-- `transaction_id` and `position` together make the order of the log. A position alone would not: it is taken when an
-- event is written, but events appear when their transactions commit, in another order.
--
-- `data` and `metadata` are `json`, not `jsonb`, which would refuse the characters that PostgreSQL cannot hold as text.
-- `data` is not compressed, so that its size in the table is the size that a reader gets.
--
-- `state.transaction_offset` is added to every transaction id. A log that is restored into another server would
-- otherwise count its transactions anew, and new events would come before old ones.
create schema if not exists event_log;

create table if not exists event_log.state (
  only_row boolean primary key default true check (only_row),
  transaction_offset bigint not null default 0
);
-- The earlier version kept a checksum of its definitions here.
alter table event_log.state drop column if exists definition;
insert into event_log.state default values on conflict do nothing;

create table if not exists event_log.event (
  position bigint generated always as identity,
  transaction_id bigint not null,
  revision bigint not null,
  recorded_at timestamptz not null default clock_timestamp(),
  id uuid not null,
  schema_version integer not null,
  stream text collate "C" not null,
  category text collate "C" not null,
  type text collate "C" not null,
  data json not null,
  metadata json not null,
  constraint event_revision primary key (stream, revision),
  constraint event_id unique (id)
);
create index if not exists event_order on event_log.event (transaction_id, position);
alter table event_log.event alter column data set storage external;

-- Stores a batch of appends to different streams, each whole or not at all, and returns the outcome of each.
--
-- The arrays `streams` to `first_ids` have an element for each append, ordered by stream so that two batches never wait
-- for each other in a circle; the others have one for each event, with the number of its append and its place therein.
-- `expecteds` holds -1 for a stream without events and -2 for any.
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

-- How far each consumer of the log has come.
create table if not exists consumer_checkpoint (
  name text primary key,
  version integer not null,
  generation integer not null default 1,
  position text collate "C",
  categories text[] not null,
  awaited boolean not null,
  failed_at timestamptz,
  failure json,
  updated_at timestamptz not null default now()
);

-- Deliveries.
--
-- `delivery_known` is what planning has read from the log. It changes only together with the planner's checkpoint.
-- `delivery` has a row for every webhook that was ever planned. While it is pending, `due_at` says when it may be claimed
-- next; a claim moves that on, so that a delivery whose worker died is claimed again.
-- `delivery_attempt` has a row for every attempt to send, written before the attempt.
--
-- Columns of `json` hold characters that PostgreSQL cannot hold as text. Positions of the log compare as bytes.
create table if not exists delivery_known (
  kind text not null,
  id uuid not null,
  organisation_id uuid not null,
  fact json not null,
  primary key (kind, id)
);
create index if not exists delivery_known_set_up on delivery_known (organisation_id) where kind <> 'subject';

create table if not exists delivery (
  id uuid primary key,
  organisation_id uuid not null,
  event_id uuid not null,
  action_id uuid not null,
  connection_id uuid not null,
  type text not null,
  position text collate "C" not null,
  application_id uuid not null,
  quote_id uuid,
  message json not null,
  state text not null check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  reason text,
  attempts integer not null default 0,
  due_at timestamptz not null,
  planned_at timestamptz not null,
  finished_at timestamptz,
  unique (event_id, action_id)
);
create index if not exists delivery_due on delivery (connection_id, due_at, position) where state = 'pending';
create index if not exists delivery_log on delivery (organisation_id, planned_at, event_id, id);
create index if not exists delivery_unsent on delivery (organisation_id, planned_at, event_id, id)
  where state in ('failed', 'cancelled');

create table if not exists delivery_attempt (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  outcome text check (outcome in ('answered', 'unanswered', 'refused', 'lost')),
  status integer,
  reason text,
  primary key (delivery_id, number)
);

-- Requests counted by all processes together. Unlogged: counts of a few minutes need not survive a crash of the server.
create unlogged table if not exists rate_limit (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
