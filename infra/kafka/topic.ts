import { Admin, murmur2 } from '@platformatic/kafka'
import { LogUnavailable } from '../event-log/event-log.ts'
import { called, isAnswer } from './failures.ts'
import type { KafkaSettings } from './settings.ts'

/** A topic and how many partitions of it are used. */
export type Topic = { readonly name: string; readonly partitions: number }

/** The partition of a stream: the one that the clients of other languages choose for the same key. */
export const partitionOf = (stream: string, partitions: number): number =>
  (murmur2(Buffer.from(stream)) & 0x7fffffff) % partitions

/** One record holds one event, and the largest event has a megabyte. */
const messageBytes = 8 * 1024 * 1024

/** Finds the topic, or makes it. */
export const openTopic = async (settings: KafkaSettings): Promise<Topic> => {
  const { topic: name, partitions, client } = settings
  const admin = new Admin(client)
  try {
    const existing = await partitionsOf(admin, name)
    if (existing !== undefined) return { name, partitions: existing }
    const configs = [{ name: 'max.message.bytes', value: String(messageBytes) }]
    // The brokers know how many copies a topic has unless told otherwise.
    const creation = admin
      .createTopics({ topics: [name], partitions, replicas: -1, configs })
      .catch((error: unknown) => {
        if (!isAnswer(error, 'TOPIC_ALREADY_EXISTS')) throw error
      })
    await called(`make the topic ${name}`, creation)
    const made = await partitionsOf(admin, name)
    if (made === undefined) throw new LogUnavailable(`Kafka: the topic ${name} is being made.`)
    return { name, partitions: made }
  } finally {
    await admin.close().catch(() => undefined)
  }
}

/** Undefined when there is no such topic. */
const partitionsOf = async (admin: Admin, name: string): Promise<number | undefined> => {
  const describing = admin.metadata({ topics: [name], forceUpdate: true }).catch((error: unknown) => {
    // The library puts the answer of the broker into these words.
    if (error instanceof Error && error.message.startsWith('Unknown topic')) return undefined
    throw error
  })
  const metadata = await called(`describe the topic ${name}`, describing)
  return metadata?.topics.get(name)?.partitionsCount
}
