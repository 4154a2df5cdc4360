import { Producer, type MessageToProduce } from '@platformatic/kafka'
import { requireLease } from '../consumers/required-lease.ts'
import { closed } from './closed.ts'
import { called } from './failures.ts'
import type { KafkaSettings } from './settings.ts'
import { openTopic, type Topic } from './topic.ts'

/** A request holds at most so much, so that a batch of many large events is no single one. */
const requestBytes = 500_000

/** The library never answers when the topic was deleted. */
const publishMs = 5_000

type Sized = MessageToProduce & { readonly value: Buffer }

/** Writes to a topic; what it has written, the brokers have written to all copies that are in sync. */
export const openPublisher = (settings: KafkaSettings, topic: Topic) => {
  let producer: Producer | undefined

  const current = async (): Promise<Producer> => {
    if (producer) return producer
    // It may have been deleted while the brokers were away.
    await openTopic(settings)
    const options = { idempotent: true, acks: -1, autocreateTopics: false, repeatOnStaleMetadata: false }
    return (producer = new Producer({ ...settings.client, ...options }))
  }

  const drop = async (): Promise<void> => {
    const former = producer
    producer = undefined
    if (former) await closed(former)
  }

  return {
    /** Writes messages in their order, in each partition. When it throws, a part of them may have been written. */
    publish: async (messages: readonly Sized[]): Promise<void> => {
      try {
        for (const some of requestsOf(messages)) {
          const sender = await current()
          requireLease()
          const sending = sender.send({ messages: [...some] })
          await called(`publish to ${topic.name}`, sending, publishMs)
        }
      } catch (error) {
        await drop()
        throw error
      }
    },
    close: drop,
  }
}
export type Publisher = ReturnType<typeof openPublisher>

const requestsOf = function* (messages: readonly Sized[]): Generator<readonly Sized[]> {
  let some: Sized[] = []
  let bytes = 0
  for (const message of messages) {
    if (some.length > 0 && bytes + message.value.length > requestBytes) {
      yield some
      some = []
      bytes = 0
    }
    some.push(message)
    bytes += message.value.length
  }
  if (some.length > 0) yield some
}
