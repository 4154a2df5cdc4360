-- After deliveries were planned through Kafka: up to here `delivery_set_up` says what was set up when.
alter table delivery_planning add column set_up_to text collate "C";
