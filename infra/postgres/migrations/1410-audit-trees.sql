-- The tree of hashes that shows that nothing was altered: one for each organisation, and one of the installation for events
-- without one. The audit log begins again, with a next generation of trees, when somebody says why.
create table audit_generation (
  generation integer primary key,
  -- Null for the first.
  because text,
  begun_at timestamptz not null default now()
);
insert into audit_generation (generation) values (1);

create table audit_tree (
  id integer generated always as identity primary key,
  generation integer not null references audit_generation,
  -- Null for the installation.
  organisation_id uuid,
  -- The name of the log in its checkpoints. It stays what it was when the tree began.
  origin text not null unique,
  size bigint not null default 0,
  -- The size of the last tree that was signed.
  signed_size bigint not null default 0,
  signed_at timestamptz
) with (fillfactor = 50);
create unique index audit_tree_organisation
  on audit_tree (generation, coalesce(organisation_id, '00000000-0000-0000-0000-000000000000'));
create index audit_tree_unsigned on audit_tree (generation, id) where size <> signed_size;

-- The leaves in their order. That of an event is made of the event itself; any other is kept here.
create table audit_leaf (
  tree_id integer not null references audit_tree,
  index bigint not null,
  event_id uuid,
  stream text collate "C",
  revision bigint,
  record text,
  primary key (tree_id, index),
  check ((record is null) = (event_id is not null and stream is not null and revision is not null))
);
create index audit_leaf_event on audit_leaf (event_id) where event_id is not null;

-- Full tiles never change; the last of each level grows.
create table audit_tile (
  tree_id integer not null references audit_tree,
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  primary key (tree_id, level, index)
) with (fillfactor = 50);
alter table audit_tile alter column hashes set storage external;

-- Every checkpoint that was ever signed.
create table audit_checkpoint (
  tree_id integer not null references audit_tree,
  size bigint not null,
  -- That of the checkpoint before, 0 for the first: so none can be taken out unnoticed.
  former_size bigint not null,
  root bytea not null,
  -- The signed note, which names the time, too.
  note text not null,
  signed_at timestamptz not null,
  primary key (tree_id, size)
);
create index audit_checkpoint_time on audit_checkpoint (tree_id, signed_at, size);

-- The public keys that checkpoints were signed with.
create table audit_key (
  public_key bytea primary key,
  first_used_at timestamptz not null default now()
);
