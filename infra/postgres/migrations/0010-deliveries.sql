-- Deliveries that know no capability, in partitions by week.
--
-- `delivery` has a row for every delivery that was ever planned. `recorded_at` is when the log recorded its event: that
-- never changes, so that one event and one action make one delivery however often they are planned. A row is updated once,
-- when the delivery is finished, and no index holds a column that changes when it is delivered.
-- `delivery_queue` has a row for every pending delivery. `due_at` says when it may be claimed next; a claim moves that on,
-- so that a delivery whose worker died is claimed again. `sent` counts attempts that were really sent, `unsent` those
-- that were lost with a worker or failed before anything was sent, `waited_seconds` is the sum of the delays so far, and
-- `started_at` is set while an attempt is under way.
-- `delivery_attempt` has a row for every attempt that ended.
-- `delivery_endpoint` is the circuit breaker of a connection, shared by all workers. One without a row is new.
-- `delivery_known` is what planning knows from the log. It changes only together with the planner's checkpoint. A subject
-- about which nothing happened for long is forgotten and read from the log again.
--
-- Columns of `json` hold characters that PostgreSQL cannot hold as text. Positions of the log compare as bytes.
alter table delivery rename to delivery_old;
alter table delivery_attempt rename to delivery_attempt_old;
alter index delivery_pkey rename to delivery_old_pkey;
alter index delivery_attempt_pkey rename to delivery_attempt_old_pkey;
drop index delivery_due, delivery_log, delivery_unsent;

create table delivery (
  recorded_at timestamptz not null,
  id uuid not null,
  organisation_id uuid not null,
  event_id uuid not null,
  action_id uuid not null,
  connection_id uuid not null,
  type text not null,
  stream text collate "C" not null,
  position text collate "C" not null,
  subject_type text not null,
  subject_id uuid not null,
  message json not null,
  state text not null check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  reason text,
  planned_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Set for a delivery that failed or was cancelled.
  unsent_at timestamptz,
  primary key (id, recorded_at)
) partition by range (recorded_at);
create index delivery_log on delivery (organisation_id, recorded_at, id);
create index delivery_stream on delivery (organisation_id, stream, recorded_at, id);
create index delivery_subject on delivery (organisation_id, subject_id, recorded_at, id);
create index delivery_event on delivery (event_id);
create index delivery_unsent on delivery (organisation_id, recorded_at, id) where unsent_at is not null;

create table delivery_attempt (
  recorded_at timestamptz not null,
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  outcome text not null check (outcome in ('answered', 'unanswered', 'refused', 'not_sent', 'lost')),
  status integer,
  reason text,
  primary key (delivery_id, number, recorded_at)
) partition by range (recorded_at);

create table delivery_queue (
  id uuid primary key,
  recorded_at timestamptz not null,
  organisation_id uuid not null,
  action_id uuid not null,
  connection_id uuid not null,
  stream text collate "C" not null,
  position text collate "C" not null,
  waits_for text[] not null,
  due_at timestamptz not null default now(),
  sent integer not null default 0,
  unsent integer not null default 0,
  waited_seconds real not null default 0,
  started_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, fillfactor = 70);
create index delivery_due on delivery_queue (organisation_id, connection_id, due_at, position);

create table delivery_endpoint (
  connection_id uuid primary key,
  state text not null check (state in ('closed', 'open', 'half_open')),
  since timestamptz not null default now(),
  -- Until then one worker sends the probe of a connection that is half open.
  probe_until timestamptz
);

-- Makes the partitions of the week of an instant. Each is made beside its table and then attached, which waits for nobody
-- who reads or writes the table.
create function delivery_partition(instant timestamptz) returns void language plpgsql as $function$
declare
  week timestamp := date_trunc('week', instant at time zone 'UTC');
  suffix text := to_char(week, 'YYYY_MM_DD');
  parent text;
begin
  if to_regclass('delivery_attempt_' || suffix) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('delivery partitions'));
  foreach parent in array array['delivery', 'delivery_attempt'] loop
    if to_regclass(parent || '_' || suffix) is null then
      execute format('create table %I (like %I including all)', parent || '_' || suffix, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, parent || '_' || suffix,
        to_char(week, 'YYYY-MM-DD') || ' 00:00+00', to_char(week + interval '7 days', 'YYYY-MM-DD') || ' 00:00+00');
    end if;
  end loop;
end
$function$;

-- When the log recorded an event was not kept. A log in this database knows it; for another one, the time of planning
-- stands in for it.
create temporary table delivery_moved on commit drop as
select old.*, date_trunc('milliseconds', coalesce(event.recorded_at, old.planned_at)) as recorded_at
from delivery_old as old left join event_log.event as event on event.id = old.event_id;

select delivery_partition(week) from (
  select distinct date_trunc('week', recorded_at at time zone 'UTC') at time zone 'UTC' as week from delivery_moved) as weeks;

insert into delivery (recorded_at, id, organisation_id, event_id, action_id, connection_id, type, stream, position,
  subject_type, subject_id, message, state, reason, planned_at, finished_at, unsent_at)
select recorded_at, id, organisation_id, event_id, action_id, connection_id, type, 'application-' || application_id,
  position, case when quote_id is null then 'application' else 'quote' end, coalesce(quote_id, application_id), message,
  state, reason, planned_at, finished_at, case when state in ('failed', 'cancelled') then finished_at end
from delivery_moved;

insert into delivery_queue (id, recorded_at, organisation_id, action_id, connection_id, stream, position, waits_for,
  due_at, sent)
select id, recorded_at, organisation_id, action_id, connection_id, 'application-' || application_id, position,
  case when quote_id is null then array['applications'] else array['applications', 'quotes'] end, due_at, attempts
from delivery_moved where state = 'pending';

insert into delivery_attempt (recorded_at, delivery_id, number, started_at, finished_at, outcome, status, reason)
select moved.recorded_at, old.delivery_id, old.number, old.started_at, coalesce(old.finished_at, now()),
  coalesce(old.outcome, 'lost'), old.status, old.reason
from delivery_attempt_old as old join delivery_moved as moved on moved.id = old.delivery_id;

drop table delivery_old, delivery_attempt_old;

alter table delivery_known rename column fact to facts;
alter table delivery_known add column type text;
alter table delivery_known add column learned_at timestamptz not null default now();
update delivery_known set type = case kind
  when 'organisation' then 'organisation'
  when 'connection' then 'endpoint_connection'
  when 'action' then 'lifecycle_action'
  when 'subject' then case when facts->'premium_pence' is null then 'application' else 'quote' end
end;
update delivery_known
set facts = (facts::jsonb || jsonb_build_object('connection_id', facts->>'endpoint_connection_id'))::json
where kind = 'action';
alter table delivery_known alter column type set not null;
create index delivery_known_learned on delivery_known (learned_at) where kind = 'subject';
