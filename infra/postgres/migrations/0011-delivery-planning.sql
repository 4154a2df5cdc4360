-- From where the planner sends. The row is missing until that is decided: by itself when the log holds nothing to send, by
-- the operator when it does. Events at or before `after_position`, recorded before `from_time`, or recorded before
-- `dropped_before` (where deliveries are no longer kept, so that nobody knows what was sent) are not sent.
create table delivery_planning (
  only_row boolean primary key default true check (only_row),
  decided_at timestamptz not null default now(),
  after_position text collate "C",
  from_time timestamptz,
  dropped_before timestamptz
);
insert into delivery_planning select where exists (select from consumer_checkpoint where name = 'deliveries');
