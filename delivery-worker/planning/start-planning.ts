import { waitingBehind, standstills } from '#infra/consumers/standstill.ts'
import type { Check } from '#infra/http/health.ts'
import { misconfiguration } from '#infra/kafka/failures.ts'
import type { KafkaSettings } from '#infra/kafka/settings.ts'
import type { Topic } from '#infra/kafka/topic.ts'
import type { Parts } from '#infra/role-parts.ts'
import { onceDatabaseAnswers, waitForStore } from '#infra/wait-for-store.ts'
import { planFrom, refuseOtherPartitions } from '../kafka/source.ts'
import { startPlanner, type PlannerParts } from './planner.ts'
import { adoptedSource, fromLog } from './planning.ts'

type Planning = {
  readonly checks: () => Promise<readonly Check[]>
  readonly finished: Promise<void>
}

type PlanningParts = Omit<PlannerParts, 'untilOwn' | 'metrics'> &
  Pick<Parts, 'storedLog' | 'dataKeys' | 'metrics'> & {
    readonly kafka?: { readonly settings: KafkaSettings; readonly topic: Topic }
  }

export const plannerCheck = 'delivery planner'

/** Plans deliveries: from the log or, when Kafka is given, from the topic that the log is published to. */
export const startPlanning = async ({ kafka, ...parts }: PlanningParts): Promise<Planning> => {
  if (kafka) {
    // What speaks with brokers is loaded where there are any: it takes a quarter of the time of a start.
    const { startKafkaPlanners } = await import('../kafka/kafka-planners.ts')
    return startKafkaPlanners({ ...parts, ...kafka })
  }
  const { pool, capabilities } = parts
  const untilOwn = adoptedSource({ ...parts, source: fromLog, adopt: () => planFrom(pool, capabilities) })
  const { status, finished } = startPlanner({ ...parts, untilOwn })
  return {
    finished,
    checks: async () => {
      const still = await standstills(parts, [status()])
      const { name, state, failure } = status()
      const shown = state === 'standing by' ? waitingBehind(still.get(name)) : state
      return [{ name: plannerCheck, ok: state !== 'failed', detail: failure?.message ?? shown }]
    },
  }
}

type Waiting = Pick<Parts, 'pool' | 'log' | 'signal' | 'starting'>

/** Waits for the brokers, and finds the topic or makes it. Throws when its partitions are no longer what they were. */
export const untilBrokersAnswer = async (settings: KafkaSettings, parts: Waiting): Promise<Topic> => {
  const url = settings.brokers.join(',')
  const store = { variable: 'KAFKA_BROKERS', url, faultOf: misconfiguration } as const
  const { openTopic } = await import('#infra/kafka/topic.ts')
  const topic = await waitForStore(store, () => openTopic(settings), parts)
  await onceDatabaseAnswers(parts, () => refuseOtherPartitions(parts.pool, topic))
  return topic
}
