-- What came in over custom integrations, and what was called of them: a row for each delivery that was accepted or refused,
-- and for each attempt of ours. It holds no body and nothing that a sender wrote but the type of an event whose signature
-- was right. Each connection has a fixed number of slots, which are used in turn, so that nobody fills the disk.
-- Refusals for being too many share a row for each minute: `count` says how many they were.
create table integration_log (
  connection_id uuid not null,
  slot integer not null,
  id uuid not null,
  organisation_id uuid not null,
  custom_integration_id uuid not null,
  direction text not null check (direction in ('inbound', 'outbound')),
  at timestamptz not null default now(),
  accepted boolean not null,
  status integer,
  reason text not null,
  event_type text,
  -- The inbound event that was accepted, or the delivery of ours.
  subject_id uuid,
  bytes integer,
  source_address text,
  count integer not null default 1,
  primary key (connection_id, slot)
);
create index integration_log_organisation on integration_log (organisation_id, at, id);
create index integration_log_connection on integration_log (connection_id, at, id);
create index integration_log_at on integration_log (at);

-- The slot that was used last, and the row of refusals that this minute has.
create table integration_log_slot (
  connection_id uuid primary key,
  used bigint not null,
  refused_minute timestamptz,
  refused_slot integer
) with (fillfactor = 50);
