-- What is looked through every hour for what is no longer kept.
create index outreach_outbox_time on outreach_outbox (sent_at);
create index delivery_recovery_finished on delivery_recovery (finished_at);
create index reading_use_day on reading_use (day);
