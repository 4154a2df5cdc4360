-- Keys that a restored backup had brought back and a start has destroyed again, until the person is out of the read models too.

create table key_erased_again (
  organisation_id text collate "C" not null,
  subject text collate "C" not null,
  contact_id uuid not null,
  primary key (organisation_id, subject)
);
