-- Whose database it is. The log says the same; each start compares them.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null,
  recorded_at timestamptz not null default now()
);
