-- The last access that was sent on to the collector; one row.
create table access_sent_on (
  at timestamptz not null,
  id uuid not null
);
