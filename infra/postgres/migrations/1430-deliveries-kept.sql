-- What was sent where, when and with which answer, for good: `delivery` and `delivery_attempt` are dropped after
-- DELIVERY_RETENTION_DAYS, and what is left of them stands here. `attempts` are as they are shown, without headers and bodies:
-- of a body the digest stays.
create table delivery_kept (
  recorded_at timestamptz not null,
  id uuid not null,
  organisation_id uuid not null,
  event_id uuid not null,
  action_id uuid not null,
  connection_id uuid not null,
  type text not null,
  stream text collate "C" not null,
  sequence bigint not null,
  subject_type text not null,
  subject_id uuid not null,
  state text not null,
  reason text,
  planned_at timestamptz not null,
  finished_at timestamptz,
  attempts json not null,
  primary key (recorded_at, id)
);
create index delivery_kept_event on delivery_kept (event_id);
