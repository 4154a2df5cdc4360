import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { readConfig } from '#infra/config.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { toMessage } from '#infra/kafka/message.ts'
import { openPublisher } from '#infra/kafka/publisher.ts'
import { startRelay } from '#infra/kafka/relay.ts'
import { kafkaSettings } from '#infra/kafka/settings.ts'
import { openTopic } from '#infra/kafka/topic.ts'
import { makeLog } from '#infra/log.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { kafkaClasspath } from '../test/kafka/jars.ts'
import { prepareBroker } from '../test/kafka/own-broker.ts'
import type { Environment } from './environment.ts'
import { inTurns, rated, type Figure } from './figure.ts'
import { live } from './replay.ts'
import type { Pace } from './throughput.ts'

const batch = 1_000

/**
 * The events of a busy time through the relay to one broker, with its checkpoint in PostgreSQL, against the same messages, made
 * beforehand, that are only published. Nothing where there is neither a broker nor Java and Maven to start one.
 */
export const measureKafka = async (environment: Environment, { rounds, events }: Pace): Promise<readonly Figure[]> => {
  const broker = await findBroker(environment)
  if (!broker) return []
  const url = await environment.database('kafka')
  await live(url, events, false)
  const pool = createPool(url)
  const eventLog = postgresLog({ url })
  const all = await eventLog.readAll({ limit: events })

  const ownTopic = async () => {
    const config = readConfig({
      KAFKA_BROKERS: broker.brokers,
      KAFKA_TOPIC: `bench.${uuidv7()}`,
      KAFKA_PARTITIONS: '4',
    })
    const settings = kafkaSettings(config)
    if (!settings) throw new Error('There are no brokers.')
    const topic = await openTopic(settings)
    await pool.query(sql`insert into kafka_topic (topic, partitions) values (${topic.name}, ${topic.partitions})`)
    return { topic, publisher: openPublisher(settings, topic) }
  }

  const published = async (): Promise<number> => {
    const { topic, publisher } = await ownTopic()
    const messages = all.map((event) => toMessage(topic, event, ''))
    const startedAt = performance.now()
    for (let from = 0; from < messages.length; from += batch)
      await publisher.publish(messages.slice(from, from + batch))
    const seconds = (performance.now() - startedAt) / 1_000
    await publisher.close()
    return all.length / seconds
  }

  const relayed = async (): Promise<number> => {
    const { topic, publisher } = await ownTopic()
    const ending = new AbortController()
    const startedAt = performance.now()
    const { status, finished } = startRelay({
      eventLog,
      pool,
      leases: makeLeases(pool),
      log: makeLog('warn', 'bench'),
      signal: ending.signal,
      topic,
      publisher,
      prepare: async () => undefined,
      before: async () => [],
    })
    const last = all.at(-1)?.position ?? ''
    while ((status().position ?? '') < last) await pause(5)
    const seconds = (performance.now() - startedAt) / 1_000
    ending.abort()
    await finished
    await publisher.close()
    return all.length / seconds
  }

  try {
    return [rated('events relayed to Kafka', await inTurns(rounds, published, relayed))]
  } finally {
    await eventLog.close()
    await pool.end()
    broker.stop()
  }
}

/** Those of KAFKA_BROKERS, or one of our own. */
const findBroker = async ({ directory }: Environment) => {
  const given = process.env['KAFKA_BROKERS']
  if (given) return { brokers: given, stop: () => undefined }
  const data = join(directory, 'kafka')
  await mkdir(data)
  try {
    const { ports, start } = await prepareBroker(await kafkaClasspath(), data)
    const pid = await start()
    return { brokers: `127.0.0.1:${ports.plain}`, stop: () => process.kill(pid, 'SIGKILL') }
  } catch (error) {
    process.stderr.write(`Kafka is not measured: ${String(error)}\n`)
    return undefined
  }
}
