-- Reads of some categories, such as that of a consumer that starts, neither pass over all the others nor sort.
create index event_category on event_log.event (category, transaction_id, position);

-- What live folds had added up to at a position of the log, so that a process need not read the whole log at its start.
create table live_fold_snapshot (
  name text not null,
  version integer not null,
  position text collate "C" not null,
  last_stream text not null,
  last_revision bigint not null,
  last_event_id uuid not null,
  state text not null,
  saved_at timestamptz not null default now(),
  primary key (name, version)
);
alter table live_fold_snapshot alter column state set storage external;
