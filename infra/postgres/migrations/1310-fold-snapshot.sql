-- What was folded of the log up to a position of it: a whole live fold, or one long stream. A snapshot can be lost or removed
-- at any time, since the log holds all there is. It takes the place of live_fold_snapshot and membership_snapshot, which stay
-- for processes of the version before.
create table fold_snapshot (
  -- That of the live fold, or of the stream.
  name text not null,
  version integer not null,
  position text collate "C" not null,
  -- The last event that it holds: another event there means another log.
  last_stream text not null,
  last_revision bigint not null,
  last_event_id uuid not null,
  -- JSON. What is personal in it is sealed.
  state text not null,
  saved_at timestamptz not null default now(),
  primary key (name, version)
);
alter table fold_snapshot alter column state set storage external;
