-- `leased_until` is how long one worker has a delivery. It is in no index and `due_at` stays, so that a claim writes to no index,
-- and what a killed worker held comes before what became due later. `is_counted` is set while a delivery counts towards the
-- number that its connection may have at once.
alter table delivery_queue add column leased_until timestamptz, add column is_counted boolean not null default false;
create index delivery_counted on delivery_queue (connection_id) where is_counted;

-- News are read in their order, and settings are listed by organisation.
create index delivery_news_order on delivery_news (happened_at);
create index delivery_setting_list on delivery_setting (organisation_id, connection_id);

-- A delivery is changed once, when it ends. Room on its page keeps that out of its indexes.
create or replace function delivery_partition(instant timestamptz) returns void language plpgsql as $function$
declare
  week timestamp := date_trunc('week', instant at time zone 'UTC');
  suffix text := to_char(week, 'YYYY_MM_DD');
  parent text;
  room integer;
begin
  if to_regclass('delivery_attempt_' || suffix) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('delivery partitions'));
  foreach parent in array array['delivery', 'delivery_attempt'] loop
    if to_regclass(parent || '_' || suffix) is null then
      room := case parent when 'delivery' then 75 else 100 end;
      execute format('create table %I (like %I including all) with (fillfactor = %s)', parent || '_' || suffix, parent, room);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, parent || '_' || suffix,
        to_char(week, 'YYYY-MM-DD') || ' 00:00+00', to_char(week + interval '7 days', 'YYYY-MM-DD') || ' 00:00+00');
    end if;
  end loop;
end
$function$;

do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'delivery'::regclass loop
    execute format('alter table %s set (fillfactor = 75)', partition);
  end loop;
end
$$;
