-- Files about a person, such as the schedule of a policy: sealed under the data key of that person, so that erasing the
-- person makes them unreadable. Events name them by id and hash; the table cannot be made anew from the log.
create table sealed_file (
  organisation_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  media_type text not null,
  -- Of the content, before it was sealed.
  sha256 text not null,
  bytes integer not null,
  sealed bytea not null,
  kept_at timestamptz not null default now(),
  primary key (organisation_id, id)
);
alter table sealed_file alter column sealed set storage external;
