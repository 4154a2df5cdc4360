import { setTimeout as pause } from 'node:timers/promises'
import { Consumer, ListOffsetTimestamps, type RecordsBatch } from '@platformatic/kafka'
import { LogUnavailable } from '../event-log/event-log.ts'
import { outageWatch } from '../event-log/outage.ts'
import type { Log } from '../log.ts'
import { notifier } from '../notifier.ts'
import { closed } from './closed.ts'
import { called, isAnswer } from './failures.ts'
import { fromRecord, type Message } from './message.ts'
import type { KafkaSettings } from './settings.ts'
import type { Topic } from './topic.ts'

/** Some messages of a partition. */
export type Fetched = {
  readonly messages: readonly { readonly offset: bigint; readonly message: Message }[]
  /** The offset at which it goes on. */
  readonly next: bigint
  /** The number of messages beyond these. */
  readonly behind: number
}

type Reader = {
  next: bigint
  fetched: Fetched | undefined
  /** The time of the last report that there is nothing more. */
  endToldAt: number
  readonly arrived: ReturnType<typeof notifier>
}

export type Feed = {
  /** The messages of a partition from an offset on, until the signal is aborted. It reads ahead once, and no further. */
  readonly read: (partition: number, from: bigint, signal: AbortSignal) => AsyncGenerator<Fetched>
  /** The offset behind the last message of a partition. */
  readonly endOf: (partition: number) => Promise<bigint>
  readonly outage: ReturnType<typeof outageWatch>['current']
  readonly close: () => Promise<void>
}

const partitionBytes = 1_000_000
const requestBytes = 8_000_000
/** The brokers' wait for something new: so long, a partition that was just read is not asked for. */
const waitMs = 100
/** That there is nothing more is told as often. */
const tellEndMs = 1_000

/**
 * Reads the partitions of a topic that this process works on, all in one request to each broker. Offsets that the topic
 * does not have any more, or not yet, are read from the first that it has.
 */
export const openFeed = (settings: KafkaSettings, topic: Topic, log: Log): Feed => {
  const readers = new Map<number, Reader>()
  const changes = notifier()
  const outage = outageWatch()
  const ending = new AbortController()
  const isOver = () => ending.signal.aborted
  let client: Consumer | undefined

  const current = () =>
    (client ??= new Consumer({ ...settings.client, groupId: `${topic.name}.read`, autocommit: false }))

  const drop = async () => {
    const former = client
    client = undefined
    if (former) await closed(former)
  }

  const wanted = () => [...readers].filter(([, { fetched }]) => !fetched)

  const listOffsets = async (timestamp: bigint): Promise<readonly bigint[]> => {
    const listed = await called('list offsets', current().listOffsets({ topics: [topic.name], timestamp }))
    return listed.get(topic.name) ?? []
  }

  /** The first offset of a partition stands in for one that it does not have. */
  const findOffsets = async () => {
    const first = await listOffsets(ListOffsetTimestamps.EARLIEST)
    const end = await listOffsets(ListOffsetTimestamps.LATEST)
    for (const [partition, reader] of readers) {
      const [from = 0n, to = 0n] = [first[partition], end[partition]]
      if (reader.next < from || reader.next > to) reader.next = from
    }
  }

  const fetchOnce = async () => {
    const consumer = current()
    const metadata = await called('find the brokers', consumer.metadata({ topics: [topic.name] }))
    const found = metadata.topics.get(topic.name)
    if (!found) throw new LogUnavailable(`Kafka: there is no topic ${topic.name}.`)
    const byLeader = Map.groupBy(wanted(), ([partition]) => found.partitions[partition]?.leader ?? -1)
    const requests = [...byLeader].map(async ([node, own]) => {
      const partitions = own.map(([partition, { next }]) => ({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: next,
        lastFetchedEpoch: -1,
        partitionMaxBytes: partitionBytes,
      }))
      const topics = [{ topicId: found.id, partitions }]
      const asked = consumer.fetch({ node, topics, maxWaitTime: waitMs, minBytes: 1, maxBytes: requestBytes })
      const { responses } = await called(`read from ${topic.name}`, asked)
      for (const { partitionIndex, records, highWatermark } of responses.flatMap((each) => each.partitions))
        hand(partitionIndex, records ?? [], highWatermark)
    })
    const failed = (await Promise.allSettled(requests)).find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
  }

  const hand = (partition: number, batches: readonly RecordsBatch[], highWatermark: bigint) => {
    const reader = readers.get(partition)
    if (!reader) return
    const records = batches.flatMap(({ firstOffset, records: own }) =>
      own.map((record) => ({ offset: firstOffset + BigInt(record.offsetDelta), record })),
    )
    // A batch is given from its first message on, also when a later one was asked for.
    const messages = records
      .filter(({ offset }) => offset >= reader.next)
      .flatMap(({ offset, record }) => {
        const message = fromRecord(record)
        if (!message)
          log.warn({ topic: topic.name, partition, offset: String(offset) }, 'passed over a foreign message')
        return message ? [{ offset, message }] : []
      })
    const lastBatch = batches.at(-1)
    const next = lastBatch ? lastBatch.firstOffset + BigInt(lastBatch.lastOffsetDelta) + 1n : reader.next
    const isAtEnd = next >= highWatermark
    if (isAtEnd && next === reader.next && performance.now() - reader.endToldAt < tellEndMs) return
    if (isAtEnd) reader.endToldAt = performance.now()
    if (next > reader.next) reader.next = next
    reader.fetched = { messages, next: reader.next, behind: Number(highWatermark - reader.next) }
    reader.arrived.notify()
  }

  const run = async () => {
    let failures = 0
    while (!isOver()) {
      if (wanted().length === 0) {
        await changes.wait(1_000)
        continue
      }
      try {
        await fetchOnce()
        outage.succeeded()
        failures = 0
      } catch (error) {
        if (isOver()) return
        const isLost = isAnswer(error, 'OFFSET_OUT_OF_RANGE')
        const isFound = isLost && (await findOffsets().then(...bothWays))
        if (isFound) continue
        outage.failed(error)
        await drop()
        await pause(Math.min(100 * 2 ** failures++, 2_000), undefined, { signal: ending.signal }).catch(() => undefined)
      }
    }
  }
  const running = run()

  return {
    read: async function* (partition, from, signal) {
      const reader: Reader = { next: from, fetched: undefined, endToldAt: -Infinity, arrived: notifier() }
      readers.set(partition, reader)
      const wake = reader.arrived.notify
      signal.addEventListener('abort', wake)
      changes.notify()
      try {
        while (!signal.aborted) {
          const { fetched } = reader
          reader.fetched = undefined
          if (fetched) {
            // The next request asks for this partition again, while these messages are worked on.
            changes.notify()
            yield fetched
          } else await reader.arrived.wait()
        }
      } finally {
        signal.removeEventListener('abort', wake)
        if (readers.get(partition) === reader) readers.delete(partition)
      }
    },
    endOf: async (partition) => (await listOffsets(ListOffsetTimestamps.LATEST))[partition] ?? 0n,
    outage: outage.current,
    close: async () => {
      ending.abort()
      changes.notify()
      await drop()
      await running
    },
  }
}

const bothWays = [() => true, () => false] as const
