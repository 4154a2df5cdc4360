-- When it was decided that a key is destroyed, with which nothing is sealed or read any more, and whose erasure that is. The decision stands here
-- before the key is written into ERASED_KEYS_FILE, and the key is destroyed after that.
alter table data_key add column erasing_since timestamptz;
alter table data_key add column erasing jsonb;

-- Both null: the subject was erased, or is about to be and never had a key.
alter table data_key drop constraint data_key_check;
alter table data_key add constraint data_key_check check (
  (sealed is null) = (organisation_key_version is null)
  and (erased_at is null or sealed is null) and (sealed is not null or erased_at is not null or erasing_since is not null)
) not valid;

create index data_key_erasing on data_key (organisation_id, erasing_since, id)
  where erasing_since is not null and erased_at is null;

-- When the start has destroyed the keys: what has begun again since stays.
alter table record_erased_again add column since timestamptz not null default now();
