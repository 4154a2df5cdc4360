-- A connection that succeeds, but slowly, is neither proven nor in trouble.
alter table delivery_endpoint drop constraint delivery_endpoint_state_check,
  add constraint delivery_endpoint_state_check check (state in ('closed', 'slow', 'open', 'half_open'));
