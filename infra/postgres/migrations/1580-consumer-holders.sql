-- Which role follows the log as this consumer, which of its processes began to do so last, and when. Null where a version from
-- before has begun. Rows that belong to several records are not resumed one by one.
alter table consumer_checkpoint
  add column role text,
  add column shares_rows boolean not null default false,
  add column taken_by uuid,
  add column taken_at timestamptz;
