-- The link by which the provider knows the user: the session ends with it. Null on those that the version before has begun.
alter table user_session add column link_digest text;
