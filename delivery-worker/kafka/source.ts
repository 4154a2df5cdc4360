import type { ClientBase, Pool } from 'pg'
import { categoryOf, type Position } from '#domain/event.ts'
import { BadConfiguration } from '#infra/config.ts'
import { lockCheckpoint, resetCheckpoint, type ConsumerDescription } from '#infra/consumers/checkpoint.ts'
import { relayOf } from '#infra/kafka/relay-of.ts'
import type { Topic } from '#infra/kafka/topic.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import type { Capabilities } from '../capability.ts'
import { plannedFrom } from '../planning/knowledge.ts'
import { planner } from '../planning/planner.ts'
import { fromLog, type Source } from '../planning/planning.ts'
import { changingSetUp } from '../planning/set-up.ts'

export const sourceOf = ({ name }: Pick<Topic, 'name'>): Source => `kafka ${name}`

/** The planner of one partition, as a consumer. */
export const partitionPlanner = (topic: string, partition: number) => ({
  name: `${planner.name} ${topic} ${partition}`,
  version: planner.version,
})

const described = (each: { readonly name: string; readonly version: number }): ConsumerDescription => ({
  ...each,
  categories: [],
  awaited: false,
})

/** Undefined at the beginning of the log: a partition that had no event yet is before all of them. */
const lockedPosition = async (db: ClientBase, name: string): Promise<Position | undefined> => {
  const { position } = (await lockCheckpoint(db, name)) ?? {}
  return position === '' ? undefined : position
}

/**
 * Plans deliveries from the log or, given a topic, from that, from where they were planned so far: without a gap, and what
 * is read again is planned once. Whoever plans from the former source can no longer write. Does nothing when deliveries
 * are planned from there already, and when it is not decided yet whether they are.
 */
export const planFrom = (pool: Pool, capabilities: Capabilities, topic?: Topic): Promise<boolean> =>
  transaction(pool, async (db) => {
    await changingSetUp(db)
    const { rows } = await db.query<{ source: Source }>(sql`select source from delivery_planning for update`)
    const source = topic ? sourceOf(topic) : fromLog
    if (topic) await keepPartitions(db, topic)
    if (!rows[0] || rows[0].source === source) return false
    if (rows[0].source !== fromLog) await leave(db, rows[0].source.slice('kafka '.length))
    if (topic) await enter(db, capabilities, topic)
    await db.query(sql`update delivery_planning set source = ${source}`)
    return true
  })

/** Streams belong to partitions by their number: it stays what it was when the topic was first used. */
const keepPartitions = async (db: ClientBase, { name, partitions }: Topic): Promise<void> => {
  await db.query(sql`
    insert into kafka_topic (topic, partitions) values (${name}, ${partitions}) on conflict do nothing`)
  await refuseOtherPartitions(db, { name, partitions })
}

/** Throws when the topic had another number of partitions when it was first used. */
export const refuseOtherPartitions = async (db: Pick<Pool, 'query'>, { name, partitions }: Topic): Promise<void> => {
  const { rows } = await db.query<{ partitions: number }>(sql`
    select partitions from kafka_topic where topic = ${name}`)
  const before = rows[0]?.partitions ?? partitions
  if (before !== partitions)
    throw new BadConfiguration(
      `KAFKA_TOPIC: ${name} had ${before} partitions, and now has ${partitions}. Streams belong to partitions by their number: choose another topic.`,
    )
}

type PartitionRow = { readonly partition: number; readonly published: Position | null }

/** Goes back to the log: to the first position behind which not every partition was planned. */
const leave = async (db: ClientBase, topic: string): Promise<void> => {
  const relay = relayOf(topic)
  const relayed = await lockedPosition(db, relay.name)
  await resetCheckpoint(db, relay, relayed)
  const { rows } = await db.query<PartitionRow>(sql`
    select partition, position as published from kafka_published where topic = ${topic} order by partition`)
  let position = relayed
  for (const { partition, published } of rows) {
    const consumer = described(partitionPlanner(topic, partition))
    const planned = await lockedPosition(db, consumer.name)
    await resetCheckpoint(db, consumer, planned)
    // A partition that was planned as far as it was published is as far as the relay.
    const isDone = published === null || (planned !== undefined && planned >= published)
    if (!isDone && (position === undefined || planned === undefined || planned < position)) position = planned
  }
  await lockedPosition(db, planner.name)
  await resetCheckpoint(db, described(planner), position)
  // Up to here it is known what was set up when.
  await db.query(sql`update delivery_planning set set_up_to = ${relayed ?? null}`)
  await db.query(sql`
    update consumer_set_aside set consumer = ${planner.name}
    where consumer = any (${[relay.name, ...rows.map(({ partition }) => partitionPlanner(topic, partition).name)]})`)
}

/** Begins with a topic where the log was planned up to. */
const enter = async (db: ClientBase, capabilities: Capabilities, { name, partitions }: Topic): Promise<void> => {
  const position = await lockedPosition(db, planner.name)
  await resetCheckpoint(db, described(planner), position)
  await resetCheckpoint(db, relayOf(name), position)
  for (let partition = 0; partition < partitions; partition++) {
    await resetCheckpoint(db, described(partitionPlanner(name, partition)), position)
    await db.query(sql`
      insert into kafka_published (topic, partition, position) values (${name}, ${partition}, ${position ?? null})
      on conflict (topic, partition) do update set position = excluded.position`)
    await db.query(sql`
      insert into kafka_offset (topic, partition, next_offset) values (${name}, ${partition}, 0) on conflict do nothing`)
  }
  await keepSetUp(db, position)
  await db.query('update delivery_planning set set_up_to = null')

  const { categories } = plannedFrom({ ...capabilities, subjects: [] })
  const { rows } = await db.query<{ stream: string }>(sql`
    select distinct stream from consumer_set_aside where consumer = ${planner.name}`)
  const { partitionOf } = await import('#infra/kafka/topic.ts')
  for (const { stream } of rows) {
    const consumer = categories.includes(categoryOf(stream))
      ? relayOf(name).name
      : partitionPlanner(name, partitionOf(stream, partitions)).name
    await db.query(sql`
      update consumer_set_aside set consumer = ${consumer} where consumer = ${planner.name} and stream = ${stream}`)
  }
}

/** The present set-up holds from this position on, unless it is still known when it was set up. */
const keepSetUp = async (db: ClientBase, position: Position | undefined): Promise<void> => {
  const { rowCount } = await db.query(sql`
    select from delivery_planning where set_up_to > ${position ?? ''}`)
  if (rowCount === 1) return
  await db.query('delete from delivery_set_up')
  await db.query(sql`
    insert into delivery_set_up (organisation_id, kind, id, position, type, facts)
    select organisation_id, kind, id, ${position ?? ''}, type, facts from delivery_known where kind <> 'subject'`)
}
