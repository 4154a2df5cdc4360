import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { toStored } from '#domain/event.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { openPublisher } from '#infra/kafka/publisher.ts'
import { startRelay } from '#infra/kafka/relay.ts'
import { partitionOf } from '#infra/kafka/topic.ts'
import { makeLog } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { sealedDatabase, shapes } from '../crypto/sealed-log-fixture.ts'
import { eventually } from '../delivery/fixture.ts'
import { findKafka } from './broker.ts'
import { onTopic, readTopic, settingsOf, topicOf } from './fixture.ts'

const found = await findKafka()
const why = 'why' in found ? ` (skipped: ${found.why})` : ''
const brokers = 'kafka' in found ? found.kafka.brokers : ''

type Sealed = Awaited<ReturnType<typeof sealedDatabase>>
const organisation_id = randomUUID()
const metadata = {
  organisation_id,
  actor: { type: 'system', id: null },
  correlation_id: 'test',
  causation_id: null,
  occurred_at: '2026-01-15T12:00:00.000Z',
} as const

const save = ({ log }: Sealed, stream: string, step: number, note: string | null = null) => {
  const event = { type: 'PersonSaved', person_id: stream.slice('person-'.length), name: 'Grace Okafor', note, step }
  return log.append(stream, 'any', [{ id: randomUUID(), ...toStored(shapes, event), metadata }])
}

/** A relay as a worker runs it. */
const relay = async ({ database, plain }: Sealed, environment: Readonly<Record<string, string>>) => {
  const settings = settingsOf(environment)
  const topic = await topicOf(settings)
  await database.pool.query(sql`
    insert into kafka_topic (topic, partitions) values (${topic.name}, ${topic.partitions}) on conflict do nothing`)
  const ending = new AbortController()
  const publisher = openPublisher(settings, topic)
  const { finished, status } = startRelay({
    eventLog: plain,
    pool: database.pool,
    leases: makeLeases(database.pool, { pollMs: 50 }),
    log: makeLog('silent', 'test'),
    signal: ending.signal,
    topic,
    publisher,
    prepare: async () => undefined,
    before: async () => [],
  })
  const stop = async () => {
    ending.abort()
    await finished
    await publisher.close()
  }
  return { status, stop, [Symbol.asyncDispose]: stop }
}

/** What a consumer of another client is given of a topic, in the order in which it is given. */
const readByKafkajs = async ({ KAFKA_TOPIC: topic }: Pick<ReturnType<typeof onTopic>, 'KAFKA_TOPIC'>) => {
  const kafka = new Kafka({ clientId: 'another system', brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: `${topic}.another-system` })
  const given: { partition: number; key: string; headers: Record<string, string>; value: string }[] = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message: { key, value, headers = {} } }) => {
      const named = Object.entries(headers).map(([name, text]) => [name, String(text)])
      given.push({
        partition,
        key: String(key),
        headers: Object.fromEntries(named) as Record<string, string>,
        value: String(value),
      })
    },
  })
  return { given, [Symbol.asyncDispose]: () => consumer.disconnect() }
}

describe.skipIf(why !== '')(`the relay${why}`, () => {
  test('publishes each event once, under its stream, in the order of the log, with its headers', async () => {
    const environment = onTopic(brokers)
    await using own = await sealedDatabase()
    await using _relay = await relay(own, environment)
    const streams = Array.from({ length: 8 }, () => `person-${randomUUID()}`)

    for (let step = 0; step < 5; step++) await Promise.all(streams.map((stream) => save(own, stream, step)))
    await eventually(async () => (await readTopic(environment)).flat().length >= 40)

    const partitions = await readTopic(environment)
    const messages = partitions.flat()
    expect(new Set(messages.map(({ event }) => event?.id)).size).toBe(40)
    expect(messages).toHaveLength(40)
    for (const stream of streams) {
      const inTopic = partitions[partitionOf(stream, 4)]?.filter((message) => message.stream === stream)
      expect(inTopic?.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4])
    }
    for (const partition of partitions)
      expect(partition.map(({ previous }) => previous)).toEqual(
        ['', ...partition.slice(0, -1).map((one) => one.position)].slice(0, partition.length),
      )
    expect(messages[0]).toMatchObject({ type: 'PersonSaved', event: { metadata: { organisation_id } } })
  })

  test('publishes what a consumer of kafkajs reads whole and in order', async () => {
    const environment = onTopic(brokers)
    await using own = await sealedDatabase()
    await using _relay = await relay(own, environment)
    const streams = Array.from({ length: 20 }, () => `person-${randomUUID()}`)
    const saveAll = (step: number) => Promise.all(streams.map((stream) => save(own, stream, step, 'n'.repeat(5_000))))

    for (let step = 0; step < 5; step++) await saveAll(step)
    await using reading = await readByKafkajs(environment)
    for (let step = 5; step < 10; step++) await saveAll(step)
    await eventually(async () => reading.given.length >= 200, 25_000)

    const stored = await Promise.all(streams.map((stream) => own.plain.read(stream)))
    const written = stored.flat().toSorted((one, other) => (one.position < other.position ? -1 : 1))
    const read = reading.given.toSorted((one, other) =>
      (one.headers['position'] ?? '') < (other.headers['position'] ?? '') ? -1 : 1,
    )
    expect(read.map(({ value }) => JSON.parse(value) as unknown)).toEqual(JSON.parse(JSON.stringify(written)))
    expect(read).toMatchObject(
      written.map(({ stream, position, revision, type }) => ({
        partition: partitionOf(stream, 4),
        key: stream,
        headers: { stream, position, revision: String(revision), type, organisation: organisation_id },
      })),
    )
    for (const partition of [0, 1, 2, 3]) {
      const positions = reading.given
        .filter((each) => each.partition === partition)
        .map(({ headers }) => headers['position'] ?? '')
      expect(positions).toEqual(positions.toSorted())
    }
  })

  test('publishes nothing of a person that can be read', async () => {
    const environment = onTopic(brokers)
    await using own = await sealedDatabase()
    await using _relay = await relay(own, environment)

    await save(own, `person-${randomUUID()}`, 74_123, 'a heart murmur')
    await eventually(async () => (await readTopic(environment)).flat().length === 1)

    const text = JSON.stringify(await readTopic(environment))
    expect(text).toContain('74123')
    expect(text).not.toMatch(/Grace|Okafor|murmur/)
  })

  test('of two processes one publishes, and the other takes over', async () => {
    const environment = onTopic(brokers)
    await using own = await sealedDatabase()
    const relays = [await relay(own, environment), await relay(own, environment)]
    await eventually(async () => relays.some(({ status }) => status().state === 'live'))
    await eventually(async () => relays.some(({ status }) => status().state === 'standing by'))
    await save(own, `person-${randomUUID()}`, 1)
    await eventually(async () => (await readTopic(environment)).flat().length === 1)

    await relays.find(({ status }) => status().state === 'live')?.stop()
    await save(own, `person-${randomUUID()}`, 2)
    await eventually(async () => (await readTopic(environment)).flat().length === 2)

    await Promise.all(relays.map(({ stop }) => stop()))
    expect(relays.map(({ status }) => status().state)).toEqual(['stopped', 'stopped'])
  })

  test('publishes an event that is too large for a message without its data', async () => {
    const environment = onTopic(brokers)
    await using own = await sealedDatabase()
    await using _relay = await relay(own, environment)
    const stream = `person-${randomUUID()}`

    await save(own, stream, 1, 'x'.repeat(900_000))
    await eventually(async () => (await readTopic(environment)).flat().length === 1)

    expect((await readTopic(environment)).flat()).toMatchObject([{ stream, revision: 0, event: undefined }])
  })
})
