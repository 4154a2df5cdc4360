import { randomUUID } from 'node:crypto'
import { credentials } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import {
  EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  StreamNotFoundError,
  streamNameFilter,
  WrongExpectedVersionError,
  type AppendExpectedRevision,
  type EventData,
  type Position,
} from '@eventstore/db-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identifierOf } from './messages.ts'
import { startEventStoreDb } from './server.ts'
import { eventStoreDbTarget, type EventStoreDbTarget } from './target.ts'

// What the adapter relies on, asked by the client itself: of our stand-in, or of a real server where there is one.

let target: EventStoreDbTarget
let client: EventStoreDBClient
beforeAll(async () => {
  target = await eventStoreDbTarget()
  client = EventStoreDBClient.connectionString(target.url)
}, 180_000)
afterAll(async () => {
  await client.dispose()
  await target[Symbol.asyncDispose]()
})

const newStream = (category = 'server') => `${category}-${randomUUID()}`
const newEvent = (type = 'Asked') => jsonEvent({ id: randomUUID(), type, data: { some: 'thing' } })
const newEvents = (count: number) => Array.from({ length: count }, () => newEvent())

// Credentials, which an insecure connection never sends, are what makes the client do without its batch.
const ways = {
  'in a call of its own': { credentials: { username: 'any', password: 'one' } },
  'in a batch': {},
}

describe.each(Object.entries(ways))('an append %s', (_, way) => {
  const append = (stream: string, expectedRevision: AppendExpectedRevision, events: EventData[]) =>
    client.appendToStream(stream, events, { expectedRevision, ...way })

  test('is acknowledged with the revision and the position of its last event', async () => {
    const stream = newStream()

    const { nextExpectedRevision, position } = await append(stream, 'no_stream', newEvents(3))

    const read = await Array.fromAsync(client.readStream(stream))
    expect(nextExpectedRevision).toBe(2n)
    expect(read.at(-1)?.event).toMatchObject({ revision: 2n, position })
    expect(position?.commit).toBe(position?.prepare)
  })

  test.each([
    { expected: 'no_stream', actual: 1n },
    { expected: 0n, actual: 1n },
    { expected: 2n, actual: 1n },
  ] as const)('is refused with the actual revision when it expected $expected', async ({ expected, actual }) => {
    const stream = newStream()
    await append(stream, 'no_stream', newEvents(2))

    const appending = append(stream, expected, newEvents(1))

    await expect(appending).rejects.toBeInstanceOf(WrongExpectedVersionError)
    await expect(appending).rejects.toMatchObject({ actualVersion: actual, expectedVersion: expected })
  })

  test.each([0n, 'stream_exists'] as const)(
    'that expects %s is refused by a stream without events',
    async (expected) => {
      await expect(append(newStream(), expected, newEvents(1))).rejects.toMatchObject({ actualVersion: 'no_stream' })
    },
  )

  test.each(['no_stream', 'any'] as const)('that expected %s is acknowledged again when repeated', async (expected) => {
    const stream = newStream()
    const events = newEvents(3)
    const first = await append(stream, expected, events)
    await append(stream, 2n, newEvents(2))

    const { nextExpectedRevision, position } = await append(stream, expected, events)

    expect({ nextExpectedRevision, position }).toMatchObject({ nextExpectedRevision: 2n, position: first.position })
    expect(await Array.fromAsync(client.readStream(stream))).toHaveLength(5)
  })

  test.each(['no_stream', 'any'] as const)('that expected %s and is repeated in part is refused', async (expected) => {
    const stream = newStream()
    const events = newEvents(2)
    await append(stream, expected, events)

    await expect(append(stream, expected, [...events.slice(0, 1), newEvent()])).rejects.toMatchObject({
      actualVersion: 1n,
    })
  })

  test('is refused when it is too large, with the limit', async () => {
    await using server = await startEventStoreDb({ maxAppendSize: 1_000 })
    const strict = EventStoreDBClient.connectionString(server.url)
    const event = jsonEvent({ type: 'Asked', data: { text: 'x'.repeat(1_000) } })

    const appending = strict.appendToStream(newStream(), event, way)

    await expect(appending).rejects.toBeInstanceOf(MaxAppendSizeExceededError)
    await expect(appending).rejects.toMatchObject({ maxAppendSize: 1_000 })
    await strict.dispose()
  })
})

test('what came of an append before its connection broke is not stored', async () => {
  await using server = await startEventStoreDb()
  const raw = new StreamsClient(new URL(server.url).host, credentials.createInsecure())
  const stream = newStream()
  const { Options, ProposedMessage } = streams.AppendReq
  const event = new ProposedMessage().setId(new shared.UUID().setString(randomUUID()))
  event.getMetadataMap().set('type', 'Asked').set('content-type', 'application/json')
  const call = raw.append(() => undefined)

  const options = new Options().setStreamIdentifier(identifierOf(stream)).setAny(new shared.Empty())
  call.write(new streams.AppendReq().setOptions(options))
  call.write(new streams.AppendReq().setProposedMessage(event))
  // When a later call of the same connection has its answer, the earlier messages have arrived.
  await Array.fromAsync(raw.read(new streams.ReadReq())).catch(() => undefined)
  await server.dropConnections()

  const reader = EventStoreDBClient.connectionString(server.url)
  await expect(Array.fromAsync(reader.readStream(stream))).rejects.toBeInstanceOf(StreamNotFoundError)
  await reader.dispose()
  raw.close()
})

test('a stream that nobody wrote to is not found', async () => {
  await expect(Array.fromAsync(client.readStream(newStream()))).rejects.toBeInstanceOf(StreamNotFoundError)
})

test('all events are read from a position, forwards with its event and backwards without', async () => {
  const stream = newStream()
  const positions: (Position | undefined)[] = []
  for (const event of newEvents(3)) positions.push((await client.appendToStream(stream, event)).position)
  const fromPosition = positions[1] ?? 'start'
  const ours = async (direction: 'forwards' | 'backwards') =>
    (await Array.fromAsync(client.readAll({ fromPosition, direction, maxCount: 20 })))
      .filter(({ event }) => event?.streamId === stream)
      .map(({ event }) => event?.revision)

  expect(await ours('forwards')).toEqual([1n, 2n])
  expect(await ours('backwards')).toEqual([0n])
})

test('a filtered subscription brings what passes, its position, and when it has caught up', async () => {
  const category = `asked${randomUUID().replaceAll('-', '')}`
  const { position: before = 'start' as const } = await client.appendToStream(newStream(), newEvent())
  await client.appendToStream(newStream(category), newEvents(2))
  await client.appendToStream(newStream('other'), newEvents(40))
  const types: string[] = []
  const { promise: caughtUp, resolve: hasCaughtUp } = Promise.withResolvers<void>()
  const { promise: wanted, resolve: hasWanted } = Promise.withResolvers<Position | undefined>()
  const checkpoints: Position[] = []

  const filter = streamNameFilter({
    prefixes: [`${category}-`],
    maxSearchWindow: 1,
    checkpointReached: (_, position) => void checkpoints.push(position),
  })
  const subscription = client.subscribeToAll({ fromPosition: before, filter })
  subscription.on('data', ({ event }: { event?: { type: string; position?: Position } }) => {
    types.push(event?.type ?? '')
    if (event?.type === 'Last') hasWanted(event.position)
  })
  subscription.on('caughtUp', () => hasCaughtUp())
  await caughtUp
  const inHistory = checkpoints.length
  const { position: unwanted } = await client.appendToStream(newStream('other'), newEvent())
  await client.appendToStream(newStream(category), newEvent('Last'))
  await wanted
  await subscription.unsubscribe()

  expect(types).toEqual(['Asked', 'Asked', 'Last'])
  expect(inHistory).toBeGreaterThan(40)
  expect(checkpoints).toContainEqual(unwanted)
  const commits = checkpoints.map(({ commit }) => commit)
  expect(commits).toEqual(commits.toSorted((one, other) => Number(one - other)))
})
