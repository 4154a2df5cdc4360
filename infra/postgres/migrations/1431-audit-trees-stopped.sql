-- Why a tree takes nothing more in: it was altered. It is not signed again either; the audit log begins again with a next
-- generation of trees.
alter table audit_tree add column stopped text;
create index audit_tree_stopped on audit_tree (generation, id) where stopped is not null;
