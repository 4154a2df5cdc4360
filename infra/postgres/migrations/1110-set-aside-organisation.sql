-- Whose record is set aside. Null where an earlier version has set it aside, and for what belongs to no organisation.
alter table consumer_set_aside add column organisation_id text;
