-- Which content an API application has sent lately, so that the same content from the same source is taken for a retry.
-- `digest` is a keyed hash of source and content. Rows are of no use after a few minutes, and are deleted.
create table ingest_content (
  api_application_id uuid not null,
  digest text collate "C" not null,
  ingest_id uuid not null,
  received_at timestamptz not null,
  primary key (api_application_id, digest)
);
create index ingest_content_received on ingest_content (received_at);
