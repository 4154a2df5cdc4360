import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { InTransaction } from '../consumers/consumer-type.ts'
import { consume, type ConsumerParts, type Consuming } from '../consumers/consumer.ts'
import { findCheckpoint, lockCheckpoint, resetCheckpoint } from '../consumers/checkpoint.ts'
import { sql, transaction } from '../postgres/postgres.ts'
import { toMessage } from './message.ts'
import type { Publisher } from './publisher.ts'
import { relayOf } from './relay-of.ts'
import { partitionOf, type Topic } from './topic.ts'

/** An event that the consumer of the relay has to set aside. */
export type Unhandled = { readonly event: RecordedEvent; readonly error: unknown }

type RelayParts = ConsumerParts & {
  readonly topic: Topic
  readonly publisher: Publisher
  readonly prepare: () => Promise<void>
  /** Takes in what must be known before later events can be read from the topic. What it could not take in. */
  readonly before: (events: readonly RecordedEvent[]) => Promise<readonly Unhandled[]>
}

/**
 * Publishes the log, as it is stored, to a topic. Of all processes one does; another takes over from the last
 * checkpoint, so that an event may be published again, but none is left out.
 */
export const startRelay = ({ topic, publisher, before, ...parts }: RelayParts): Consuming => {
  const prepareFor: Extract<InTransaction, { prepareFor: unknown }>['prepareFor'] = async (events) => {
    const unhandled = await before(events)
    const published = await publishedOf(parts.pool, topic)
    const messages = events.map((event) => {
      const partition = partitionOf(event.stream, topic.partitions)
      const previous = published.get(partition) ?? ''
      // What was set aside and is resumed comes late.
      if (event.position > previous) published.set(partition, event.position)
      return toMessage(topic, event, previous)
    })
    await publisher.publish(messages)
    return async (_events, db, _last, setEventAside) => {
      await savePublished(db, topic, published)
      for (const { event, error } of unhandled) setEventAside(event, error)
    }
  }
  const begin = (signal: AbortSignal) =>
    consume({ ...parts, ...relayOf(topic.name), categories: undefined, prepareFor, signal })

  const isOver = () => parts.signal.aborted
  let ending = new AbortController()
  let consuming = begin(AbortSignal.any([parts.signal, ending.signal]))
  const run = async () => {
    while (!isOver()) {
      await untilRewound(parts, topic, () => consuming.status().position)
      if (isOver()) break
      ending.abort()
      await consuming.finished
      ending = new AbortController()
      consuming = begin(AbortSignal.any([parts.signal, ending.signal]))
    }
    await consuming.finished
  }
  return { status: () => consuming.status(), finished: run() }
}

const lookMs = 1_000
/** A checkpoint of passed-over events alone is saved within a second. */
const looksBehind = 3

/**
 * Waits until the checkpoint is behind where the relay is, and stays there: it was set back. Where nothing happens, the
 * relay itself would not notice.
 */
const untilRewound = async (
  { pool, signal }: Pick<ConsumerParts, 'pool' | 'signal'>,
  { name }: Topic,
  reached: () => Position | undefined,
) => {
  let before = ''
  let looks = 0
  while (!signal.aborted && looks < looksBehind) {
    await pause(lookMs, undefined, { signal }).catch(() => undefined)
    const position = reached()
    const saved = await findCheckpoint(pool, relayOf(name).name).catch(() => undefined)
    const isBehind = position !== undefined && saved !== undefined && (saved.position ?? '') < position
    const seen = `${saved?.position} ${position}`
    looks = isBehind && seen === before ? looks + 1 : 0
    before = seen
  }
}

/** The position of the last event that was published to each partition. */
const publishedOf = async (db: Pool | ClientBase, { name }: Topic): Promise<Map<number, string>> => {
  const { rows } = await db.query<{ partition: number; position: string | null }>(sql`
    select partition, position from kafka_published where topic = ${name}`)
  return new Map(rows.flatMap(({ partition, position }) => (position === null ? [] : [[partition, position]])))
}

const savePublished = async (db: ClientBase, { name }: Topic, published: ReadonlyMap<number, string>) => {
  await db.query(sql`
    insert into kafka_published as stored (topic, partition, position)
    select ${name}, partition, position
    from unnest(${[...published.keys()]}::integer[], ${[...published.values()]}::text[]) as published (partition, position)
    on conflict (topic, partition) do update set position = excluded.position
    where stored.position is distinct from excluded.position`)
}

/** Up to where a partition was published. */
export const publishedUpTo = async (pool: Pool, topic: string, partition: number): Promise<string> => {
  const { rows } = await pool.query<{ position: string | null }>(sql`
    select position from kafka_published where topic = ${topic} and partition = ${partition}`)
  return rows[0]?.position ?? ''
}

/**
 * Lets the relay publish everything after a position again, since something of it is not in the topic any more. Nothing
 * changes when it is not further than that.
 */
export const rewindRelay = async (pool: Pool, topic: string, to: Position | undefined): Promise<boolean> =>
  transaction(pool, async (db) => {
    const relay = relayOf(topic)
    const stored = await lockCheckpoint(db, relay.name)
    if (stored?.position === undefined || (to !== undefined && stored.position <= to)) return false
    await resetCheckpoint(db, relay, to === undefined || to === '' ? undefined : to)
    await db.query(sql`
      update kafka_published set position = ${to === '' ? null : (to ?? null)}
      where topic = ${topic} and position > ${to ?? ''}`)
    return true
  })
