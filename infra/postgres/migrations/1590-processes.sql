-- The processes of the service. Each writes its own row every ten seconds, removes it when it is stopped, and removes those that were
-- silent for a day. `failing` holds the checks that it does not pass, with the reason of each.
create table process (
  id uuid primary key,
  role text not null,
  host text not null,
  version text not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  failing json not null
);
