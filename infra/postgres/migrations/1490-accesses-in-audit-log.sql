-- So far accesses have their entries in the audit logs. Null: none yet.
alter table audit_generation add column accesses_until timestamptz;
-- Entries that are of no event.
create index audit_leaf_record on audit_leaf (tree_id, index) where record is not null;
-- Accesses are written in the order of their time: an index that costs a write nothing.
create index access_record_at on access_record using brin (at) with (pages_per_range = 16, autosummarize = on);
