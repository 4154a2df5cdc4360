-- Messages that an organisation without an account for their channel would have sent, outside production. What they say
-- and to whom is sealed under the person's key.
create table outreach_outbox (
  organisation_id uuid not null,
  id uuid not null,
  contact_id uuid not null,
  channel text not null,
  sent_at timestamptz not null,
  -- So often was it to be sent: what is sent again is recognised and goes out once.
  asked integer not null default 1,
  key_id uuid not null,
  sealed bytea not null,
  primary key (organisation_id, id)
);
create index on outreach_outbox (organisation_id, sent_at desc, id desc);
