-- The keys that nothing else can be read without, each sealed under the one above it. They cannot be made anew.

create table master_key (
  id text primary key,
  -- A known text, sealed under the key: a key that cannot open it is not the one that was in use here.
  check_value text not null,
  first_used_at timestamptz not null default now()
);

create table organisation_key (
  organisation_id text collate "C" not null,
  version integer not null,
  -- Begins with the id of the master key.
  sealed text not null,
  created_at timestamptz not null default now(),
  primary key (organisation_id, version)
);

create table data_key (
  id uuid primary key,
  organisation_id text collate "C" not null,
  subject text collate "C" not null,
  -- Both null: the subject was erased.
  organisation_key_version integer,
  sealed bytea,
  created_at timestamptz not null default now(),
  erased_at timestamptz,
  unique (organisation_id, subject),
  -- So that no version goes while a data key needs it.
  foreign key (organisation_id, organisation_key_version) references organisation_key (organisation_id, version),
  check ((sealed is null) = (erased_at is not null) and (sealed is null) = (organisation_key_version is null))
);
