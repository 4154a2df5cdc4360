-- Files that customers are given, by their SHA-256: documents about products that the operator uploads, and what is
-- rendered for a policy. Events name them and do not hold them, so this table cannot be made anew from the log.
create table document_file (
  organisation_id uuid not null,
  sha256 text not null,
  media_type text not null,
  content bytea not null,
  kept_at timestamptz not null default now(),
  primary key (organisation_id, sha256)
);
alter table document_file alter column content set storage external;
