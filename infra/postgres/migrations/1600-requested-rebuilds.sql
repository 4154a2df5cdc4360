-- The last rebuild of each read model that an operator has asked for, and how far it has come, in the units of the log. `id` is of whoever
-- asks: the same one is the same rebuild, however often it is sent.
create table requested_rebuild (
  name text primary key,
  id uuid not null,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  -- How often it was begun by a process that did not live to end it.
  attempts integer not null default 0,
  done bigint not null default 0,
  total bigint,
  finished_at timestamptz,
  failure text
);
