-- People whose key was destroyed by a version before, or by ERASED_KEYS_FILE, below which others may be left.
create index data_key_erased_before on data_key (organisation_id, subject)
  where erased_at is not null and erasing_since is null and subject ~ '^person:[^/]+$';
