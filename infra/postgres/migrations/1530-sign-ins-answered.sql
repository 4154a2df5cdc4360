-- Sign-ins by a provider that were answered, by the SHA-256 of their state, until the browser's cookie of each is over: one answer each.
create table sign_in_answered (
  digest text primary key,
  begun_until timestamptz not null
);
create index sign_in_answered_until on sign_in_answered (begun_until);
