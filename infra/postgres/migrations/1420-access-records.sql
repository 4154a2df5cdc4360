-- Who was shown personal values, written before the answer leaves: ids and words only, never a value. By month, so that what is no
-- longer kept goes at once.
create table access_record (
  id uuid not null,
  at timestamptz not null,
  -- That of the installation where it is of no organisation.
  organisation_id uuid not null,
  actor_type text not null,
  actor_id text not null,
  method text not null,
  -- The address with its parameters as names.
  route text not null,
  record_type text not null,
  -- What was shown: records, and the people that they name.
  record_ids uuid[] not null,
  rows_shown integer not null,
  -- Where the route can mask them: opened, or masked.
  personal text,
  -- The names of the filters that were used, never what was looked for.
  filters text[] not null,
  request_id text not null,
  primary key (id, at)
) partition by range (at);
create index access_record_time on access_record (organisation_id, at, id);
-- The organisation comes second: of indexes that begin alike the planner would sort all that an organisation has.
create index access_record_actor on access_record (actor_id, organisation_id, at, id);
create index access_record_route on access_record (route, organisation_id, at, id);

-- The same by what was shown.
create table access_subject (
  organisation_id uuid not null,
  record_id uuid not null,
  at timestamptz not null,
  access_id uuid not null,
  primary key (organisation_id, record_id, at, access_id)
) partition by range (at);

-- Makes the partitions of the month of an instant. Each is made beside its table and then attached, which waits for nobody who
-- reads or writes the table.
create function access_partition(instant timestamptz) returns void language plpgsql as $function$
declare
  month timestamp := date_trunc('month', instant at time zone 'UTC');
  suffix text := to_char(month, 'YYYY_MM');
  parent text;
begin
  if to_regclass('access_subject_' || suffix) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('access partitions'));
  foreach parent in array array['access_record', 'access_subject'] loop
    if to_regclass(parent || '_' || suffix) is null then
      execute format('create table %I (like %I including all)', parent || '_' || suffix, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, parent || '_' || suffix,
        to_char(month, 'YYYY-MM-DD') || ' 00:00+00', to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00+00');
    end if;
  end loop;
end
$function$;

select access_partition(now());
