-- Records that a consumer of the log has set aside: an event could not be handled, and later events of the record wait.
--
-- `record` is what waits, `stream` a stream whose events wait because of it, from `revision` on. They are the same stream
-- but for reactions, where a record is the stream that the reaction writes to. `reason` is null for a stream whose events
-- only wait behind an event of another stream.
create table consumer_set_aside (
  consumer text not null,
  record text collate "C" not null,
  stream text collate "C" not null,
  revision bigint not null,
  event_id uuid not null,
  type text not null,
  reason text,
  set_aside_at timestamptz not null default now(),
  resume_requested_at timestamptz,
  primary key (consumer, record, stream)
);

-- A consumer no longer stops at an event.
alter table consumer_checkpoint drop column failed_at, drop column failure;
