-- The months of accesses that were dropped, as they were no longer kept: an audit does not miss them, however long they are kept later.
create table access_month_dropped (
  -- As the tables of the month are named: 2026_03.
  month text primary key,
  dropped_at timestamptz not null default now()
);
