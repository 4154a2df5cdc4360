-- Read models as they were at a moment, each replay in a schema of its own for as long as somebody looks into it.
create table replay (
  -- Its schema.
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
  -- Null: of all organisations.
  organisation_id uuid,
  personal text not null check (personal in ('masked', 'opened')),
  -- The role of the database that may read it.
  reader text,
  -- Whoever begins again takes it over from the one before.
  run uuid not null,
  finished_at timestamptz,
  drop_at timestamptz not null
);
