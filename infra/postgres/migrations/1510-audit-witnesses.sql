-- Witnesses that have cosigned checkpoints of the audit logs: each has seen that the log only grew since the one before.
create table audit_cosignature (
  tree_id integer not null,
  -- The name of the witness and the id of its key.
  witness text not null,
  size bigint not null,
  -- Its line of a signed note.
  line text not null,
  cosigned_at timestamptz not null,
  primary key (tree_id, witness, size),
  foreign key (tree_id, size) references audit_checkpoint (tree_id, size)
);
