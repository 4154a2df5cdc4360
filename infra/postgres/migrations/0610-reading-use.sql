-- How much an organisation has asked its language model to read leads, by day where it is.
create table reading_use (
  organisation_id uuid not null,
  day date not null,
  calls integer not null,
  tokens bigint not null,
  primary key (organisation_id, day)
);
