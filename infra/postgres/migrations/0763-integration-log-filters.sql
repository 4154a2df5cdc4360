-- A page of the log by direction and outcome reads its own rows and no others, however rare they are.
create index integration_log_of_organisation on integration_log (organisation_id, direction, accepted, at, id);
create index integration_log_of_connection on integration_log (connection_id, direction, accepted, at, id);
-- By day, for clean-up: an index of the time itself was taken for lists, and then read everything that they did not ask for.
create index integration_log_day on integration_log (((at at time zone 'UTC')::date));
drop index integration_log_organisation, integration_log_connection, integration_log_at;

-- Cursors hold milliseconds: what came within the same one must not be passed over between two pages.
alter table integration_log alter column at set default date_trunc('milliseconds', now());
update integration_log set at = date_trunc('milliseconds', at) where at <> date_trunc('milliseconds', at);
