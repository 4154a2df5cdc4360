-- What kind of event an entry was: a repeated one is answered with that. Null where an earlier version has saved it.
alter table membership_entry_key add column entry_type text;
