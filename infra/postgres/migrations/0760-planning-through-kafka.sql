-- Where events come from that deliveries are planned from: 'log', or the name of a topic behind 'kafka '.
alter table delivery_planning add column source text not null default 'log';

-- The last event of a subject that was planned, so that it is planned once even if it comes again.
alter table delivery_known add column stream text, add column revision integer;

-- What is set up, from which position of the log on, while deliveries are planned through Kafka: what happened there comes
-- from several partitions, of which each has come to another position.
create table delivery_set_up (
  organisation_id uuid not null,
  kind text not null check (kind in ('organisation', 'connection', 'action')),
  id uuid not null,
  position text collate "C" not null,
  type text not null,
  facts json not null,
  primary key (organisation_id, kind, id, position)
);

-- The partitions of a topic that the log is published to. Streams belong to partitions by their number, which never changes.
create table kafka_topic (
  topic text primary key,
  partitions integer not null check (partitions > 0)
);

-- How far each partition was published: the position of its last event. Moves with the checkpoint of the relay.
create table kafka_published (
  topic text not null references kafka_topic,
  partition integer not null,
  position text collate "C",
  primary key (topic, partition)
);

-- From where a planner reads a partition. Moves with the checkpoint that says up to where in the log it was planned.
create table kafka_offset (
  topic text not null references kafka_topic,
  partition integer not null,
  next_offset bigint not null,
  primary key (topic, partition)
);
