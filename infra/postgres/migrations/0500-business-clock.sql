-- By how much business time was moved forward on top of the configuration: outside production the operator may, so that
-- what is due in a year can be watched today. One row, which all processes read.
create table business_clock (
  id boolean primary key default true check (id),
  moved_ms bigint not null check (moved_ms >= 0)
);
