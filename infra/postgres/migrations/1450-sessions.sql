-- Users who are signed in. What a browser holds is kept here as its hash alone; a session that is not here has ended.
create table user_session (
  digest bytea primary key,
  user_id uuid not null,
  -- The key that was shown at sign-in, by its SHA-256; or the provider that named the user, as it was set up then.
  key_digest text,
  provider_id uuid,
  provider_version text,
  -- The roles that the provider named; null for those that the user has.
  roles text[],
  started_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  check ((key_digest is null) <> (provider_id is null)),
  check ((provider_id is null) = (provider_version is null and roles is null))
) with (fillfactor = 70);
create index user_session_user on user_session (user_id, started_at);
create index user_session_started on user_session (started_at);
