-- Memberships as they were folded up to a revision of their stream, so that no long stream is read from its beginning.
-- A snapshot can be lost or removed at any time: the stream holds all there is. The partner's reference is sealed under the
-- key of the member.
create table membership_snapshot (
  organisation_id uuid not null,
  membership_id uuid primary key,
  version integer not null,
  revision integer not null,
  -- The event of that revision: another event there means another log.
  event_id uuid not null,
  causes json not null,
  document json not null,
  key_id uuid,
  sealed_reference bytea
);

-- The partner's events up to the snapshot, by which a repeated one is known.
create table membership_entry_key (
  membership_id uuid not null,
  entry_id uuid not null,
  points integer,
  tier_key text,
  primary key (membership_id, entry_id)
);
