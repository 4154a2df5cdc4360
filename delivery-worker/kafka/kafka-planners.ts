import { storedEvents } from '#domain/stored-events.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { eventOpener, sealedLog } from '#infra/crypto/sealed-log.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { waitingBehind, standstills, type Standstills } from '#infra/consumers/standstill.ts'
import type { Check } from '#infra/http/health.ts'
import { openFeed } from '#infra/kafka/feed.ts'
import { joinGroup } from '#infra/kafka/group.ts'
import { openPublisher } from '#infra/kafka/publisher.ts'
import { startRelay } from '#infra/kafka/relay.ts'
import type { KafkaSettings } from '#infra/kafka/settings.ts'
import type { Topic } from '#infra/kafka/topic.ts'
import type { Metrics } from '#infra/metrics.ts'
import type { Capabilities } from '../capability.ts'
import { plannedFrom } from '../planning/knowledge.ts'
import { planningOf } from '../planning/planner.ts'
import { adoptedSource, untilDecided } from '../planning/planning.ts'
import { isSetUp, learnSetUp, setUpFrom } from '../planning/set-up.ts'
import { partitionLog } from './partition-log.ts'
import { partitionPlanner, planFrom, sourceOf } from './source.ts'

type KafkaPlannerParts = Omit<ConsumerParts, 'metrics'> & {
  readonly metrics: Pick<Metrics, 'projectedEvents' | 'lag' | 'setAside' | 'kafkaLag'>
  /** The log as it is stored, with what is personal sealed. */
  readonly storedLog: EventLog
  readonly dataKeys: DataKeys
  readonly settings: KafkaSettings
  readonly topic: Topic
  readonly capabilities: Capabilities
  readonly onWaiting: (isWaiting: boolean) => void
  readonly onPlanned: () => void
}

export type KafkaPlanners = {
  readonly checks: () => Promise<readonly Check[]>
  readonly finished: Promise<void>
}

/**
 * Plans deliveries from a topic. One process of all publishes the log to it, and each plans from the partitions that the
 * consumer group gives it. How far a partition was planned is in PostgreSQL, in one transaction with what was planned, so
 * that it does not matter to the result who plans, how often a message comes, and when partitions move.
 */
export const startKafkaPlanners = (parts: KafkaPlannerParts): KafkaPlanners => {
  const { pool, log, signal, storedLog, dataKeys, settings, topic, capabilities, onWaiting, onPlanned } = parts
  const { subjects } = capabilities
  const source = sourceOf(topic)
  const untilOwn = adoptedSource({ ...parts, source, adopt: () => planFrom(pool, capabilities, topic) })
  const prepare = async () => {
    await untilDecided({ ...parts, onWaiting })
    await untilOwn()
  }
  const publisher = openPublisher(settings, topic)
  const feed = openFeed(settings, topic, log)
  const open = eventOpener(dataKeys, storedEvents)
  const setsUp = isSetUp(capabilities)

  const relay = startRelay({
    ...parts,
    eventLog: storedLog,
    topic,
    publisher,
    prepare,
    before: async (events) => learnSetUp({ pool, capabilities, source }, await open(events.filter(setsUp))),
  })

  const planPartition = (partition: number, ending: AbortSignal): Consuming => {
    const onLag = (messages: number) => parts.metrics.kafkaLag.set({ topic: topic.name, partition }, messages)
    const { eventLog, saveOffset } = partitionLog({ ...parts, feed, topic: topic.name, partition, onLag })
    const opened = sealedLog(eventLog, dataKeys, storedEvents)
    return consume({
      ...parts,
      ...partitionPlanner(topic.name, partition),
      ...plannedFrom({ subjects, actions: [], connections: [] }),
      eventLog: opened,
      signal: AbortSignal.any([signal, ending]),
      restMs: 200,
      prepare,
      prepareFor: planningOf({
        pool,
        eventLog: opened,
        capabilities,
        source,
        onPlanned,
        setUpOf: setUpFrom,
        alsoWrite: saveOffset,
      }),
    })
  }

  const own = new Map<number, { readonly consuming: Consuming; readonly ending: AbortController }>()
  const finishing = new Set<Promise<void>>()
  const finishLater = (finished: Promise<void>) => {
    finishing.add(finished)
    void finished.then(() => finishing.delete(finished))
  }
  const assign = (partitions: readonly number[]) => {
    for (const [partition, { consuming, ending }] of own)
      if (!partitions.includes(partition)) {
        ending.abort()
        finishLater(consuming.finished)
        own.delete(partition)
        parts.metrics.kafkaLag.remove({ topic: topic.name, partition })
      }
    for (const partition of partitions) {
      if (own.has(partition) || signal.aborted) continue
      const ending = new AbortController()
      own.set(partition, { consuming: planPartition(partition, ending.signal), ending })
    }
  }
  const group = joinGroup({ settings, topic, groupId: `${topic.name}.deliveries`, log, signal, onAssigned: assign })

  const finish = async () => {
    await Promise.all([relay.finished, group.finished])
    await Promise.all([...finishing, ...[...own.values()].map(async ({ consuming }) => consuming.finished)])
    await publisher.close()
    await feed.close()
  }

  return {
    finished: finish(),
    checks: async () => {
      const still = await standstills(parts, [relay.status()])
      const statuses = [...own].map(([partition, { consuming }]) => ({ partition, ...consuming.status() }))
      const away = feed.outage() ?? group.outage()
      return [
        {
          name: 'kafka',
          ok: away === undefined,
          ...(away && { detail: `away since ${away.since.toISOString()}: ${away.reason}` }),
        },
        checkRelay(relay, still),
        {
          name: 'delivery planner',
          ok: statuses.every(({ state, problem }) => state !== 'failed' && !problem),
          detail: shownPartitions(statuses),
        },
      ]
    },
  }
}

const checkRelay = ({ status }: Consuming, still: Standstills): Check => {
  const { name, state, failure, problem } = status()
  const waits = problem && state !== 'standing by' && `waits since ${problem.since.toISOString()}: ${problem.reason}`
  return {
    name: 'kafka relay',
    ok: state !== 'failed' && !waits,
    detail: failure?.message ?? (waits || (state === 'standing by' ? waitingBehind(still.get(name)) : state)),
  }
}

type PartitionStatus = ReturnType<Consuming['status']> & { readonly partition: number }

const shownPartitions = (statuses: readonly PartitionStatus[]): string => {
  if (statuses.length === 0) return 'standing by: no partitions'
  const troubled = statuses.find(({ problem }) => problem)
  if (troubled?.problem) return `partition ${troubled.partition} waits since ${troubled.problem.since.toISOString()}`
  return [...Map.groupBy(statuses, ({ state }) => state)]
    .map(([state, those]) => `${state}: partitions ${those.map(({ partition }) => partition).join(', ')}`)
    .join('; ')
}
