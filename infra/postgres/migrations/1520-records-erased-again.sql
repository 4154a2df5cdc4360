-- Records of which a start has destroyed keys again that a restored backup had brought back, until they are out of the read models too.

create table record_erased_again (
  organisation_id text collate "C" not null,
  stream text collate "C" not null,
  -- When their erasure was asked for again, and its id; null: it was not yet.
  asked_at timestamptz,
  erasure_id uuid,
  primary key (organisation_id, stream)
);
