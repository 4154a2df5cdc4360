import { randomUUID } from 'node:crypto'
import { readConfig } from '#infra/config.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { openFeed } from '#infra/kafka/feed.ts'
import type { Message } from '#infra/kafka/message.ts'
import { kafkaSettings, type KafkaSettings } from '#infra/kafka/settings.ts'
import { openTopic, type Topic } from '#infra/kafka/topic.ts'
import { makeLog } from '#infra/log.ts'
import { retry } from '#infra/retry.ts'
import { expect, vi } from 'vitest'
import { startReceiver, type ReceiverOptions } from '../../demo/receiver.ts'
import { eventually, secret, type DeliveryFixture } from '../delivery/fixture.ts'

/** The variables of a topic that nobody else uses. */
export const onTopic = (brokers: string, changes: Readonly<Record<string, string>> = {}) => ({
  KAFKA_BROKERS: brokers,
  KAFKA_TOPIC: `test.${randomUUID()}`,
  KAFKA_PARTITIONS: '4',
  KAFKA_SESSION_TIMEOUT_SECONDS: '2',
  ...changes,
})

export const settingsOf = (environment: Readonly<Record<string, string>>): KafkaSettings => {
  const settings = kafkaSettings(readConfig(environment))
  if (!settings) throw new Error('There are no brokers.')
  return settings
}

/** The topic, when it is made: a broker may know of it a moment after it has answered that it made it. */
export const topicOf = (settings: KafkaSettings): Promise<Topic> =>
  retry(() => openTopic(settings), {
    isTransient: (error) => error instanceof LogUnavailable,
    delayMaximumMs: 500,
    withinMs: 20_000,
  })

/** All messages of a topic, partition by partition. */
export const readTopic = async (environment: Readonly<Record<string, string>>): Promise<readonly Message[][]> => {
  const settings = settingsOf(environment)
  const topic = await topicOf(settings)
  const feed = openFeed(settings, topic, makeLog('silent', 'test'))
  const readPartition = async (partition: number) => {
    const messages: Message[] = []
    const ending = new AbortController()
    for await (const fetched of feed.read(partition, 0n, ending.signal)) {
      messages.push(...fetched.messages.map(({ message }) => message))
      if (fetched.behind <= 0) break
    }
    return messages
  }
  try {
    return await Promise.all(Array.from({ length: topic.partitions }, (_, partition) => readPartition(partition)))
  } finally {
    await feed.close()
  }
}

export const receiver = async (options: Partial<ReceiverOptions> = {}) => {
  const started = await startReceiver({ secret, ...options })
  return { ...started, [Symbol.asyncDispose]: started.close }
}

export const startApplications = (fixture: DeliveryFixture, count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.startApplication()))

/** Waits until so many deliveries are planned and all are delivered; a wait in vain shows how far they are. */
export const allDelivered = (fixture: DeliveryFixture, count: number) =>
  vi.waitFor(
    async () => {
      const states = (await fixture.deliveries()).map(({ state }) => state)
      expect(states).toEqual(Array.from({ length: count }, () => 'delivered'))
    },
    { timeout: 60_000, interval: 20 },
  )

type Checked = Pick<Awaited<ReturnType<DeliveryFixture['startWorker']>>, 'checks'>

export const checkOf = async (worker: Checked, wanted: string) =>
  (await worker.checks()).find(({ name }) => name === wanted)

/** The partitions that a worker plans from, as its health says. */
export const partitionsOf = async (worker: Checked): Promise<readonly number[]> => {
  const [, listed = ''] =
    /^live: partitions ([\d, ]+)$/.exec((await checkOf(worker, 'delivery planner'))?.detail ?? '') ?? []
  return listed === '' ? [] : listed.split(', ').map(Number)
}

/** Waits until each of these workers plans, and all partitions are planned from. */
export const untilShared = (workers: readonly Checked[], partitions = 4) =>
  eventually(async () => {
    const each = await Promise.all(workers.map(partitionsOf))
    return each.flat().length === partitions && each.every((own) => own.length > 0)
  })

/** A connection of its own, in a transaction, for as long as the test uses it. */
export const session = async ({ pool }: Pick<DeliveryFixture, 'pool'>) => {
  const client = await pool.connect()
  await client.query('begin')
  let isOpen = true
  const end = async () => {
    if (!isOpen) return
    isOpen = false
    await client.query('rollback')
    client.release()
  }
  return { client, end, [Symbol.asyncDispose]: end }
}
