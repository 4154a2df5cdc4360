-- Deliveries that are sent again, paced, ordered and watched.
--
-- `sequence` is the revision of the event in its stream: a later event of a record has a greater one.
alter table delivery add column sequence bigint not null default 0;

-- `attempts_before` counts the attempts before the delivery was sent again: the five begin anew, their numbers go on.
-- `in_order` is set while its connection sends the deliveries of one stream one after the other: all but the first of them are
-- due at infinity, and the end of one makes the next one due.
alter table delivery_queue add column attempts_before integer not null default 0,
  add column in_order boolean not null default false;
create index delivery_in_order on delivery_queue (connection_id, stream, position) where in_order;
create index delivery_blocked on delivery_queue (connection_id) where due_at = 'infinity';

-- `exchange` holds the heads of the request and of the answer without secrets. `sealed` holds the bodies of an attempt that
-- failed, under the data key of the person whom they are about.
alter table delivery_attempt add column exchange json, add column key_id uuid, add column sealed bytea;

-- What the operator set for a connection, and what follows from it: `next_at` is when its rate is used up to,
-- `failing_since` is the first failure after its last success, as far as that is counted. While `disabled_at` is set,
-- nothing is sent over it, and what is planned waits. A connection without settings has no row.
create table delivery_setting (
  connection_id uuid primary key,
  organisation_id uuid not null,
  per_second double precision,
  at_once integer,
  in_order boolean not null default false,
  disable_after_minutes integer,
  next_at timestamptz not null default '-infinity',
  failing_since timestamptz,
  warned_at timestamptz,
  disabled_at timestamptz
);

-- What the operator asked to be sent again. `after_recorded_at` and `after_id` say how far it is: they move in the transaction
-- that puts deliveries back into the queue.
create table delivery_recovery (
  id uuid primary key,
  organisation_id uuid not null,
  requested_at timestamptz not null,
  delivery_id uuid,
  connection_id uuid,
  types text[],
  states text[] not null,
  since timestamptz not null,
  until timestamptz not null,
  per_second double precision not null,
  after_recorded_at timestamptz not null,
  after_id uuid not null default '00000000-0000-0000-0000-000000000000',
  next_at timestamptz not null default now(),
  resent integer not null default 0,
  skipped integer not null default 0,
  finished_at timestamptz
);
create index delivery_recovery_list on delivery_recovery (organisation_id, requested_at, id);
create index delivery_recovery_due on delivery_recovery (next_at) where finished_at is null;

-- What is to be appended to the log: that a delivery failed, or that a connection is in trouble.
create table delivery_news (
  id uuid primary key default gen_random_uuid(),
  organisation_id uuid not null,
  happened_at timestamptz not null default now(),
  type text not null,
  data json not null
);

-- The feed of lifecycle events, in the order of the log, and what is remembered of their subjects.
create table lifecycle_event (
  organisation_id uuid not null,
  position text collate "C" not null,
  event_id uuid not null,
  type text not null,
  product_id uuid,
  recorded_at timestamptz not null,
  document json not null,
  primary key (organisation_id, position)
);
create index lifecycle_event_type on lifecycle_event (organisation_id, type, position);
create index lifecycle_event_product on lifecycle_event (organisation_id, product_id, position);
create index lifecycle_event_time on lifecycle_event (organisation_id, recorded_at, position);
create table lifecycle_subject (
  id uuid not null,
  type text not null,
  organisation_id uuid not null,
  facts json not null,
  primary key (type, id)
);
