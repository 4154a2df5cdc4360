import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The outcomes of an attempt to deliver. Each is counted from 0: an alert compares them before there was one of each. */
const attemptOutcomes = ['delivered', 'retry', 'failed'] as const

/** The metrics of a process at /metrics, named by the Prometheus conventions. */
export const makeMetrics = () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const deliveries = new Counter({
    name: 'coverstream_delivery_attempts_total',
    help: 'Attempts to deliver, by what became of them.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of attemptOutcomes) deliveries.inc({ outcome }, 0)
  return {
    registry,
    ready: new Gauge({
      name: 'coverstream_ready',
      help: '1 where /health/ready answers 200, by the role of the process; `all` where one process runs every role.',
      labelNames: ['role'],
      registers,
    }),
    requests: new Histogram({
      name: 'coverstream_http_request_seconds',
      help: 'How long requests took, by route and status.',
      labelNames: ['method', 'address', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    openStreams: new Gauge({
      name: 'coverstream_http_open_streams',
      help: 'Answers that go on as server-sent events, open at the moment.',
      registers,
    }),
    unseenWrites: new Counter({
      name: 'coverstream_unseen_writes_total',
      help: 'Commands answered before the read models had caught up with them.',
      registers,
    }),
    projectedEvents: new Counter({
      name: 'coverstream_projected_events_total',
      help: 'Events that a projection has handled.',
      labelNames: ['projection'],
      registers,
    }),
    lag: new Gauge({
      name: 'coverstream_consumer_lag',
      help: 'How far a consumer of the log is behind its end, in the units of the log.',
      labelNames: ['consumer'],
      registers,
    }),
    heldBack: new Gauge({
      name: 'coverstream_event_log_held_back_seconds',
      help: 'How long events are stored that nobody can read yet, because a transaction that began before them is open.',
      registers,
    }),
    kafkaLag: new Gauge({
      name: 'coverstream_kafka_partition_lag',
      help: 'Messages of a partition that are not planned yet, where this process plans it.',
      labelNames: ['topic', 'partition'],
      registers,
    }),
    machineAhead: new Gauge({
      name: 'coverstream_clock_ahead_seconds',
      help: "How far the clock of the machine is ahead of the database's, by which is signed and checked.",
      registers,
    }),
    deliveriesUndecided: new Gauge({
      name: 'coverstream_delivery_planner_undecided',
      help: '1 while nothing is sent because the operator must choose from where.',
      registers,
    }),
    commandApiHalf: new Gauge({
      name: 'coverstream_command_api_half',
      help: '1 for each half of command-api that this process does: serve answers requests, work does all that follows.',
      labelNames: ['half'],
      registers,
    }),
    setAside: new Gauge({
      name: 'coverstream_consumer_set_aside',
      help: 'Records that a consumer of the log has set aside, because of an event that it cannot handle.',
      labelNames: ['consumer'],
      registers,
    }),
    deliveriesFailed: new Gauge({
      name: 'coverstream_deliveries_failed',
      help: 'Deliveries of all organisations that failed and were not sent again, counted up to 10,000.',
      registers,
    }),
    deliveriesDue: new Gauge({
      name: 'coverstream_deliveries_due',
      help: 'Deliveries over connections that work which could have been sent a second ago, counted up to 10,000.',
      registers,
    }),
    connectionsDisabled: new Gauge({
      name: 'coverstream_delivery_connections_disabled',
      help: 'Connections over which nothing is sent, because they failed for too long.',
      registers,
    }),
    deliveries,
  }
}
export type Metrics = ReturnType<typeof makeMetrics>
