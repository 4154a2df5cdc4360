import type { ClientBase, Pool } from 'pg'
import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import { LogUnavailable, type Batch, type EventLog, type Subscription } from '#infra/event-log/event-log.ts'
import type { Feed } from '#infra/kafka/feed.ts'
import type { Message } from '#infra/kafka/message.ts'
import { publishedUpTo, rewindRelay } from '#infra/kafka/relay.ts'
import type { Log } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'

type PartitionParts = {
  readonly pool: Pool
  /** The log as it is stored. */
  readonly storedLog: EventLog
  readonly feed: Feed
  readonly topic: string
  readonly partition: number
  readonly log: Log
  readonly onLag: (messages: number) => void
}

const checkEndMs = 5_000

/**
 * A partition of the topic as a log: the events of its streams, in the order of the log and at its positions. What was
 * published again is passed over. Each message names the event before it, so that it shows when messages were lost, with
 * the data of a broker or for their age: the relay then publishes again from where this partition was planned.
 */
export const partitionLog = (parts: PartitionParts) => {
  const { pool, storedLog, feed, topic, partition, log, onLag } = parts
  /** Behind which offset each event is that was given and is not saved yet. */
  const offsets = new Map<Position, bigint>()

  const publishAgain = async (position: Position | undefined) => {
    if (await rewindRelay(pool, topic, position))
      log.error({ topic, partition, position }, 'messages are missing from the topic, publishing them again')
  }

  const eventOf = async ({ event, stream, revision }: Message): Promise<RecordedEvent> => {
    if (event) return event
    const [read] = await storedLog.read(stream, { from: revision, limit: 1 })
    if (read?.revision === revision) return read
    throw new LogUnavailable(`The log does not have revision ${revision} of ${stream} yet.`)
  }

  const subscribe = async function* ({ after, categories, types, signal }: Subscription): AsyncGenerator<Batch> {
    let position = after
    let checkedAt = performance.now()
    offsets.clear()
    const wanted = ({ stream, type }: Message) =>
      (categories?.includes(categoryOf(stream)) ?? true) && (types?.includes(type) ?? true)

    for await (const { messages, next, behind } of feed.read(
      partition,
      await offsetOf(pool, topic, partition),
      signal,
    )) {
      onLag(behind)
      const events: RecordedEvent[] = []
      for (const { offset, message } of messages) {
        if (message.position <= (position ?? '')) continue
        if (message.previous > (position ?? '')) {
          await publishAgain(position)
          continue
        }
        position = message.position
        if (!wanted(message)) continue
        events.push(await eventOf(message))
        offsets.set(message.position, offset + 1n)
      }
      const caughtUp = behind <= 0
      if (caughtUp && performance.now() - checkedAt >= checkEndMs) {
        checkedAt = performance.now()
        if ((await publishedUpTo(pool, topic, partition)) > (position ?? '') && (await isEnd(feed, partition, next)))
          await publishAgain(position)
      }
      yield { events, position: position ?? ('' as Position), caughtUp }
      if (signal.aborted) return
    }
  }

  return {
    eventLog: { ...storedLog, subscribe } satisfies EventLog,
    /** Saves from where to read on, together with what was planned of these events. */
    saveOffset: async (db: ClientBase, events: readonly RecordedEvent[]): Promise<void> => {
      const last = events.at(-1)
      const offset = last && offsets.get(last.position)
      if (offset === undefined) return
      for (const position of offsets.keys()) if (last && position <= last.position) offsets.delete(position)
      await db.query(sql`
        update kafka_offset set next_offset = ${String(offset)} where topic = ${topic} and partition = ${partition}`)
    },
  }
}

const isEnd = async (feed: Feed, partition: number, next: bigint): Promise<boolean> =>
  (await feed.endOf(partition)) <= next

const offsetOf = async (pool: Pool, topic: string, partition: number): Promise<bigint> => {
  const { rows } = await pool.query<{ next_offset: number | bigint }>(sql`
    select next_offset from kafka_offset where topic = ${topic} and partition = ${partition}`)
  return BigInt(rows[0]?.next_offset ?? 0)
}
